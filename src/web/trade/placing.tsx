/** From a request to a sent order: with a last look, or at once. */
import { ApiError } from '../../client/index.ts';
import { boundOf } from '../../client/trade/bound.ts';
import type { OrderRequest, PreparedOrder } from '../../client/trade/tradingClient.ts';
import type { QuoteAnswer } from '../../client/types.ts';
import { Facts, navigationNow } from '../components/dialog.tsx';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { t } from '../messages.ts';
import { type Session, sessionOf } from '../wallet/session.ts';
import { shownAda } from './amount.ts';
import { shownOf, type Term, type Token, termRows } from './quoteTerms.ts';
import { askToSign } from './review.tsx';

export interface Wanted {
  readonly side: OrderRequest['side'];
  /** Lovelace of a BUY, tokens of the others. */
  readonly amount: bigint;
  /** Hundredths of a percent; null: any output will do. */
  readonly slippage: bigint | null;
  /** The quote that the maker of the order sees; null: the page asks the server for one. */
  readonly seen: QuoteAnswer | null;
  /**
   * The terms of a limit order, instead of the slippage; `price`: ADA for a token, as it was typed.
   */
  readonly limit?: {
    readonly minOutput: bigint;
    readonly waitFor: number;
    readonly price: string;
  };
}

/**
 * Terms that the last look leaves out; a limit order waits, so its current output means nothing.
 */
const LEFT_OUT: readonly Term[] = ['pay', 'impact'];
const LEFT_OUT_OF_LIMIT: readonly Term[] = [...LEFT_OUT, 'now', 'price', 'tradingFee'];

/**
 * Bound by the quote that the maker sees, less the slippage; a limit order is bound by its price.
 */
async function requestOf(session: Session, token: Token, wanted: Wanted): Promise<OrderRequest> {
  const { side, amount, slippage, seen, limit: target } = wanted;
  const terms = { assetId: token.asset, side, amount } as const;
  if (target !== undefined) {
    return { ...terms, slippage: '15', minOutput: target.minOutput, waitFor: target.waitFor };
  }
  const quote = seen ?? (await session.trading().quote({ ...terms, slippage: 'infinity' }));
  const { minOutput, maxInput } = boundOf(side, amount, quote, slippage);
  return { ...terms, slippage: '15', minOutput, maxInputLovelace: maxInput };
}

interface Prepared {
  readonly prepared: PreparedOrder;
  /** It is bound to a newer quote than its maker looked at. */
  readonly hasMoved: boolean;
}

/**
 * If the pool moved beyond the quote that the maker saw: bound by another quote, which the page
 * shows.
 */
async function prepare(session: Session, token: Token, wanted: Wanted): Promise<Prepared> {
  const trading = session.trading();
  const request = await requestOf(session, token, wanted);
  try {
    return { prepared: await trading.prepareOrder(request), hasMoved: false };
  } catch (error) {
    if (!isMoved(error) || wanted.limit !== undefined) throw error;
    const again = await requestOf(session, token, { ...wanted, seen: null });
    return { prepared: await trading.prepareOrder(again), hasMoved: true };
  }
}

function isMoved(error: unknown): boolean {
  return error instanceof ApiError && error.cause === 'PRICE_MOVED';
}

/** Shows what will be signed; true when it was sent. Rejects where nothing could be built. */
export async function placeAfterLook(
  context: PageContext,
  token: Token,
  wanted: Wanted,
): Promise<boolean> {
  const navigation = navigationNow();
  const session = sessionOf(context);
  const { prepared, hasMoved } = await prepare(session, token, wanted);
  const { terms, review } = prepared;
  const isSell = wanted.side === 'SELL';
  const kind = isSell ? t.trade.sell : t.trade.buy;
  const { limit } = wanted;
  const rows = termRows(terms, token, BigInt(terms.minimumOutput), null)
    .filter(({ term }) => !(limit === undefined ? LEFT_OUT : LEFT_OUT_OF_LIMIT).includes(term))
    .map(({ term, value }) => [t.trade.terms.names[term], value] as const);
  const bound = isSell ? t.trade.limit.minPrice : t.trade.limit.maxPrice;
  const price = limit === undefined ? [] : [[bound, `${limit.price} ADA`] as const];
  return askToSign(context, {
    title: `${kind} ${token.ticker}`,
    above: (
      <>
        {hasMoved && <p class="caution">{t.trade.priceMoved}</p>}
        <Facts rows={[...price, ...rows, [t.trade.networkFee, shownAda(review.feeLovelace)]]} />
      </>
    ),
    ...{ prepared, token, navigation },
    goes: t.sign.goesToOrder,
    words: t.sign.orderWords,
    confirm: isSell ? t.trade.signAndSell : t.trade.signAndBuy,
    side: isSell ? 'sell' : 'buy',
    sent: ({ id }) => session.placed(id, isSell ? t.trade.sellSent : t.trade.buySent),
  });
}

/** For users who have switched it on: no last look unless the price moves, the same checks. */
export async function placeAtOnce(
  context: PageContext,
  token: Token,
  wanted: Wanted,
): Promise<void> {
  const session = sessionOf(context);
  try {
    try {
      const placed = await session.trading().order(await requestOf(session, token, wanted));
      session.placed(placed.id, wanted.side === 'SELL' ? t.trade.sellSent : t.trade.buySent);
    } catch (error) {
      if (!isMoved(error)) throw error;
      await placeAfterLook(context, token, wanted);
    }
  } catch (error) {
    const what = shownOf(wanted.amount, wanted.side === 'BUY' ? '.' : token.asset, token);
    context.notify('bad', t.trade.notPlaced({ what, why: errorText(error) }));
  }
}
