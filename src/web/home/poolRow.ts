/** One pool in a list: a link, of one height. On a phone the same cells become a card. */
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { ada, age, percent } from '../format.ts';
import { flash } from '../frames.ts';
import type { Row } from '../keyedList.ts';
import { logo } from '../logo.ts';
import { routeHash } from '../route.ts';

export interface PoolRow extends Row<LiquidityPoolInfo> {
  /** Writes the ages; `nowSeconds` is market time. */
  tick(item: LiquidityPoolInfo, nowSeconds: number): void;
}

/** `12.34` of a hundred; graduated pools are at 100 for good. */
export function progressOf({ pool }: LiquidityPoolInfo): string {
  const cap = BigInt(pool.adaCapThreshold);
  const filled = BigInt(pool.x.amount);
  return pool.cpmmPoolId !== null || filled >= cap ? '100' : percent(filled, cap);
}

export function poolRow(nowSeconds: () => number): PoolRow {
  const picture = logo();
  const name = el('span', { class: 'name cut' });
  const ticker = el('span', { class: 'ticker cut dim' });
  const cap = el('span', { class: 'num cap' });
  const meter = el('span', { class: 'meter' }, el('span'));
  const progress = el('span', { class: 'num' });
  const volume = el('span', { class: 'num volume' });
  const trades = el('span', { class: 'num trades' });
  const born = el('span', { class: 'num born dim' });
  const traded = el('span', { class: 'num traded dim' });
  const link = el(
    'a',
    { class: 'pool' },
    el('span', { class: 'who' }, picture.element, name, ticker),
    labelled('Market cap', cap, 'col-cap'),
    el('span', { class: 'progress col-progress' }, meter, labelled('Progress', progress, '')),
    labelled('Volume', volume, 'col-volume'),
    labelled('Trades', trades, 'col-trades'),
    labelled('Age', born, 'col-age'),
    labelled('Last trade', traded, 'col-traded'),
  );
  const element = el('li', {}, link);
  const tick = ({ pool }: LiquidityPoolInfo, now: number) => {
    setText(born, age(now - pool.createdOn));
    setText(traded, age(now - pool.timestamp));
  };
  return {
    element,
    tick,
    fill(item, before) {
      const { info, metrics } = item;
      if (before?.info !== info) {
        picture.show(info);
        setText(name, info.name);
        setText(ticker, info.ticker);
        setAttribute(link, 'href', routeHash({ at: 'token', asset: info.asset }));
      }
      setText(cap, ada(metrics.marketCap, 0));
      const filled = progressOf(item);
      if (setText(progress, `${filled}%`)) meter.style.setProperty('--filled', `${filled}%`);
      setText(volume, ada(metrics.totalVolumeAda, 0));
      setText(trades, String(metrics.totalTxCount));
      tick(item, nowSeconds());
      if (before === null) return;
      const moved = metrics.marketCap - before.metrics.marketCap;
      if (moved !== 0) flash(link, moved > 0 ? 'up' : 'down');
      else if (metrics.totalTxCount !== before.metrics.totalTxCount) flash(link, 'same');
    },
  };
}

/** The label is read out, and seen where there is no line of headings above. */
function labelled(label: string, value: HTMLElement, column: string): HTMLElement {
  return el(
    'span',
    { class: `cell ${column}`.trim() },
    el('span', { class: 'label' }, `${label} `),
    value,
  );
}
