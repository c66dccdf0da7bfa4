/** The pool with the highest market cap, above the lists. Its space is kept while there is none. */
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { ada } from '../format.ts';
import { flash } from '../frames.ts';
import { logo } from '../logo.ts';
import { routeHash } from '../route.ts';
import { progressOf } from './poolRow.ts';

export function topPoolCard(): {
  readonly element: HTMLElement;
  show(pool: LiquidityPoolInfo | null): void;
} {
  const picture = logo();
  const name = el('strong', { class: 'cut' });
  const ticker = el('span', { class: 'dim' });
  const cap = el('span', { class: 'figure' });
  const progress = el('span', { class: 'figure' });
  const volume = el('span', { class: 'figure' });
  const trades = el('span', { class: 'figure' });
  const link = el(
    'a',
    { class: 'top-pool panel', 'aria-label': 'Top of the market' },
    el('span', { class: 'crown' }, 'Top of the market'),
    el('span', { class: 'who' }, picture.element, name, ticker),
    figure('Market cap', cap, 'col-cap'),
    figure('Curve', progress, 'col-progress'),
    figure('Volume', volume, 'col-volume'),
    figure('Trades', trades, 'col-trades'),
  );
  let shown: LiquidityPoolInfo | null = null;
  // Until it is known whether there is one.
  link.classList.add('coming');
  const showNone = () => {
    picture.element.hidden = true;
    setText(name, 'No token yet');
    setAttribute(link, 'href', null);
    setAttribute(link, 'aria-label', 'Top of the market: no token yet');
    for (const value of [cap, progress, volume, trades]) setText(value, '–');
    setText(ticker, '');
    shown = null;
  };
  return {
    element: link,
    show(pool) {
      link.classList.remove('coming');
      if (pool === null) showNone();
      if (pool === null || pool === shown) return;
      picture.element.hidden = false;
      const { info, metrics } = pool;
      picture.show(info);
      setText(name, info.name);
      setText(ticker, info.ticker);
      setAttribute(link, 'href', routeHash({ at: 'token', asset: info.asset }));
      setAttribute(link, 'aria-label', `Top of the market: ${info.name}`);
      const isChanged = setText(cap, ada(metrics.marketCap, 0));
      const filled = progressOf(pool);
      setText(progress, `${filled}%`);
      setText(volume, ada(metrics.totalVolumeAda, 0));
      setText(trades, String(metrics.totalTxCount));
      const before = shown?.info.asset === info.asset ? shown : null;
      if (isChanged && before !== null) {
        flash(cap, metrics.marketCap >= before.metrics.marketCap ? 'up' : 'down');
      }
      shown = pool;
    },
  };
}

function figure(label: string, value: HTMLElement, column: string): HTMLElement {
  return el('span', { class: `fig ${column}` }, el('span', { class: 'dim small' }, label), value);
}
