/** ADA as people write it, exact: at most six decimals, no exponent, no float. */
import { formatUnits } from '../../engine/market/decimal.ts';

const ADA_DECIMALS = 6;
const SHAPE = /^(\d{1,11})(?:\.(\d{1,6}))?$/;

/** Lovelace; null if the text is not an amount. */
export function parseAda(text: string): bigint | null {
  const found = SHAPE.exec(text);
  if (found === null) return null;
  const [, whole = '', decimals = ''] = found;
  return BigInt(whole + decimals.padEnd(ADA_DECIMALS, '0'));
}

export function formatAda(lovelace: bigint): string {
  return `${formatUnits(lovelace, ADA_DECIMALS)} ADA`;
}
