/** One token: chart, trading, orders, trades, the curve, holders, locks, and what it is. */
import type { PageContext, Unmount } from '../context.ts';
import { el } from '../dom.ts';
import { errorBox } from '../errorView.ts';
import { cancelFrame, nextFrame } from '../frames.ts';
import type { MarketTime } from '../marketTime.ts';
import type { Source } from '../signal.ts';
import { mountTrade } from '../trade/trade.ts';
import { mountAbout } from './about.ts';
import { mountChart } from './chart.ts';
import { mountCurve } from './curve.ts';
import { mountHeader } from './header.ts';
import { mountHolders } from './holders.ts';
import { mountLocks } from './locks.ts';
import { mountOrderBook } from './orderBook.ts';
import { mountOrders } from './orders.ts';
import { mountTape } from './tape.ts';

interface TokenSources {
  /** The one of the context: this part feeds it. */
  readonly pool: Source<PageContext['pool']['value']>;
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
    pool.set(mirror.state);
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
    pool.set(null);
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
    () => mountChart(panels.chart, context, asset),
    () => mountTrade(panels.trade, context),
    () => mountCurve(panels.curve, context),
    () => mountOrders(panels.orders, context, asset, time),
    () => mountTape(panels.tape, context, asset, time),
    () => mountOrderBook(panels.book, context, asset),
    () => mountHolders(panels.holders, context, asset),
    () => mountLocks(panels.locks, context, time),
    () => mountAbout(panels.about, context),
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
