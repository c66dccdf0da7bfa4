/**
 * Decimals in readable form, for the page and for the server's texts. Cut or grouped as text: no
 * floating point between an exact number and the eye.
 */

/** `1234567` → `1,234,567`; leaves sign and fraction alone. */
export function grouped(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const separated = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? separated : `${separated}.${fraction}`;
}

/** At most `digits` after the point, cut and not rounded up: never more than there is. */
export function cut(decimal: string, digits: number): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  const kept = fraction.slice(0, digits).replace(/0+$/, '');
  return kept === '' ? whole : `${whole}.${kept}`;
}

const STEPS = [
  [1_000_000_000_000n, 'T'],
  [1_000_000_000n, 'B'],
  [1_000_000n, 'M'],
  [1_000n, 'k'],
] as const;

/** Three or four digits and a letter, cut. */
export function short(amount: bigint | string): string {
  const value = BigInt(amount);
  const step = STEPS.find(([size]) => value >= size);
  if (step === undefined) return String(value);
  const [size, letter] = step;
  const whole = value / size;
  if (whole >= 100n) return `${whole}${letter}`;
  const hundredths = String(((value % size) * 100n) / size).padStart(2, '0');
  return `${cut(`${whole}.${hundredths}`, whole >= 10n ? 1 : 2)}${letter}`;
}

/** The first significant digits of a price: `0.000002545182…` keeps its zeros and six digits. */
export function shortPrice(decimal: string, significant = 6): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  if (whole !== '0') return cut(`${grouped(whole)}.${fraction}`, Math.max(2, significant - 3));
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0;
  return cut(decimal, zeros + significant);
}

const SUBSCRIPTS = '₀₁₂₃₄₅₆₇₈₉';
/** Fewer zeros than this are read at a glance. */
const MIN_ZEROS = 4;

/** As `shortPrice`, with many zeros counted instead of written: `0.00000795` → `0.0₅795`. */
export function subscriptZeros(decimal: string, significant = 8): string {
  const text = shortPrice(decimal, significant);
  const [, zeros = '', rest = ''] = /^0\.(0+)(\d+)$/.exec(text) ?? [];
  if (zeros.length < MIN_ZEROS) return text;
  const count = Array.from(String(zeros.length), (digit) => SUBSCRIPTS[Number(digit)]).join('');
  return `0.0${count}${rest}`;
}
