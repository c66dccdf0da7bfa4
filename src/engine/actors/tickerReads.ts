/**
 * What tickers are made of, as the store has it: the last day of a pair, minute by minute, and who
 * traded it. In steps of about a millisecond: a pair may have a trade in each minute, and many
 * trades in each of them. Entries may be applied between two steps: the reader is told of them.
 */
import type { AssetId } from '../market/asset.ts';
import { decodeBar } from '../market/barText.ts';
import { EARLIEST_START_MS, HOUR_MS, STORED_RESOLUTION_IDS } from '../market/resolution.ts';
import { KEPT_MS, type Minute, MinuteWindows, minuteOf, WINDOW_MS } from '../market/windows.ts';
import type { BarRow } from '../store/barRows.ts';
import { readRecord, type TradeRecord } from '../store/records.ts';
import type { StateStore } from '../store/state.ts';

const MIN1 = STORED_RESOLUTION_IDS.min1;
const DAY_MS = WINDOW_MS['24h'];
const FOREVER_MS = Number.MAX_SAFE_INTEGER;
const MINUTES_A_STEP = 180;
const TRADES_A_STEP = 200;
/** More than a step has, with what a replay allows to come early. */
const MOST_MINUTES = 2_000;

/** `atMs`: market time, cut to the minute. */
export function* readDay(
  store: StateStore,
  pair: number,
  atMs: number,
): Generator<void, MinuteWindows> {
  const fromMs = atMs - DAY_MS;
  const read = (startMs: number, endMs: number, most: number): Minute[] =>
    store.bars(pair, MIN1, startMs, endMs, most).reverse().map(readMinute);
  const before = read(EARLIEST_START_MS, fromMs, 1);
  const isWhole = before.length === 0;
  const newest = read(fromMs, FOREVER_MS, MINUTES_A_STEP);
  if (newest.length < MINUTES_A_STEP)
    return new MinuteWindows([...before, ...newest], atMs, isWhole);
  const windows = new MinuteWindows(before, atMs, isWhole);
  for (let startMs = fromMs; startMs <= atMs; startMs += 3 * HOUR_MS) {
    yield;
    const endMs = startMs + 3 * HOUR_MS;
    const minutes = read(startMs, endMs > atMs ? FOREVER_MS : endMs, MOST_MINUTES);
    for (const minute of minutes) windows.put(minute);
  }
  return windows;
}

function readMinute({ start, value }: BarRow): Minute {
  return minuteOf(decodeBar(start, value ?? ''));
}

/** By payment key, when it traded last, oldest first: since a day before `atMs`, and `KEPT_MS`. */
export function* readTraders(
  store: StateStore,
  asset: AssetId,
  atMs: number,
): Generator<void, Map<string, number>> {
  const fromMs = atMs - DAY_MS - KEPT_MS;
  const newestFirst = new Map<string, number>();
  const query = { order: 'descending', offset: 0, limit: TRADES_A_STEP } as const;
  for (let after: string | undefined; ; ) {
    const rows = store.page(
      'trades',
      `${asset}/`,
      after === undefined ? query : { ...query, after },
    );
    for (const { value } of rows) {
      const { pkh, atMs: tradeMs } = readRecord<TradeRecord>(value);
      if (tradeMs < fromMs) return new Map([...newestFirst].reverse());
      if (pkh !== '' && !newestFirst.has(pkh)) newestFirst.set(pkh, tradeMs);
    }
    if (rows.length < TRADES_A_STEP) return new Map([...newestFirst].reverse());
    after = rows.at(-1)?.key;
    yield;
  }
}
