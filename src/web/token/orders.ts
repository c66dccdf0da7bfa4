/** The order feed: orders in the mempool and on the chain in one list, newest first. */
import type { ApiOrder } from '../../client/types.ts';
import { formatRatio } from '../../engine/market/decimal.ts';
import { arrowKeyNavigation } from '../arrowKeyNavigation.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setText } from '../dom.ts';
import { errorBox } from '../errorView.ts';
import { ada, age, ends, grouped, moment, short, shortPrice } from '../format.ts';
import { cancelFrame, flash, nextFrame } from '../frames.ts';
import { KeyedList, type Row } from '../keyedList.ts';
import type { MarketTime } from '../marketTime.ts';
import { onChange } from '../signal.ts';
import { addTooltip } from '../tooltip.ts';
import { loadMoreStrip } from './loadMore.ts';
import { statusText } from './orderStatus.ts';

/** Shown at first, and added with each press on the button for older ones. */
const PAGE_ROWS = 100;
const MAX_ROWS = 1_000;
const LOVELACE = 1_000_000n;

/** Each with the class of its column. */
const HEADINGS = [
  ['Side', 'col-side'],
  ['Offers', 'col-offers'],
  ['Gets', 'col-gets'],
  ['At worst', 'col-worst'],
  ['State', 'col-state'],
  ['Age', 'col-age'],
] as const;

interface OrderRow extends Row<ApiOrder> {
  tick(order: ApiOrder, nowSeconds: number): void;
}

export function mountOrders(
  container: HTMLElement,
  context: PageContext,
  asset: string,
  time: MarketTime,
): Unmount {
  const mirror = context.client.orders(asset);
  const count = el('span', { class: 'side' });
  const rows = el('ol', { class: 'feed', 'aria-label': 'Orders, newest first' });
  const note = el('div', {});
  const head = el('div', { class: 'feed-head', 'aria-hidden': 'true' });
  head.append(...HEADINGS.map(([text, column]) => el('span', { class: column }, text)));
  container.append(el('header', {}, el('h2', {}, 'Orders'), count), head, rows, note);
  const list = new KeyedList<ApiOrder, OrderRow>(rows, {
    most: MAX_ROWS,
    keyOf: ({ entityId }) => entityId,
    rowOf: () => orderRow(() => time.seconds.value),
    arranged() {
      arrows.refresh();
      more.arranged();
    },
  });
  const arrows = arrowKeyNavigation(rows, '.chip');
  let wanted = PAGE_ROWS;
  const more = loadMoreStrip(rows, context, {
    label: 'Older orders',
    async load() {
      const known = () => mirror.state.mempool.length + mirror.state.ledger.length;
      if (known() < wanted + PAGE_ROWS) await mirror.loadOlder();
      if (known() > wanted) wanted = Math.min(MAX_ROWS, wanted + PAGE_ROWS);
      nextFrame(show);
    },
  });
  const show = () => {
    const { ledger, mempool, count: onChain } = mirror.state;
    const orders = [...mempool, ...ledger].slice(0, wanted);
    list.show(orders);
    const total = mempool.length + onChain;
    const [shown, all] = [orders.length, total].map((amount) => grouped(String(amount)));
    more.show(`${shown} of ${all}`, orders.length < total && wanted < MAX_ROWS);
    const waiting = mempool.length === 0 ? '' : ` · ${mempool.length} waiting`;
    setText(count, `${grouped(String(onChain))} on the chain${waiting}`);
    const isEmpty = mirror.isLoaded && ledger.length + mempool.length === 0;
    note.replaceChildren(...(isEmpty ? [el('p', { class: 'empty' }, 'No orders yet.')] : []));
  };
  mirror.onChange(() => nextFrame(show));
  mirror.onError((error) => note.replaceChildren(errorBox(error)));
  const stopTime = onChange(time.seconds, (now) => list.each((row, order) => row.tick(order, now)));
  return () => {
    stopTime();
    cancelFrame(show);
    list.close();
    mirror.close();
  };
}

function orderRow(nowSeconds: () => number): OrderRow {
  let shown: ApiOrder | null = null;
  const side = el('span', { class: 'side-word' });
  const offers = el('span', { class: 'num' });
  const gets = el('span', { class: 'num' });
  const worst = el('span', { class: 'num dim col-worst' });
  const chip = el('button', { type: 'button', class: 'chip' });
  const since = el('span', { class: 'num dim' });
  const element = el('li', { class: 'order' }, side, offers, gets, worst, chip, since);
  addTooltip(chip, () => (shown === null ? '' : explanationOf(shown)));
  const tick = ({ timestamp }: ApiOrder, now: number) => setText(since, age(now - timestamp));
  return {
    element,
    tick,
    fill(order, before) {
      shown = order;
      const isBuy = order.from === '.';
      const { name, look } = statusText(order);
      setText(side, isBuy ? 'Buy' : 'Sell');
      side.className = `side-word ${isBuy ? 'up' : 'down'}`;
      setText(offers, isBuy ? ada(order.fromAmount) : short(order.fromAmount));
      setText(gets, look === 'over' ? '–' : received(order, isBuy));
      setText(worst, isAnyPrice(order) ? 'any' : shortPrice(worstOf(order, isBuy), 4));
      setText(chip, name);
      chip.dataset.look = look;
      tick(order, nowSeconds());
      if (before !== null && before.status !== order.status) flash(element, 'same');
    },
  };
}

/** While an order is open its amount is the least it accepts. */
function received({ toAmount, status }: ApiOrder, isBuy: boolean): string {
  const amount = isBuy ? short(toAmount) : ada(toAmount);
  return status === 'Evaluated' || status === 'MempoolEvaluated' ? amount : `≥ ${amount}`;
}

/** One unit of whatever comes out is enough: no slippage was named. */
function isAnyPrice({ worstPrice, fromAmount }: ApiOrder): boolean {
  const { numerator, denominator } = worstPrice;
  return BigInt(fromAmount) * BigInt(numerator) <= BigInt(denominator);
}

/** ADA for a token, exact; the order holds output per input. */
function worstOf({ worstPrice }: ApiOrder, isBuy: boolean): string {
  const numerator = BigInt(worstPrice.numerator);
  const denominator = BigInt(worstPrice.denominator);
  const [coins, tokens] = isBuy ? [denominator, numerator] : [numerator, denominator];
  return tokens === 0n ? '0' : formatRatio(coins, tokens * LOVELACE);
}

function explanationOf(order: ApiOrder): string {
  const { meaning } = statusText(order);
  const placed = `Placed ${moment(order.timestamp)}.`;
  const ended = order.evaluatedAt === null ? '' : ` Ended ${moment(order.evaluatedAt)}.`;
  return `${meaning} ${placed}${ended} Order ${ends(order.entityId)} of key ${ends(order.pkh)}.`;
}
