/** Prices that the reader wants to hear of. They are kept in this browser, and end when reached. */
import { storedSignal } from '../stored.ts';

export const DIRECTIONS = ['above', 'below'] as const;

export interface PriceAlert {
  readonly asset: string;
  readonly ticker: string;
  readonly direction: (typeof DIRECTIONS)[number];
  /** ADA for a token, a decimal. */
  readonly price: string;
}

const MOST = 50;
const DECIMAL = /^\d{1,12}(?:\.\d{1,18})?$/;

export const alerts = storedSignal<readonly PriceAlert[]>('alerts', [], (kept) =>
  Array.isArray(kept) ? kept.flatMap(readAlert).slice(0, MOST) : null,
);

export function isPrice(text: string): boolean {
  return DECIMAL.test(text) && !/^[0.]*$/.test(text);
}

export function addAlert(alert: PriceAlert): void {
  alerts.value = [alert, ...alerts.value.filter((each) => !isSame(each, alert))].slice(0, MOST);
}

export function removeAlert(alert: PriceAlert): void {
  alerts.value = alerts.value.filter((each) => !isSame(each, alert));
}

/** Exactly: the price has come to it, or is beyond. */
export function isReached({ direction, price }: PriceAlert, spot: string): boolean {
  const [wanted, now] = [scaled(price), scaled(spot)];
  return direction === 'above' ? now >= wanted : now <= wanted;
}

function isSame(a: PriceAlert, b: PriceAlert): boolean {
  return a.asset === b.asset && a.direction === b.direction && a.price === b.price;
}

const DIGITS = 40;

/** More digits than any price has. */
function scaled(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.slice(0, DIGITS).padEnd(DIGITS, '0'));
}

function readAlert(kept: unknown): readonly PriceAlert[] {
  if (typeof kept !== 'object' || kept === null) return [];
  const text = (name: string) => {
    const value: unknown = Reflect.get(kept, name);
    return typeof value === 'string' ? value : '';
  };
  const direction = DIRECTIONS.find((each) => each === text('direction'));
  const price = text('price');
  if (direction === undefined || !isPrice(price)) return [];
  return [{ asset: text('asset'), ticker: text('ticker').slice(0, 40), direction, price }];
}
