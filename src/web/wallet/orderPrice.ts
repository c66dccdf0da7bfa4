/** Prices of an order, exact: lovelace and tokens are integers, and a price is their ratio. */
import type { ApiOrder } from '../../client/types.ts';
import { formatPrice } from '../../engine/market/decimal.ts';

type Amounts = Pick<ApiOrder, 'from' | 'status' | 'filledAmount' | 'toAmount'>;

/**
 * ADA per token that its executions paid or brought, fees in percent included and the executor's
 * fee not; null: nothing of it was executed in a block, or an execution is pending: `toAmount` then
 * counts it and `filledAmount` does not.
 */
export function executedPrice({ from, status, filledAmount, toAmount }: Amounts): string | null {
  const [given, received] = [BigInt(filledAmount), BigInt(toAmount)];
  if (given === 0n || received === 0n) return null;
  if (status === 'Dropped' || status === 'MempoolEvaluated') return null;
  return from === '.' ? formatPrice(given, received) : formatPrice(received, given);
}
