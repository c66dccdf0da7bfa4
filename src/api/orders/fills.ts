/** An order with its fills: one, or several where it is executed in parts. */
import { COIN } from '../../engine/market/asset.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import type { OrderStatus, OrderView } from '../../engine/market/orderView.ts';
import type { TradeRecord } from '../../engine/store/records.ts';
import type { FilledPart } from './orderLookup.ts';

const STATUS: Readonly<Record<OrderStatus, 'open' | 'closed' | 'cancelled' | 'mempool'>> = {
  Pending: 'open',
  Evaluated: 'closed',
  Refunded: 'cancelled',
  Dropped: 'cancelled',
  MempoolPending: 'mempool',
  MempoolEvaluated: 'mempool',
  MempoolRefunded: 'mempool',
};

export function withFills(order: OrderView, executed: readonly FilledPart[]) {
  const { fromAmount, toAmount, filledAmount, status } = order;
  const fills = executed.map(({ fill, trade }) => ({
    txHash: fill.tx,
    time: Math.floor(fill.atMs / 1000),
    fromAmount: fill.amount,
    toAmount: fill.received,
    price: priceOf(order, trade),
  }));
  return {
    ...order,
    orderStatus: STATUS[status],
    inputAmount: fromAmount,
    outputAmount: toAmount,
    price: fills.at(-1)?.price ?? priceOf(order, null),
    filled: percentOf(BigInt(filledAmount), BigInt(fromAmount)),
    fills,
  };
}

/** Cut to two decimals, so that 100 says that nothing is left. */
function percentOf(filled: bigint, offered: bigint): string {
  const hundredths = String((filled * 10_000n) / offered).padStart(3, '0');
  return `${hundredths.slice(0, -2)}.${hundredths.slice(-2)}`.replace(/\.?0+$/, '');
}

/** ADA per token: of the trade, as the tape has it, else the worst price. */
function priceOf({ from, worstPrice }: OrderView, trade: TradeRecord | null): string {
  const { numerator: output, denominator: input } = worstPrice;
  const worst = from === COIN ? [input, output] : [output, input];
  const [lovelace = '0', tokens = '1'] = trade === null ? worst : [trade.lovelace, trade.tokens];
  // An order without a worst price names none.
  return tokens === '0' ? '0' : formatPrice(BigInt(lovelace), BigInt(tokens));
}
