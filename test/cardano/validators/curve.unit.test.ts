/**
 * Actions that a pool on the curve allows and refuses, and its graduation. In one process: both
 * builds take longer to compile than most of these take to be judged.
 */
import './actions/curvePool.ts';
import './actions/graduate.ts';
