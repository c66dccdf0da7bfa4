/** The target of an alert, in the three ways in which a reader states it: exact, as a price. */
import { formatRatio } from '../../engine/market/decimal.ts';
import { isPrice, type PriceAlert } from './alerts.ts';

export const WAYS = ['price', 'cap', 'percent'] as const;
export type Way = (typeof WAYS)[number];

const DECIMALS = 18;
const HUNDRED_PERCENT = 100n * 10n ** BigInt(DECIMALS);

interface Now {
  /** ADA for a token. */
  readonly spot: string | null;
  readonly supply: bigint | null;
}

/** `amount`: ADA, or percent away from `spot`; null where it says no price. */
export function targetPrice(
  way: Way,
  direction: PriceAlert['direction'],
  amount: string,
  { spot, supply }: Now,
): string | null {
  if (!isPrice(amount)) return null;
  if (way === 'price') return amount;
  const exact = scaled(amount);
  if (way === 'cap') return supply === null ? null : priceOf(exact, supply);
  if (spot === null || (direction === 'below' && exact >= HUNDRED_PERCENT)) return null;
  const share = direction === 'above' ? HUNDRED_PERCENT + exact : HUNDRED_PERCENT - exact;
  return priceOf(scaled(spot) * share, HUNDRED_PERCENT);
}

/** An amount with 18 decimals, divided: a price that an alert can hold. */
function priceOf(amount: bigint, by: bigint): string | null {
  const [whole = '', fraction = ''] = formatRatio(amount, by * 10n ** BigInt(DECIMALS)).split('.');
  const kept = fraction.slice(0, DECIMALS);
  const price = kept === '' ? whole : `${whole}.${kept}`;
  return isPrice(price) ? price : null;
}

function scaled(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.slice(0, DECIMALS).padEnd(DECIMALS, '0'));
}
