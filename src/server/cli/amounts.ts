/** Durations, whole tokens, moments and amounts of the command line, read and written exactly. */
import { formatAda } from '../../client/trade/ada.ts';
import { type AssetId, COIN } from '../../engine/market/asset.ts';

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `500ms`, `60s`, `5m`, `2h`, `7d`; null for anything else. */
export function parseDurationMs(text: string): number | null {
  if (text === '0') return 0;
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  const unitMs = UNITS_MS[match?.[2] ?? ''];
  return match === null || unitMs === undefined ? null : Number(match[1]) * unitMs;
}

/** A count of tokens above 0; `1_000_000` is allowed. */
export function parseTokens(text: string): bigint | null {
  if (!/^\d+(_\d+)*$/.test(text) || text.length > 40) return null;
  const amount = BigInt(text.replaceAll('_', ''));
  return amount > 0n ? amount : null;
}

/** A moment in ISO 8601 with offset, or a day; returns Unix milliseconds. */
export function parseMomentMs(text: string): number | null {
  const isMoment = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;
  const timeMs = isMoment.test(text) ? Date.parse(text) : Number.NaN;
  // `Date.parse` reads 31 February as a day in March.
  const day = text.slice(0, 10);
  const dayMs = Date.parse(day);
  if (Number.isNaN(timeMs) || Number.isNaN(dayMs)) return null;
  return new Date(dayMs).toISOString().startsWith(day) ? timeMs : null;
}

export function parseNumber(text: string): number | null {
  return /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : null;
}

/** For a person: ADA, or tokens with the name that their id has. */
export function amountText(asset: AssetId, amount: bigint): string {
  if (asset === COIN) return formatAda(amount);
  const name = Buffer.from(asset.split('.')[1] ?? '', 'hex').toString('utf8');
  const printable = /^[\p{L}\p{N}\p{P}\p{S} ]{1,32}$/u.test(name) ? name : 'tokens';
  return `${amount} ${printable}`;
}
