/** One token: chart, trading, orders, trades, the curve, holders, locks, and what it is. */

import type { Signal } from '@preact/signals';
import { h } from 'preact';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { errorBox } from '../errorView.ts';
import { ada } from '../format.ts';
import { cancelFrame, nextFrame } from '../frames.ts';
import type { MarketTime } from '../marketTime.ts';
import { mountView } from '../page.tsx';
import { onChange } from '../signal.ts';
import { mountTrade } from '../trade/trade.ts';
import { About } from './about.tsx';
import { Chart } from './chart.tsx';
import { mountHeader } from './header.ts';
import { mountHolders, mountLocks } from './holders.ts';
import { mountOrderBook } from './orderBook.ts';
import { mountOrders } from './orders.ts';
import { progressOf } from './progress.ts';
import { mountTape } from './tape.ts';

interface TokenSources {
  /** The one of the context: this part feeds it. */
  readonly pool: Signal<PageContext['pool']['value']>;
  readonly time: MarketTime;
}

export function mountToken(
  container: HTMLElement,
  context: PageContext,
  asset: string,
  { pool, time }: TokenSources,
): Unmount {
  const mirror = context.client.pool(asset);
  const panels = panelsOf();
  const { head, note, columns } = panels;
  container.append(head, note, columns);

  let unmountParts: Unmount | null = null;
  const show = () => {
    pool.value = mirror.state;
    // Nothing is asked for a token that is not there: what would be asked is refused.
    if (mirror.state !== null) unmountParts ??= mountParts(panels, context, asset, time);
    note.hidden = mirror.state !== null || !mirror.isLoaded;
    if (!note.hidden && mirror.error === null) note.replaceChildren(unknown(asset));
    columns.hidden = mirror.state === null;
    head.hidden = mirror.state === null;
  };
  mirror.onChange(() => nextFrame(show));
  mirror.onError((error) => {
    note.replaceChildren(errorBox(error));
    note.hidden = false;
  });
  show();
  return () => {
    unmountParts?.();
    cancelFrame(show);
    mirror.close();
    pool.value = null;
  };
}

/** One after the other, as frames have room for them; they are shown when all are there. */
function mountParts(
  panels: ReturnType<typeof panelsOf>,
  context: PageContext,
  asset: string,
  time: MarketTime,
): Unmount {
  const parts: readonly (() => Unmount)[] = [
    () => mountHeader(panels.head, context, asset),
    () => mountView(panels.chart, context, h(Chart, { asset })),
    () => mountTrade(panels.trade, context),
    () => mountCurve(panels.curve, context),
    () => mountOrders(panels.orders, context, asset, time),
    () => mountTape(panels.tape, context, asset, time),
    () => mountOrderBook(panels.book, context, asset),
    () => mountHolders(panels.holders, context, asset),
    () => mountLocks(panels.locks, context, time),
    () => mountView(panels.about, context, h(About, {})),
  ];
  const { columns } = panels;
  const stops: Unmount[] = [];
  const jobs = parts.map((mount) => () => {
    stops.push(mount());
    if (stops.length === parts.length) columns.classList.remove('coming');
  });
  columns.classList.add('coming');
  for (const job of jobs) nextFrame(job);
  return () => {
    for (const job of jobs) cancelFrame(job);
    for (const stop of stops) stop();
  };
}

/** The layout; on a phone the styles put trading right below the chart. */
function panelsOf() {
  const panel = (name: string) => el('section', { class: `panel ${name}` });
  const [chart, curve, orders, tape] = [
    panel('chart'),
    panel('curve'),
    panel('orders'),
    panel('trades'),
  ];
  const [book, holders, locks, about] = [
    panel('depth'),
    panel('holding'),
    panel('locking'),
    panel('about'),
  ];
  const trade = el('section', { class: 'panel trade', 'aria-label': 'Trade' });
  const below = el('div', { class: 'below' }, orders, tape);
  const people = el('div', { class: 'below people' }, holders, about);
  const left = el('div', { class: 'main-column' }, chart, below, people);
  const right = el('div', { class: 'side-column' }, trade, curve, book, locks);
  return {
    head: el('div', { class: 'token-head' }),
    note: el('div', { class: 'panel', hidden: true }),
    columns: el('div', { class: 'token-columns' }, left, right),
    ...{ chart, curve, orders, tape, book, holders, locks, about, trade },
  };
}

function unknown(asset: string): HTMLElement {
  return el(
    'div',
    { class: 'empty', role: 'status' },
    el('strong', {}, 'This token is not known here, yet.'),
    'If it was launched a moment ago, it appears here with the next block. ',
    el('span', { class: 'code' }, asset),
    el('div', {}, el('a', { class: 'button', href: '#/' }, 'To the market')),
  );
}

const ON_THE_CURVE =
  'At 100% the curve closes and the token graduates: all its coins and the tokens that are ' +
  'left move into an AMM pool, which trades on at the same price. Open orders are filled there.';
const FULL =
  'The curve is full. Its coins and tokens are on their way into the AMM pool; until that is in ' +
  'a block, orders stay open.';
const GRADUATED =
  'This token has graduated: it is traded in an AMM pool. The curve is closed for good.';

/** How far the curve is filled, and what happens when it is full. */
function mountCurve(container: HTMLElement, { pool }: PageContext): Unmount {
  const side = el('span', { class: 'side' });
  const fill = el('span');
  const bar = el('div', { class: 'meter tall', role: 'progressbar', 'aria-label': 'Curve' }, fill);
  setAttribute(bar, 'aria-valuemin', '0');
  setAttribute(bar, 'aria-valuemax', '100');
  const line = el('p', { class: 'curve-line' });
  const words = el('p', { class: 'dim small' });
  const inside = el('div', { class: 'inside stack' }, bar, line, words);
  container.append(el('header', {}, el('h2', {}, 'Graduation'), side), inside);
  const show = () => {
    if (pool.value !== null) write(pool.value);
  };
  const write = (info: LiquidityPoolInfo) => {
    const filled = progressOf(info);
    const { x, adaCapThreshold, cpmmPoolId } = info.pool;
    setText(side, `${filled}%`);
    bar.style.setProperty('--filled', `${filled}%`);
    setAttribute(bar, 'aria-valuenow', filled);
    const cap = ada(adaCapThreshold, 0);
    const isOver = cpmmPoolId !== null;
    setText(line, isOver ? `AMM pool with ${ada(x.amount, 0)}` : `${ada(x.amount)} of ${cap}`);
    setText(words, isOver ? GRADUATED : filled === '100' ? FULL : ON_THE_CURVE);
  };
  const stop = onChange(pool, () => nextFrame(show));
  show();
  return () => {
    stop();
    cancelFrame(show);
  };
}
