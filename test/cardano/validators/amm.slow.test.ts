/**
 * Actions that a graduated pool allows and refuses: trades, and what its creator collects. In one
 * process: both builds take longer to compile than most of these take to be judged.
 */
import './actions/ammPool.ts';
import './actions/collect.ts';
