/** An order with its fill: our orders are filled whole, or not at all. */
import { COIN } from '../../engine/market/asset.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import type { OrderStatus, OrderView } from '../../engine/market/orderView.ts';
import type { TradeRecord } from '../../engine/store/records.ts';

const STATUS: Readonly<Record<OrderStatus, 'open' | 'closed' | 'cancelled' | 'mempool'>> = {
  Pending: 'open',
  Evaluated: 'closed',
  Refunded: 'cancelled',
  Dropped: 'cancelled',
  MempoolPending: 'mempool',
  MempoolEvaluated: 'mempool',
  MempoolRefunded: 'mempool',
};

/** `trade`: its place on the trade tape; null before, and for a fill that moved no coin. */
export function withFills(order: OrderView, trade: TradeRecord | null) {
  const { fromAmount, toAmount, status, evaluatedTransactionId, evaluatedAt } = order;
  const isFilled = status === 'Evaluated';
  const price = priceOf(order, trade);
  const fill = { txHash: evaluatedTransactionId, time: evaluatedAt, fromAmount, toAmount, price };
  return {
    ...order,
    orderStatus: STATUS[status],
    inputAmount: fromAmount,
    outputAmount: toAmount,
    price,
    filled: isFilled ? '100' : '0',
    fills: isFilled ? [fill] : [],
  };
}

/** ADA per token: of the trade, as the tape has it, else the worst price. */
function priceOf({ from, worstPrice }: OrderView, trade: TradeRecord | null): string {
  const { numerator: output, denominator: input } = worstPrice;
  const worst = from === COIN ? [input, output] : [output, input];
  const [lovelace = '0', tokens = '1'] = trade === null ? worst : [trade.lovelace, trade.tokens];
  return formatPrice(BigInt(lovelace), BigInt(tokens));
}
