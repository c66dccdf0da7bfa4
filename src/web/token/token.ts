/** One token: chart, trading, orders, trades, the curve, holders, locks, and what it is. */
import type { PageContext, Unmount } from '../context.ts';
import { el } from '../dom.ts';
import { failureOf } from '../failure.ts';
import { forget, nextFrame } from '../frames.ts';
import type { MarketTime } from '../now.ts';
import type { Source } from '../signal.ts';
import { mountTrade } from '../trade/trade.ts';
import { mountAbout } from './about.ts';
import { mountBook } from './book.ts';
import { mountChart } from './chart.ts';
import { mountCurve } from './curve.ts';
import { mountHead } from './head.ts';
import { mountHolders } from './holders.ts';
import { mountLocks } from './locks.ts';
import { mountOrders } from './orders.ts';
import { mountTape } from './tape.ts';

/** `pool` is the one of the context: this part feeds it. */
export function mountToken(
  container: HTMLElement,
  context: PageContext,
  asset: string,
  {
    pool,
    time,
  }: { readonly pool: Source<PageContext['pool']['value']>; readonly time: MarketTime },
): Unmount {
  const mirror = context.client.pool(asset);
  const head = el('div', { class: 'token-head' });
  const panel = (name: string) => el('section', { class: `panel ${name}` });
  const chart = panel('chart');
  const trade = el('section', { class: 'panel trade', 'aria-label': 'Trade' });
  const [curve, orders, tape, book] = [
    panel('curve'),
    panel('orders'),
    panel('trades'),
    panel('depth'),
  ];
  const [holders, locks, about] = [panel('holding'), panel('locking'), panel('about')];
  const side = el('div', { class: 'side-column' }, trade, curve, book, holders, locks, about);
  const below = el('div', { class: 'below' }, orders, tape);
  const columns = el(
    'div',
    { class: 'token-columns' },
    el('div', { class: 'main-column' }, chart, below),
    side,
  );
  const note = el('div', { class: 'panel', hidden: true });
  container.append(head, note, columns);

  const show = () => {
    pool.set(mirror.state);
    const isUnknown = mirror.isLoaded && mirror.state === null;
    note.hidden = !isUnknown;
    columns.hidden = isUnknown;
    head.hidden = isUnknown;
  };
  note.append(unknown(asset));
  mirror.onChange(() => nextFrame(show));
  mirror.onError((error) => {
    note.replaceChildren(failureOf(error));
    note.hidden = false;
  });
  const stops = [
    mountHead(head, context, asset),
    mountChart(chart, context, asset),
    mountTrade(trade, context),
    mountCurve(curve, context),
    mountOrders(orders, context, asset, time),
    mountTape(tape, context, asset, time),
    mountBook(book, context, asset),
    mountHolders(holders, context, asset),
    mountLocks(locks, context, time),
    mountAbout(about, context),
  ];
  return () => {
    for (const stop of stops) stop();
    forget(show);
    mirror.close();
    pool.set(null);
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
