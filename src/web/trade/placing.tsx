/** From what was asked for to an order that was sent: with a last look, or at once. */
import type { OrderRequest } from '../../client/trade/tradingClient.ts';
import type { QuoteAnswer } from '../../client/types.ts';
import { Facts, navigationNow } from '../components/dialog.tsx';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { t } from '../messages.ts';
import { type Session, sessionOf } from '../wallet/session.ts';
import { shownAda } from './amount.ts';
import { shownOf, type Token, termRows } from './quoteTerms.ts';
import { askToSign } from './review.tsx';
import { leastOutput } from './slippage.ts';

export interface Wanted {
  readonly side: OrderRequest['side'];
  /** Lovelace of a BUY, tokens of the others. */
  readonly amount: bigint;
  /** Hundredths of a percent; null: any output will do. */
  readonly slippage: bigint | null;
  /** What the maker of the order looks at; null: the server is asked. */
  readonly seen: QuoteAnswer | null;
}

/** Exactly what the quote says, less the slippage; and of a buy by tokens, no coin more. */
async function requestOf(session: Session, token: Token, wanted: Wanted): Promise<OrderRequest> {
  const { side, amount, slippage, seen } = wanted;
  const terms = { assetId: token.asset, side, amount } as const;
  const quote = seen ?? (await session.trading().quote({ ...terms, slippage: 'infinity' }));
  const limit = side === 'BUY_WITH_OUTPUT' ? { maxInputLovelace: BigInt(quote.inputAmount) } : {};
  if (slippage === null) return { ...terms, slippage: 'infinity', ...limit };
  const minOutput = leastOutput(BigInt(quote.outputAmount), slippage);
  return { ...terms, slippage: '15', minOutput, ...limit };
}

/** Shows what will be signed; true when it was sent. Rejects where nothing could be built. */
export async function placeAfterLook(
  context: PageContext,
  token: Token,
  wanted: Wanted,
): Promise<boolean> {
  const navigation = navigationNow();
  const session = sessionOf(context);
  const request = await requestOf(session, token, wanted);
  const prepared = await session.trading().prepareOrder(request);
  const { built, review } = prepared;
  const isSell = wanted.side === 'SELL';
  const kind = isSell ? t.trade.sell : t.trade.buy;
  const rows = termRows(built, token, BigInt(built.minimumOutput), null)
    .filter(({ term }) => term !== 'pay' && term !== 'impact')
    .map(({ term, value }) => [t.trade.terms.names[term], value] as const);
  return askToSign(context, {
    title: `${kind} ${token.ticker}`,
    above: <Facts rows={[...rows, [t.trade.networkFee, shownAda(review.feeLovelace)]]} />,
    ...{ prepared, token, navigation },
    goes: t.sign.goesToOrder,
    words: t.sign.orderWords,
    confirm: isSell ? t.trade.signAndSell : t.trade.signAndBuy,
    sent: ({ id }) => session.placed(id, isSell ? t.trade.sellSent : t.trade.buySent),
  });
}

/** For those who have switched it on: no last look, the same checks of the bytes. */
export async function placeAtOnce(
  context: PageContext,
  token: Token,
  wanted: Wanted,
): Promise<void> {
  const session = sessionOf(context);
  try {
    const placed = await session.trading().order(await requestOf(session, token, wanted));
    session.placed(placed.id, wanted.side === 'SELL' ? t.trade.sellSent : t.trade.buySent);
  } catch (error) {
    const what = shownOf(wanted.amount, wanted.side === 'BUY' ? '.' : token.asset, token);
    context.notify('bad', t.trade.notPlaced(what, errorText(error)));
  }
}
