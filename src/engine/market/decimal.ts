/**
 * The one decimal formatter: an exact ratio of integers as a decimal string without exponent or
 * trailing zeros, at most 18 fractional digits, rounded half to even. HTTP and WebSocket share it.
 * Source: protocol.md section 0.
 */
const FRACTION_DIGITS = 18;
const SCALE = 10n ** 18n;
const POWERS: readonly bigint[] = Array.from(
  { length: 80 },
  (_, exponent) => 10n ** BigInt(exponent),
);

export function powerOfTen(exponent: number): bigint {
  return POWERS[exponent] ?? 10n ** BigInt(exponent);
}

/** `numerator / denominator` as text. The denominator is positive. */
export function formatRatio(numerator: bigint, denominator: bigint): string {
  if (numerator < 0n) {
    const text = formatRatio(-numerator, denominator);
    return text === '0' ? text : `-${text}`;
  }
  const scaled = numerator * SCALE;
  let quotient = scaled / denominator;
  const twiceRest = (scaled - quotient * denominator) * 2n;
  if (twiceRest > denominator || (twiceRest === denominator && quotient % 2n === 1n))
    quotient += 1n;
  return placePoint(quotient.toString(), FRACTION_DIGITS);
}

const LOVELACE_PER_ADA = 1_000_000n;

/** Lovelace for tokens (which have no decimals) as a price of the charts: ADA for one token. */
export function formatPrice(lovelace: bigint, tokens: bigint): string {
  return formatRatio(lovelace, tokens * LOVELACE_PER_ADA);
}

/** `amount` of an asset's smallest units as display units: 1500000 with 6 decimals is `1.5`. */
export function formatUnits(amount: bigint, decimals: number): string {
  if (decimals === 0) return amount.toString();
  if (decimals > FRACTION_DIGITS) return formatRatio(amount, powerOfTen(decimals));
  return amount < 0n
    ? `-${placePoint((-amount).toString(), decimals)}`
    : placePoint(amount.toString(), decimals);
}

/** The same with all its fractional digits, at least one: `1.500000`. */
export function formatFixed(amount: bigint, decimals: number): string {
  if (amount < 0n) return `-${formatFixed(-amount, decimals)}`;
  const digits = amount.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

function placePoint(digits: string, fractionDigits: number): string {
  const padded = digits.length > fractionDigits ? digits : digits.padStart(fractionDigits + 1, '0');
  const point = padded.length - fractionDigits;
  let end = padded.length;
  while (end > point && padded.charCodeAt(end - 1) === 48) end -= 1;
  return end === point
    ? padded.slice(0, point)
    : `${padded.slice(0, point)}.${padded.slice(point, end)}`;
}

/** The opposite of `formatUnits`: a decimal of at most `decimals` fractional digits. */
export function unitsOf(decimal: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}
