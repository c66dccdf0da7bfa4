/**
 * The bars table: one row a bar, keyed `pair:resolution:start`; tombstones are rows without value.
 * A bar stands among the open or among the final rows of its pair, never in both; a tombstone among
 * the open ones, where a bar that comes back takes its place.
 */
import type { Bar } from '../market/bar.ts';
import { encodeBar } from '../market/barText.ts';
import { Fault } from '../runtime/assert.ts';
import type { Database } from './database.ts';
import { CHANGE_CAUSES, type ChangeCause } from './rows.ts';

export interface BarRow {
  readonly start: number;
  readonly seq: number;
  readonly cause: ChangeCause;
  /** null: a tombstone. */
  readonly value: string | null;
}

interface StoredBar {
  readonly start: number;
  readonly seq: number;
  readonly cause: number;
  readonly value: string | null;
}

/** A bar as the fold has it, or its stored text; null: it is not there. */
export type BarValue = Bar | string | null;

export interface OpenBar {
  readonly pair: number;
  readonly resolution: number;
  readonly start: number;
}

/** A bar that was changed, until it is written. Its pair changes it in place. */
export interface BarSlot extends OpenBar {
  readonly value: BarValue;
  /** Entry that changed it last. */
  readonly seq: number;
  readonly cause: ChangeCause;
}

export function barKey(pair: number, resolution: number, start: number): string {
  return `${pair}:${resolution}:${start}`;
}

export function parseBarKey(key: string): OpenBar {
  const first = key.indexOf(':');
  const second = key.indexOf(':', first + 1);
  return {
    pair: Number(key.slice(0, first)),
    resolution: Number(key.slice(first + 1, second)),
    start: Number(key.slice(second + 1)),
  };
}

export function barText(value: BarValue): string | null {
  return typeof value === 'object' && value !== null ? encodeBar(value) : value;
}

/** A stored bar ends with its final flag: see `encodeBar`. */
export function isOpen(value: string | null): boolean {
  return value?.endsWith('\t0') === true;
}

const COLUMNS = 'start, seq, cause, value';
const UPSERT = `
  INSERT INTO bars (pair, final, resolution, start, seq, cause, value) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET seq = excluded.seq, cause = excluded.cause, value = excluded.value`;

/** Reads committed bars; the caller adds unwritten ones. */
export function barReads(database: Database) {
  const select = (where: string) =>
    database.prepare<number[], StoredBar>(`SELECT ${COLUMNS} FROM bars WHERE ${where}`);
  const one = select('pair = ? AND final = ? AND resolution = ? AND start = ?');
  const span = 'pair = ? AND final = ? AND resolution = ? AND start >= ? AND start < ?';
  const range = select(`${span} AND value IS NOT NULL ORDER BY start DESC LIMIT +?`);
  const recent = select(
    'pair = ? AND final = ? AND resolution = ? AND start >= ? AND seq > ? AND cause < 2 ' +
      'ORDER BY seq LIMIT +?',
  );
  const revised = select(
    'pair = ? AND resolution = ? AND seq > ? AND cause >= 2 ORDER BY seq LIMIT +?',
  );
  const open = database.prepare<[], OpenBar>(
    `SELECT pair, resolution, start FROM pairs
     CROSS JOIN bars ON pair = json_extract(pairs.value, '$.id') AND final = 0
     WHERE bars.value IS NOT NULL`,
  );
  return {
    /** The bars of all pairs that are not final. One statement: a market has a dozen a token. */
    allOpen: (): OpenBar[] => open.all(),
    one(pair: number, resolution: number, start: number): BarRow | null {
      const row = one.get(pair, 0, resolution, start) ?? one.get(pair, 1, resolution, start);
      return row === undefined ? null : readRow(row);
    },
    /** Starts in [from, to), in no order; of the open and of the final ones the newest `limit`. */
    range: (pair: number, resolution: number, from: number, to: number, limit: number): BarRow[] =>
      [0, 1].flatMap((final) => range.all(pair, final, resolution, from, to, limit)).map(readRow),
    /**
     * Last changed after `seq`, tombstones too, in no order. Ordinary changes are looked for among
     * bars that start at or after `from`. At most `limit` of each sort, the oldest changes.
     */
    changedSince(
      pair: number,
      resolution: number,
      seq: number,
      from: number,
      limit: number,
    ): BarRow[] {
      const ordinary = [0, 1].flatMap((final) =>
        recent.all(pair, final, resolution, from, seq, limit),
      );
      return [...ordinary, ...revised.all(pair, resolution, seq, limit)].map(readRow);
    },
  };
}

/** Count and newest change of the bars in a span, so that caches know whether they hold. */
export interface SettledBars {
  readonly rows: number;
  /** Seq of the newest change of these bars. */
  readonly newestSeq: number;
}

/** Reads how many final bars are in a span as committed, [from, to) by start, up to `most`. */
export function settledBars(database: Database) {
  const settled = database.prepare<number[], SettledBars>(
    `SELECT COUNT(*) AS rows, IFNULL(MAX(seq), 0) AS newestSeq FROM (SELECT seq FROM bars
     WHERE pair = ? AND final = 1 AND resolution = ? AND start >= ? AND start < ? LIMIT +?)`,
  );
  return (pair: number, resolution: number, from: number, to: number, most: number): SettledBars =>
    settled.get(pair, resolution, from, to, most) ?? { rows: 0, newestSeq: 0 };
}

export function barWrites(database: Database) {
  const upsert = database.prepare<(number | string | null)[]>(UPSERT);
  const one = database.prepare<number[], { readonly value: string | null }>(
    'SELECT value FROM bars WHERE pair = ? AND final = ? AND resolution = ? AND start = ?',
  );
  const remove = database.prepare<number[]>(
    'DELETE FROM bars WHERE pair = ? AND final = ? AND resolution = ? AND start = ?',
  );
  const prune = database.prepare<[number]>('DELETE FROM bars WHERE value IS NULL AND seq <= ?');
  return {
    /** Returns the value before. */
    put(key: string, value: string | null, seq: number, cause: number): string | null {
      const { pair, resolution, start } = parseBarKey(key);
      const final = value === null || isOpen(value) ? 0 : 1;
      const open = one.get(pair, 0, resolution, start);
      const before = open ?? one.get(pair, 1, resolution, start);
      const wasFinal = open === undefined ? 1 : 0;
      if (before !== undefined && wasFinal !== final) remove.run(pair, wasFinal, resolution, start);
      upsert.run(pair, final, resolution, start, seq, cause, value);
      return before?.value ?? null;
    },
    pruneTombstones: (seq: number): void => {
      prune.run(seq);
    },
  };
}

function readRow({ start, seq, cause, value }: StoredBar): BarRow {
  const name = CHANGE_CAUSES[cause];
  if (name === undefined)
    throw new Fault('damagedFile', `a stored bar has the unknown cause ${cause}`);
  return { start, seq, cause: name, value };
}
