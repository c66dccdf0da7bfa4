/** The tape: trades as they happened, newest first. */
import type { TradeRow } from '../../client/types.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { errorBox } from '../errorView.ts';
import { ada, age, ends, moment, short, shortPrice } from '../format.ts';
import { cancelFrame, flash, nextFrame } from '../frames.ts';
import { KeyedList, type Row } from '../keyedList.ts';
import type { MarketTime } from '../marketTime.ts';
import { onChange } from '../signal.ts';
import { loadMoreStrip } from './loadMore.ts';

/** Shown at first, and added with each press on the button for older ones. */
const PAGE_ROWS = 100;
const MAX_ROWS = 1_000;

interface TapeRow extends Row<TradeRow> {
  tick(trade: TradeRow, nowSeconds: number): void;
}

export function mountTape(
  container: HTMLElement,
  context: PageContext,
  asset: string,
  time: MarketTime,
): Unmount {
  const mirror = context.client.trades(asset);
  const rows = el('ol', { class: 'tape', 'aria-label': 'Trades, newest first', tabindex: '0' });
  const note = el('div', {});
  const heads = ['Price', 'Tokens', 'Value', 'Age'].map((text) => el('span', {}, text));
  const head = el('div', { class: 'tape-head', 'aria-hidden': 'true' }, ...heads);
  container.append(el('header', {}, el('h2', {}, 'Trades')), head, rows, note);
  /** Id of the newest trade when the tape came up: what is later is news. */
  let settled: string | null = null;
  const isNews = ({ id }: TradeRow) => settled !== null && id > settled;
  const list = new KeyedList<TradeRow, TapeRow>(rows, {
    most: MAX_ROWS,
    keyOf: ({ id }) => id,
    rowOf: () => tapeRow(() => time.seconds.value, isNews),
    arranged: () => more.arranged(),
  });
  let wanted = PAGE_ROWS;
  const more = loadMoreStrip(rows, context, {
    label: 'Older trades',
    async load() {
      if (mirror.state.trades.length < wanted + PAGE_ROWS) await mirror.loadOlder();
      if (mirror.state.trades.length > wanted) wanted = Math.min(MAX_ROWS, wanted + PAGE_ROWS);
      nextFrame(show);
    },
  });
  const show = () => {
    const { trades } = mirror.state;
    if (mirror.isLoaded) settled ??= trades[0]?.id ?? '';
    list.show(trades.slice(0, wanted));
    const hasMore = trades.length > wanted || mirror.hasOlder;
    more.show(`The newest ${Math.min(wanted, trades.length)}`, hasMore && wanted < MAX_ROWS);
    const isEmpty = mirror.isLoaded && trades.length === 0;
    note.replaceChildren(...(isEmpty ? [el('p', { class: 'empty' }, 'No trades yet.')] : []));
  };
  mirror.onChange(() => nextFrame(show));
  mirror.onError((error) => note.replaceChildren(errorBox(error)));
  const stopTime = onChange(time.seconds, (now) => list.each((row, trade) => row.tick(trade, now)));
  return () => {
    stopTime();
    cancelFrame(show);
    list.close();
    mirror.close();
  };
}

function tapeRow(nowSeconds: () => number, isNews: (trade: TradeRow) => boolean): TapeRow {
  const price = el('span', { class: 'num' });
  const side = el('span', { class: 'unseen' });
  const tokens = el('span', { class: 'num' });
  const value = el('span', { class: 'num' });
  const since = el('span', { class: 'num dim' });
  const element = el('li', {}, side, price, tokens, value, since);
  const tick = ({ time }: TradeRow, now: number) => setText(since, age(now - time));
  return {
    element,
    tick,
    fill(trade, before) {
      const isBuy = trade.side === 'buy';
      setText(side, isBuy ? 'Buy at ' : 'Sell at ');
      setText(price, `${isBuy ? '▲' : '▼'} ${shortPrice(trade.price)}`);
      price.className = `num ${isBuy ? 'up' : 'down'}`;
      setText(tokens, short(trade.baseAmount));
      setText(value, ada(trade.quoteAmount));
      const who = trade.pkh === '' ? '' : `, key ${ends(trade.pkh)}`;
      setAttribute(element, 'title', `${trade.price} ADA a token, ${moment(trade.time)}${who}`);
      tick(trade, nowSeconds());
      if (before === null && isNews(trade)) flash(element, isBuy ? 'up' : 'down');
    },
  };
}
