/**
 * Lines of a file (plain or gzip) or of a pipe, with their numbers, as they arrive: what one chunk
 * completes is handed over together, so that a live pipe is not held back. `parseLine` checks the
 * content of one line.
 */

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { TradeEvent } from '../log/entry.ts';
import { ASSET_PATTERN, parseAsset } from '../market/asset.ts';
import { MAX_TIME_MS } from '../market/resolution.ts';
import { systemCode } from '../runtime/errors.ts';

export interface NumberedLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** The bytes were not valid UTF-8: two different lines may have the same text. */
  readonly isBroken?: true;
}

export const MAX_LINE_CHARACTERS = 65_536;
const CHUNK_BYTES = 256 * 1024;
/** A character takes at most four bytes, so a line cut here is still longer than the limit. */
const MAX_LINE_BYTES = 4 * (MAX_LINE_CHARACTERS + 1);
const LINE_FEED = 10;

/** `opened` gets the file itself, which counts the bytes that were read of it. */
export function openFile(path: string, opened?: (file: ReadStream) => void): Readable {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  opened?.(file);
  if (!path.endsWith('.gz')) return file;
  return Readable.from(unpacked(path, file), { objectMode: false });
}

/** Fails with the reason where the file is not gzip from its first byte to its last. */
async function* unpacked(path: string, file: Readable): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  file.on('error', (error) => gunzip.destroy(error));
  try {
    yield* file.pipe(gunzip);
  } catch (error) {
    if (!isZlibError(error)) throw error;
    const hint = 'it is cut off, no gzip file, or other bytes follow its end (gzip -t tests it)';
    throw new Error(`${path} cannot be unpacked: ${hint}: ${error.message}`, { cause: error });
  } finally {
    file.destroy();
  }
  // zlib stops at padding without an error and skips the bytes after it.
  const behind = (await stat(path)).size - gunzip.bytesWritten;
  if (behind <= 0) return;
  // Ends the last line, so that it counts.
  yield Buffer.from('\n');
  throw new Error(`${path} has ${behind} bytes after the end of its gzip data; they were not read`);
}

function isZlibError(error: unknown): error is Error {
  return error instanceof Error && systemCode(error)?.startsWith('Z_') === true;
}

/**
 * `name`: under which a file's progress is remembered, the hash of its bytes. `lines`: how many it
 * has, blank ones too; of a packed file that is not known.
 */
export async function fingerprint(path: string): Promise<{ name: string; lines: number }> {
  const sum = createHash('sha256');
  let lines = 1;
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    sum.update(chunk);
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) {
      lines += 1;
    }
  }
  return { name: sum.digest('hex'), lines };
}

/** Lines longer than MAX_LINE_CHARACTERS come cut to one more; blank ones are left out. */
export async function* readLines(input: Readable): AsyncGenerator<readonly NumberedLine[]> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let number = 0;
  for await (const chunk of input) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) {
      yield linesIn(Buffer.concat([...rest, bytes.subarray(0, end - 1)]));
      rest = [];
      restBytes = 0;
    }
    const kept = bytes.subarray(end, end + MAX_LINE_BYTES - restBytes);
    if (kept.length > 0) rest.push(kept);
    restBytes += kept.length;
  }
  yield linesIn(Buffer.concat(rest));

  function linesIn(bytes: Buffer): NumberedLine[] {
    // All at once where all is well: checking line by line costs more than parsing.
    if (isUtf8(bytes)) return bytes.toString().split('\n').map(numbered).filter(isFull);
    return splitLines(bytes).map(decoded).filter(isFull);
  }

  function numbered(text: string): NumberedLine {
    number += 1;
    return { number, text: text.slice(0, MAX_LINE_CHARACTERS + 1) };
  }

  function decoded(bytes: Buffer): NumberedLine {
    const line = numbered(bytes.toString());
    return isUtf8(bytes) ? line : { ...line, isBroken: true };
  }
}

function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, from)) {
    lines.push(bytes.subarray(from, at));
    from = at + 1;
  }
  lines.push(bytes.subarray(from));
  return lines;
}

function isFull({ text }: NumberedLine): boolean {
  return text.trim() !== '';
}

export type FeedLine =
  | { readonly kind: 'trade'; readonly timeMs: number; readonly trade: TradeEvent }
  | { readonly kind: 'rollback'; readonly toMs: number };

const AMOUNT = Type.String({ pattern: '^0*[1-9][0-9]{0,39}$', maxLength: 48 });
const DECIMALS = Type.Integer({ minimum: 0, maximum: 38 });
const TIME = Type.Integer({ minimum: 0, maximum: MAX_TIME_MS });

/** The documented shape of a trade line. Amounts are positive integers in smallest units. */
const TradeLine = Type.Object({
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

/** Checks one line: a trade, or a rollback. Returns the line, or its fault. */
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

/** The parser cannot know which of the two the feed means. */
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
