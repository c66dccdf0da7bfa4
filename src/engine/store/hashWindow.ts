/**
 * What the next state hash covers: the rows that changed since the last one, each once, as they are
 * then. A hash is taken at fixed positions of the log (`isHashedAt`), over the hash before it and
 * these rows, so two nodes that applied the same entries have the same hash at the same position.
 *
 * Guarantees: what is covered depends on the log alone, not on when rows are committed. A commit
 *             writes the names of the rows (`names`), and a restart continues from them (`resume`).
 */
import { hash } from 'node:crypto';
import type { Payload } from '../log/entry.ts';
import { type BarSlot, type BarValue, barKey, barText, isOpen } from './barRows.ts';
import { perTable } from './keyedRows.ts';
import { KEYED_TABLES, type RowChange, type TableName } from './rows.ts';

/** A feed is one entry a moment: a hash of each would cost as much as the rest of the fold. */
const ENTRIES_PER_HASH = 64;

/** The state is hashed after this entry: each block of a chain, every 64th entry of a feed. */
export function isHashedAt(seq: number, payload: Payload): boolean {
  if (seq % ENTRIES_PER_HASH === 0) return true;
  const { kind } = payload;
  if (kind === 'block') return payload.chain !== undefined;
  return kind === 'passed' || kind === 'rollback' || kind === 'epoch';
}

/**
 * A bar is covered once it is final: until then every trade would make a text of six bars. So is
 * one that a rollback restored.
 */
function isCovered({ value, cause }: BarSlot): boolean {
  if (cause === 'rollback') return true;
  return typeof value === 'object' && value !== null ? value.final : !isOpen(value);
}

export class HashWindow {
  readonly #keyed = perTable(() => new Map<string, string | null>());
  readonly #bars = new Map<string, { readonly value: BarValue }>();

  add(changes: readonly RowChange[], bars: readonly BarSlot[]): void {
    for (const { table, key, after } of changes) this.#keyed[table].set(key, after);
    for (const slot of bars) {
      const { pair, resolution, start } = slot;
      if (isCovered(slot)) this.#bars.set(barKey(pair, resolution, start), slot);
    }
  }

  /** The hash over `previous` and the rows; the next one begins without rows. */
  take(previous: string): string {
    let text = `${previous}\n`;
    for (const [key, { value }] of this.#bars) text += `bars\t${key}\t${barText(value) ?? ''}\n`;
    this.#bars.clear();
    for (const table of KEYED_TABLES) {
      const rows = this.#keyed[table];
      if (rows.size === 0) continue;
      for (const [key, value] of rows) text += `${table}\t${key}\t${value ?? ''}\n`;
      rows.clear();
    }
    return hash('sha256', text, 'hex');
  }

  /** Lines of table and key. */
  names(): string {
    let text = '';
    for (const key of this.#bars.keys()) text += `bars\t${key}\n`;
    for (const table of KEYED_TABLES) {
      for (const key of this.#keyed[table].keys()) text += `${table}\t${key}\n`;
    }
    return text;
  }

  resume(names: string, read: (table: TableName, key: string) => string | null): void {
    for (const name of names.split('\n').slice(0, -1)) {
      const tab = name.indexOf('\t');
      // trust: our own row, written from `names`
      const table = name.slice(0, tab) as TableName;
      const key = name.slice(tab + 1);
      const value = read(table, key);
      if (table === 'bars') this.#bars.set(key, { value });
      else this.#keyed[table].set(key, value);
    }
  }
}
