/** Profit and loss as people read it: exact, with a sign. */
import { parseAda } from '../../client/trade/ada.ts';
import { formatFixed } from '../../engine/market/decimal.ts';
import { dollars, money } from '../fiat.ts';
import { cut, grouped } from '../format.ts';

export const ADA_DECIMALS = 6;
const DIGITS = 2;

interface Gain {
  readonly realizedPnlAda: string;
  readonly unrealizedPnlAda: string;
}

/** Exact: both are decimals of ADA. */
export function gainOf(gain: Gain): string {
  return formatFixed(gainLovelace(gain), ADA_DECIMALS);
}

export function gainLovelace({ realizedPnlAda, unrealizedPnlAda }: Gain): bigint {
  return lovelaceOf(realizedPnlAda) + lovelaceOf(unrealizedPnlAda);
}

/** `ada` may be negative. */
export function lovelaceOf(ada: string): bigint {
  const lovelace = parseAda(ada.replace('-', '')) ?? 0n;
  return ada.startsWith('-') ? -lovelace : lovelace;
}

/** In the unit that the reader has chosen. */
export function moneyText(ada: string): string {
  const text = money(ada, (decimal) => grouped(inHundredths(decimal)));
  return dollars.value === null ? `${text}\u00a0₳` : text;
}

/** Whole numbers stay as they are; others have two digits, so that numbers side by side line up. */
function inHundredths(decimal: string): string {
  const [whole = '', fraction] = cut(decimal, DIGITS).split('.');
  return fraction === undefined ? whole : `${whole}.${fraction.padEnd(DIGITS, '0')}`;
}

export function signed(ada: string): string {
  const text = moneyText(ada.replace('-', ''));
  if (!/[1-9]/.test(text)) return text;
  return `${ada.startsWith('-') ? '−' : '+'}${text}`;
}

export function withSign(decimal: string): string {
  const isZero = /^-?0([.,]0*)?$/.test(decimal);
  if (isZero) return decimal.replace('-', '');
  return decimal.startsWith('-') ? `−${decimal.slice(1)}` : `+${decimal}`;
}

export function lookOf(decimal: string): string {
  if (decimal === '' || /^-?0(\.0*)?$/.test(decimal)) return '';
  return decimal.startsWith('-') ? 'down' : 'up';
}
