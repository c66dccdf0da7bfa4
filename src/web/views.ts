/**
 * Views that the market's lists do not need: a separate script, loaded by `shell/lazyView.tsx`.
 */

// What the page begins with is one file with all that the views share, not two.
import './main.tsx';

export { ChartOnly } from './chart/chart.tsx';
export { Token } from './token/token.tsx';
export { Launch } from './trade/launch.tsx';
export { Wallet } from './wallet/wallet.tsx';
