/** From a request to a sent order: with a last look, or at once. */
import { ApiError } from '../../client/index.ts';
import { boundOf } from '../../client/trade/bound.ts';
import { leavingWallet, type Review } from '../../client/trade/review.ts';
import type { OrderRequest, PreparedOrder } from '../../client/trade/tradingClient.ts';
import type { QuoteAnswer } from '../../client/types.ts';
import { Facts, navigationNow } from '../components/dialog.tsx';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { t } from '../messages.ts';
import { type Session, sessionOf } from '../wallet/session.ts';
import { shownAda } from './amount.ts';
import { shownOf, type Term, type Token, termRows } from './quoteTerms.ts';
import { amountsOf, askToSign } from './review.tsx';

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
 * The rows of the last look, in their order: the parts of the total come last. A limit order waits
 * for its price, so the output of this moment is left out.
 */
const LIMIT_TERMS: readonly Term[] = ['offer', 'least', 'refundable', 'executorFee', 'deposit'];
const SHOWN_TERMS: readonly Term[] = [
  'offer',
  'now',
  'least',
  'price',
  'tradingFee',
  'refundable',
  'executorFee',
  'deposit',
];

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
  const all = termRows(terms, token, BigInt(terms.minimumOutput), null);
  const rows = (limit === undefined ? SHOWN_TERMS : LIMIT_TERMS).map((term) => {
    return [t.trade.terms.names[term], all.find((row) => row.term === term)?.value ?? ''] as const;
  });
  const bound = isSell ? t.trade.limit.minPrice : t.trade.limit.maxPrice;
  const price = limit === undefined ? [] : [[bound, `${limit.price} ADA`] as const];
  return askToSign(context, {
    title: `${kind} ${token.ticker}`,
    above: (
      <>
        {hasMoved && <p class="caution">{t.trade.priceMoved}</p>}
        <Facts
          rows={[...price, ...rows, ...totalRows(review, token, BigInt(terms.fees.deposit))]}
        />
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

/** The bytes that the wallet signs say what it pays; the deposit comes back with the fill. */
function totalRows(review: Review, token: Token, deposit: bigint) {
  return [
    [t.trade.networkFee, shownAda(review.feeLovelace)],
    [<b>{t.trade.total}</b>, <b>{amountsOf(leavingWallet(review), token)}</b>],
    [t.trade.comesBack, shownAda(deposit)],
  ] as const;
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
