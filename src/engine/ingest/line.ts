/**
 * One line of a trade feed: a trade, or an order to roll back. Checked here, at the edge; what
 * passes needs no further check.
 */
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { TradeEvent } from '../log/entry.ts';
import { ASSET_PATTERN, parseAsset } from '../market/asset.ts';
import { MAX_TIME_MS } from '../market/resolution.ts';

export type FeedLine =
  | { readonly kind: 'trade'; readonly timeMs: number; readonly trade: TradeEvent }
  | { readonly kind: 'rollback'; readonly toMs: number };

const AMOUNT = Type.String({ pattern: '^0*[1-9][0-9]{0,39}$', maxLength: 48 });
const DECIMALS = Type.Integer({ minimum: 0, maximum: 38 });
const TIME = Type.Integer({ minimum: 0, maximum: MAX_TIME_MS });

/** The documented shape of a trade line. Amounts are positive integers in smallest units. */
export const TradeLine = Type.Object({
  id: Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f]{1,128}$' }),
  timeMs: TIME,
  base: Type.String({ pattern: ASSET_PATTERN }),
  quote: Type.String({ pattern: ASSET_PATTERN }),
  baseDecimals: DECIMALS,
  quoteDecimals: DECIMALS,
  baseAmount: AMOUNT,
  quoteAmount: AMOUNT,
  /** Not part of a bar, so nothing is made of it. */
  side: Type.Optional(
    Type.Union([Type.String({ pattern: '^([Bb][Uu][Yy]|[Ss][Ee][Ll][Ll])$' }), Type.Null()]),
  ),
});

const RollbackLine = Type.Object({ rollbackToMs: Type.Integer() });

const trades = Compile(TradeLine);
const rollbacks = Compile(RollbackLine);

const BYTE_ORDER_MARK = '\ufeff';
const TRADE_FIELDS = Object.keys(TradeLine.properties);

/** The line, or what is wrong with it. */
export function parseLine(text: string): FeedLine | string {
  if (text.startsWith(BYTE_ORDER_MARK)) {
    return 'begins with a byte order mark (U+FEFF): save the file as UTF-8 without one';
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'not JSON: one object a line is expected';
  }
  if (isBoth(value)) return 'a trade and rollbackToMs in one line: write them as two lines';
  if (trades.Check(value)) return readTrade(value);
  if (rollbacks.Check(value)) return { kind: 'rollback', toMs: value.rollbackToMs };
  return complain(value);
}

/** Which of the two was meant cannot be known. */
function isBoth(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'rollbackToMs')) {
    return false;
  }
  return TRADE_FIELDS.some((field) => Object.hasOwn(value, field));
}

function readTrade(value: Type.Static<typeof TradeLine>): FeedLine | string {
  const base = parseAsset(value.base);
  const quote = parseAsset(value.quote);
  if (base === null || quote === null) return 'base and quote must be asset ids';
  if (base === quote) return 'base and quote are the same asset';
  const { id, timeMs, baseDecimals, quoteDecimals, baseAmount, quoteAmount } = value;
  // Storage keeps UTF-8: two such ids would become one there.
  if (!id.isWellFormed()) return '/id must be well-formed Unicode';
  return {
    kind: 'trade',
    timeMs,
    trade: { base, quote, baseDecimals, quoteDecimals, id, baseAmount, quoteAmount },
  };
}

function complain(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'not an object: a trade or {"rollbackToMs": n} is expected';
  }
  const schema = 'rollbackToMs' in value ? rollbacks : trades;
  const [first] = schema.Errors(value);
  return first === undefined ? 'not a trade' : `${first.instancePath || 'line'} ${first.message}`;
}
