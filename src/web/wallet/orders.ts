/** A wallet's own orders, of one token or of all, with what can be done about the open ones. */
import type { ApiOrder } from '../../client/types.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { errorText } from '../errorView.ts';
import { moment } from '../format.ts';
import { cancelFrame, nextFrame } from '../frames.ts';
import { KeyedList, type Row } from '../keyedList.ts';
import { onChange } from '../signal.ts';
import { statusText } from '../token/orderStatus.ts';
import { addTooltip } from '../tooltip.ts';
import { button } from '../trade/button.ts';
import { whatYouSign } from '../trade/confirmOrder.ts';
import { ask, navigationNow } from '../trade/dialog.ts';
import { shownOf, type Token } from '../trade/quoteTerms.ts';
import { isOpen, sessionOf } from './session.ts';
import { tickersOf } from './tickers.ts';

const MAX_ROWS = 50;

/** `asset` null: over all tokens. */
export function mountOwnOrders(
  container: HTMLElement,
  context: PageContext,
  asset: string | null,
): Unmount {
  const session = sessionOf(context);
  const tickers = tickersOf(context);
  const rows = el('ol', { class: 'own-orders' });
  const note = el('p', { class: 'small dim own-note' });
  container.append(rows, note);
  const list = new KeyedList<ApiOrder, Row<ApiOrder>>(rows, {
    most: MAX_ROWS,
    keyOf: ({ entityId }) => entityId,
    rowOf: () => orderRow(context, asset !== null),
  });
  const show = () => {
    const { isLoaded, orders } = session.orders.value;
    const mine =
      asset === null ? orders : orders.filter(({ from, to }) => from === asset || to === asset);
    list.show(mine);
    const isConnected = session.wallet.value !== null;
    const empty = isLoaded ? 'You have no orders here yet.' : 'Your orders are being loaded.';
    setText(note, isConnected && mine.length === 0 ? empty : '');
  };
  const again = () => nextFrame(show);
  const redraw = () => {
    // What a row says depends on the tickers too.
    list.show([]);
    again();
  };
  const stops = [
    onChange(session.orders, again),
    onChange(session.wallet, again),
    onChange(tickers.learned, redraw),
  ];
  show();
  return () => {
    for (const stop of stops) stop();
    cancelFrame(show);
    list.close();
  };
}

function orderRow(context: PageContext, isOfOneToken: boolean): Row<ApiOrder> {
  const tickers = tickersOf(context);
  let shown: ApiOrder | null = null;
  const side = el('span', { class: 'own-side' });
  const terms = el('span', { class: 'own-terms' });
  const chip = el('button', { type: 'button', class: 'chip' });
  const cancel = button('Cancel', async () => {
    if (shown !== null) await cancelOrder(context, shown);
  });
  const element = el('li', {}, side, terms, chip, cancel);
  addTooltip(chip, () => (shown === null ? '' : explanationOf(shown)));
  return {
    element,
    fill(order) {
      shown = order;
      const token = tokenOf(order, tickers.of(assetOf(order)));
      const isBuy = order.from === '.';
      setText(side, `${isBuy ? 'Buy' : 'Sell'}${isOfOneToken ? '' : ` ${token.ticker}`}`);
      side.className = `own-side ${isBuy ? 'up' : 'down'}`;
      setText(terms, termsOf(order, token));
      const { name, look } = statusText(order);
      setText(chip, name);
      setAttribute(chip, 'data-look', look);
      element.dataset.status = order.status;
      cancel.hidden = order.status !== 'Pending';
      setAttribute(cancel, 'aria-label', `Cancel: ${side.textContent} ${terms.textContent}`);
    },
  };
}

function termsOf({ status, from, fromAmount, to, toAmount }: ApiOrder, token: Token): string {
  const offered = shownOf(fromAmount, from, token);
  if (status === 'Evaluated') return `${offered} → ${shownOf(toAmount, to, token)}`;
  if (toAmount === '0') return offered;
  return `${offered} → at least ${shownOf(toAmount, to, token)}`;
}

function explanationOf(order: ApiOrder): string {
  const { meaning } = statusText(order);
  const placed = `Placed ${moment(order.timestamp)}.`;
  if (!isOpen(order)) return `${meaning} ${placed}`;
  return `${meaning} ${placed} May be given back from ${moment(order.expiresAt / 1000)} on.`;
}

function assetOf({ from, to }: ApiOrder): string {
  return from === '.' ? to : from;
}

function tokenOf(order: ApiOrder, ticker: string): Token {
  return { asset: assetOf(order), ticker };
}

async function cancelOrder(context: PageContext, order: ApiOrder): Promise<void> {
  const session = sessionOf(context);
  const navigation = navigationNow();
  const token = tokenOf(order, tickersOf(context).of(assetOf(order)));
  const fail = (error: unknown) => context.notify('bad', errorText(error));
  try {
    const prepared = await session.trading().prepareCancel(order.entityId);
    await ask({
      title: `Cancel this ${order.from === '.' ? 'buy' : 'sell'}`,
      content: [
        el('p', {}, `${termsOf(order, token)}: what it offers comes back to your wallet.`),
        whatYouSign(prepared.review, token, ['goes to', 'Your order is given back to you.']),
      ],
      confirm: 'Sign and cancel the order',
      leave: 'Keep the order',
      navigation,
      async run() {
        const { txHash } = await prepared.submit();
        context.notify('info', 'The cancel was sent. It counts when a block has it.');
        void session.follow(txHash);
        return true;
      },
      late: fail,
    });
  } catch (error) {
    fail(error);
  }
}
