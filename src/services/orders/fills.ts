/** An order with its fill: our orders are filled whole, or not at all. */
import { COIN } from '../../market/asset.ts';
import { formatRatio } from '../../market/decimal.ts';
import type { OrderStatus, OrderView } from '../../market/orderView.ts';

const LOVELACE_PER_ADA = 1_000_000n;

const STATUS: Readonly<Record<OrderStatus, 'open' | 'closed' | 'cancelled' | 'mempool'>> = {
  Pending: 'open',
  Evaluated: 'closed',
  Refunded: 'cancelled',
  Dropped: 'cancelled',
  MempoolPending: 'mempool',
  MempoolEvaluated: 'mempool',
  MempoolRefunded: 'mempool',
};

export function withFills(order: OrderView) {
  const { fromAmount, toAmount, status, evaluatedTransactionId, evaluatedAt } = order;
  const isFilled = status === 'Evaluated';
  const price = priceOf(order);
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

/** ADA per token: what was paid for what was received, else the worst price. */
function priceOf({ from, fromAmount, toAmount, worstPrice, status }: OrderView): string {
  const isFilled = status === 'Evaluated' || status === 'MempoolEvaluated';
  const { numerator, denominator } = worstPrice;
  const [output, input] = isFilled ? [toAmount, fromAmount] : [numerator, denominator];
  const [lovelace, tokens] = from === COIN ? [input, output] : [output, input];
  return formatRatio(BigInt(lovelace), BigInt(tokens) * LOVELACE_PER_ADA);
}
