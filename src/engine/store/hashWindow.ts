/**
 * What the next state hash covers: the rows that changed since the last one, each once, as they are
 * then. A hash is taken at fixed positions of the log (`isHashedAt`), over the hash before it and
 * these rows, so two nodes that applied the same entries have the same hash at the same position.
 *
 * Bars that market time has ended are covered by the 64 entries from that one on, each a part of
 * the pairs: a minute may end for thousands of them. What an entry covers goes into the next hash.
 *
 * Guarantees: what is covered depends on the log alone, not on when rows are committed. A commit
 *             writes the names of the rows (`names`), and a restart continues from them (`resume`).
 */
import { createHash, hash } from 'node:crypto';
import type { Payload } from '../log/entry.ts';
import { type BarSlot, type BarValue, barKey, barText, isOpen, type OpenBar } from './barRows.ts';
import { perTable } from './keyedRows.ts';
import { KEYED_TABLES, type RowChange, type RowValue, type TableName, textOf } from './rows.ts';

/** A feed is one entry a moment: a hash of each would cost as much as the rest of the fold. */
const ENTRIES_PER_HASH = 64;

/** Entries that cover the bars that one of them ended, and the fewest pairs of each. */
const ENTRIES_PER_END = 64;
const LEAST_PAIRS = 16;
/** Of what is hashed: a roll-back's text would be tens of megabytes. */
const CHARACTERS_AT_ONCE = 16 * 1024;
/** What has no table begins with these in `names`. */
const ENDS = 'ends';
const COVERED = 'covered';

/** A bar that market time has ended. */
export interface EndedBar extends OpenBar {
  readonly value: BarValue;
}

/** Pairs whose bars entry `seq` ended, by id; an id too many is harmless. */
interface Ends {
  readonly seq: number;
  readonly ids: Uint32Array;
  /** Of the ids that are not covered yet. */
  from: number;
  /** The next entry covers ids below this one, the one after it `width` more. */
  below: number;
  readonly width: number;
}

/** The state is hashed after this entry: each block that a fork can reach, every 64th entry. */
export function isHashedAt(seq: number, payload: Payload): boolean {
  if (seq % ENTRIES_PER_HASH === 0) return true;
  const { kind } = payload;
  if (kind === 'block') return payload.chain !== undefined && payload.chain.isDeep !== true;
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
  readonly #keyed = perTable(() => new Map<string, RowValue | null>());
  readonly #bars = new Map<string, { readonly value: BarValue }>();
  #ends: Ends[] = [];
  /** A hash over the ended bars that entries have covered since the last state hash. */
  #covered = '';

  add(changes: readonly RowChange[], bars: readonly BarSlot[]): void {
    for (const { table, key, after } of changes) this.#keyed[table].set(key, after);
    for (const slot of bars) {
      if (isCovered(slot)) this.#bars.set(keyOf(slot), slot);
    }
  }

  /** Entry `seq` ended bars of these pairs; `most` is the largest id. */
  addEnds(seq: number, pairs: ReadonlySet<number>, most: number): void {
    const width = Math.max(LEAST_PAIRS, Math.ceil(most / ENTRIES_PER_END));
    const ids = Uint32Array.from(pairs).sort();
    this.#ends.push({ seq, ids, from: 0, below: width + 1, width });
  }

  /** Each entry; `endedAt`: final bars of the pair that nothing has changed after entry `seq`. */
  coverEnds(endedAt: (pair: number, seq: number) => readonly EndedBar[]): void {
    if (this.#ends.length === 0) return;
    let lines = '';
    for (const ends of this.#ends) {
      const { ids, below, seq } = ends;
      for (let id = ids[ends.from]; id !== undefined && id < below; id = ids[ends.from]) {
        ends.from += 1;
        for (const bar of endedAt(id, seq)) lines += lineOf(keyOf(bar), bar.value);
      }
      ends.below += ends.width;
    }
    this.#ends = this.#ends.filter(({ from, ids }) => from < ids.length);
    if (lines !== '') this.#covered = hash('sha256', `${this.#covered}\n${lines}`, 'hex');
  }

  /** A rollback has put back what ended after this entry. */
  forgetEndsAfter(toSeq: number): void {
    this.#ends = this.#ends.filter(({ seq }) => seq <= toSeq);
  }

  /** The hash over `previous` and the rows; the next one begins without rows. */
  take(previous: string): string {
    const sum = createHash('sha256');
    let text = `${previous}\n`;
    const add = (line: string) => {
      text += line;
      if (text.length < CHARACTERS_AT_ONCE) return;
      sum.update(text);
      text = '';
    };
    for (const [key, { value }] of this.#bars) add(lineOf(key, value));
    this.#bars.clear();
    if (this.#covered !== '') add(`${COVERED}\t${this.#covered}\n`);
    this.#covered = '';
    for (const table of KEYED_TABLES) {
      const rows = this.#keyed[table];
      if (rows.size === 0) continue;
      for (const [key, value] of rows) {
        add(`${table}\t${key}\t${value === null ? '' : textOf(value)}\n`);
      }
      rows.clear();
    }
    return sum.update(text).digest('hex');
  }

  /** Lines of table and key, and of what ended bars there are. */
  names(): string {
    let text = this.#covered === '' ? '' : `${COVERED}\t${this.#covered}\n`;
    for (const { seq, ids, from, below, width } of this.#ends) {
      text += `${ENDS}\t${seq} ${below} ${width} ${ids.subarray(from).join(' ')}\n`;
    }
    for (const key of this.#bars.keys()) text += `bars\t${key}\n`;
    for (const table of KEYED_TABLES) {
      for (const key of this.#keyed[table].keys()) text += `${table}\t${key}\n`;
    }
    return text;
  }

  resume(names: string, read: (table: TableName, key: string) => string | null): void {
    for (const name of names.split('\n').slice(0, -1)) {
      const tab = name.indexOf('\t');
      const kind = name.slice(0, tab);
      const key = name.slice(tab + 1);
      if (kind === COVERED) this.#covered = key;
      else if (kind === ENDS) this.#ends.push(readEnds(key));
      if (kind === COVERED || kind === ENDS) continue;
      // trust: our own row, written from `names`
      const table = kind as TableName;
      const value = read(table, key);
      if (table === 'bars') this.#bars.set(key, { value });
      else this.#keyed[table].set(key, value);
    }
  }
}

function readEnds(text: string): Ends {
  const [seq = 0, below = 0, width = 0, ...ids] = text.split(' ').map(Number);
  return { seq, below, width, ids: Uint32Array.from(ids), from: 0 };
}

function keyOf({ pair, resolution, start }: OpenBar): string {
  return barKey(pair, resolution, start);
}

function lineOf(key: string, value: BarValue): string {
  return `bars\t${key}\t${barText(value) ?? ''}\n`;
}
