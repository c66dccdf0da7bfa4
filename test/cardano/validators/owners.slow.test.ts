/**
 * Actions that only owners may do: launches and their tokens, orders, locks. In one process: both
 * builds take longer to compile than most of these take to be judged.
 */
import './actions/launch.ts';
import './actions/settingsPolicy.ts';
import './actions/token.ts';
import './actions/order.ts';
import './actions/vesting.ts';
