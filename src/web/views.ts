/**
 * Views that the market's lists do not need: a separate script, loaded by `shell/lazyView.tsx`.
 */

// The bundler then puts the first script and the modules that views share into one file.
import './main.tsx';

export { ChartOnly } from './chart/chart.tsx';
export { Token } from './token/token.tsx';
export { Launch } from './trade/launch.tsx';
export { Wallet } from './wallet/wallet.tsx';
