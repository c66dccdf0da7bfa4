/** The bars table: one row a bar, keyed `pair:resolution:start`; tombstones are rows without value. */
import { assert } from '../runtime/assert.ts';
import type { Database } from './database.ts';
import { CAUSES, type Cause } from './rows.ts';

export interface BarRow {
  readonly start: number;
  readonly seq: number;
  readonly cause: Cause;
  /** null: a tombstone. */
  readonly value: string | null;
}

interface StoredBar {
  readonly start: number;
  readonly seq: number;
  readonly cause: number;
  readonly value: string | null;
}

export interface BarKey {
  readonly pair: number;
  readonly resolution: number;
  readonly start: number;
}

export function barKey(pair: number, resolution: number, start: number): string {
  return `${pair}:${resolution}:${start}`;
}

export function parseBarKey(key: string): BarKey {
  const first = key.indexOf(':');
  const second = key.indexOf(':', first + 1);
  return {
    pair: Number(key.slice(0, first)),
    resolution: Number(key.slice(first + 1, second)),
    start: Number(key.slice(second + 1)),
  };
}

/** A stored bar ends with its final flag: see `encodeBar`. */
export function isOpen(value: string | null): boolean {
  return value?.endsWith('\t0') === true;
}

const COLUMNS = 'start, seq, cause, value';
const SERIES = 'pair = ? AND resolution = ?';
const UPSERT = `
  INSERT INTO bars (pair, resolution, start, seq, cause, open, value) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET
    seq = excluded.seq, cause = excluded.cause, open = excluded.open, value = excluded.value`;

/** Reads and writes of one database; callers see to it that pending rows were written first. */
export function barRows(database: Database) {
  const select = (where: string) =>
    database.prepare<number[], StoredBar>(`SELECT ${COLUMNS} FROM bars WHERE ${SERIES} ${where}`);
  const one = select('AND start = ?');
  const range = select(
    'AND start >= ? AND start < ? AND value IS NOT NULL ORDER BY start DESC LIMIT ?',
  );
  const changed = select('AND seq > ? ORDER BY seq, start LIMIT ?');
  const openBars = select('AND open = 1 ORDER BY start');
  const allOpen = database.prepare<[], { pair: number; resolution: number; start: number }>(
    'SELECT pair, resolution, start FROM bars WHERE open = 1',
  );
  const upsert = database.prepare<(number | string | null)[]>(UPSERT);
  const prune = database.prepare<[number]>('DELETE FROM bars WHERE value IS NULL AND seq <= ?');

  return {
    one: (pair: number, resolution: number, start: number): BarRow | null => {
      const row = one.get(pair, resolution, start);
      return row === undefined ? null : readRow(row);
    },
    /** Newest first, at most `limit`, starts in [from, to). */
    range: (pair: number, resolution: number, from: number, to: number, limit: number): BarRow[] =>
      range.all(pair, resolution, from, to, limit).map(readRow),
    /** Last changed after `seq`, tombstones too, oldest change first. */
    changedSince: (pair: number, resolution: number, seq: number, limit: number): BarRow[] =>
      changed.all(pair, resolution, seq, limit).map(readRow),
    open: (pair: number, resolution: number): BarRow[] =>
      openBars.all(pair, resolution).map(readRow),
    allOpen: (): BarKey[] => allOpen.all(),
    put(key: string, value: string | null, seq: number, cause: Cause): void {
      const { pair, resolution, start } = parseBarKey(key);
      upsert.run(pair, resolution, start, seq, CAUSES.indexOf(cause), isOpen(value) ? 1 : 0, value);
    },
    pruneTombstones: (seq: number): void => {
      prune.run(seq);
    },
  };
}

function readRow({ start, seq, cause, value }: StoredBar): BarRow {
  const name = CAUSES[cause];
  assert(name !== undefined, `a stored bar has a known cause, found ${cause}`);
  return { start, seq, cause: name, value };
}
