/**
 * Pages of a keyed table against a sorted array: rows and removals that wait, are being written or
 * are committed, in both orders, from any offset and cursor; and rows by their keys. Compares the
 * present rows, and the rows as they were when they were held. Replay: `{ seed, path }` as printed.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { HeldRows, KeySpan, PageQuery } from '../../../src/engine/store/keyedRows.ts';
import type { RowChange } from '../../../src/engine/store/rows.ts';
import { type StateOptions, StateStore } from '../../../src/engine/store/state.ts';
import { inlineWriter, threadWriter } from '../../../src/engine/store/stateWriter.ts';
import { CountedTrades } from '../../../src/engine/store/tradeIds.ts';
import { temporaryDirectory } from '../../support/server.ts';

const MANY = 1_000_000;

interface Put {
  readonly list: number;
  readonly at: number;
  readonly value: string | null;
}
type Step = { readonly puts: readonly Put[] } | { readonly undone: readonly Put[] } | Other;
type Other = 'commit' | 'beside' | 'hold' | 'release';

const put: fc.Arbitrary<Put> = fc.record({
  list: fc.nat(2),
  at: fc.nat(30),
  value: fc.option(fc.constantFrom('a', 'b', 'c')),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ puts: fc.array(put, { minLength: 1, maxLength: 12 }) }) },
  { weight: 2, arbitrary: fc.constantFrom('commit' as const, 'beside') },
  { weight: 2, arbitrary: fc.constantFrom('hold' as const, 'hold', 'release') },
  fc.record({ undone: fc.array(put, { minLength: 1, maxLength: 12 }) }),
);
/** Rows are held once at least, so that each run sees pages of the past. */
const steps = fc
  .tuple(step, fc.array(step, { minLength: 4, maxLength: 14 }))
  .map(([first, others]): Step[] => [first, 'hold', ...others]);
type PageAt = Omit<PageQuery, 'after' | 'from' | 'to'> &
  Readonly<Record<'list' | 'after' | 'from' | 'to', number>>;

const query: fc.Arbitrary<PageAt> = fc.record({
  list: fc.nat(2),
  order: fc.constantFrom('ascending' as const, 'descending'),
  offset: fc.oneof(fc.nat(35), fc.constant(1_000_000)),
  limit: fc.integer({ min: 1, max: 35 }),
  // Below 0: none.
  after: fc.integer({ min: -10, max: 32 }),
  from: fc.integer({ min: -10, max: 32 }),
  to: fc.integer({ min: -10, max: 32 }),
});

function prefixOf(list: number): string {
  return `list${list}/`;
}

function keyOf(list: number, at: number): string {
  return `${prefixOf(list)}${String(at).padStart(3, '0')}`;
}

const KEYS = [0, 1, 2].flatMap((list) => Array.from({ length: 31 }, (_, at) => keyOf(list, at)));

class Pair {
  readonly store: StateStore;
  readonly #rows = new Map<string, string>();
  #seq = 0;
  #beside: Promise<unknown> = Promise.resolve();
  /** Held rows, with their content at that time. */
  readonly held: { readonly rows: Map<string, string>; readonly state: HeldRows }[] = [];

  constructor(writer: StateOptions['writer']) {
    const options = { horizonBlocks: 5, maxMb: 0, writer };
    this.store = new StateStore(join(temporaryDirectory(), 'state.sqlite'), options);
  }

  async perform(next: Step): Promise<void> {
    if (next === 'commit') await this.store.commit();
    else if (next === 'beside') this.#beside = this.store.commit();
    else if (next === 'hold') {
      this.held.push({ rows: new Map(this.#rows), state: this.store.snapshot() });
    } else if (next === 'release') this.held.shift()?.state.release();
    else if ('puts' in next) this.#stage(this.#changed(next.puts));
    else await this.#undo(next.undone);
  }

  async close(): Promise<void> {
    await this.#beside;
    await this.store.close();
  }

  get(key: string): string | null {
    return this.#rows.get(key) ?? null;
  }

  within(list: number, { from = '', to = '~' }: KeySpan, all = this.#rows) {
    const keys = [...all].filter(([key]) => key.startsWith(prefixOf(list)));
    return keys.filter(([key]) => key >= from && key < to);
  }

  page(list: number, { order, offset, limit, after, ...span }: PageQuery, all = this.#rows) {
    const rows = this.within(list, span, all)
      .map(([key, value]) => ({ key, value }))
      .sort((a, b) => (a.key < b.key === (order === 'ascending') ? -1 : 1))
      .filter(({ key }) => {
        if (after === undefined) return true;
        return order === 'ascending' ? key > after : key < after;
      });
    return rows.slice(offset, offset + limit);
  }

  /** A rollback does not say what its rows were before. */
  async #undo(puts: readonly Put[]): Promise<void> {
    await this.store.commit();
    const rows = this.#changed(puts).map((change) => ({ ...change, before: null }));
    this.store.restore(this.#seq, rows, [], this.#seq + 1);
    this.#stage([]);
  }

  #changed(puts: readonly Put[]): RowChange[] {
    return puts.map(({ list, at, value }) => {
      const key = keyOf(list, at);
      const before = this.#rows.get(key) ?? null;
      if (value === null) this.#rows.delete(key);
      else this.#rows.set(key, value);
      return { table: 'order_index', key, before, after: value, cause: 'trade' } as const;
    });
  }

  #stage(changes: readonly RowChange[]): void {
    this.#seq += 1;
    const { epoch, seq, ...rest } = { epoch: '1-a', seq: this.#seq, term: 1, entryHash: '' };
    const times = { stateHash: '', hashedSeq: 0, marketMs: seq, openedMs: seq, seenMs: 0 };
    const checkpoint = { epoch, seq, ...rest, ...times };
    this.store.stage({
      checkpoint,
      block: true,
      atMs: seq,
      changes,
      trades: new CountedTrades(),
      streamChanges: [],
    });
  }
}

test('a page is that of the sorted rows, whatever waits and whatever is on the disk', async () => {
  let [beyond, past] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(inlineWriter, threadWriter),
      steps,
      fc.array(query, { minLength: 10, maxLength: 10 }),
      async (writer, performed, queries) => {
        const pair = new Pair(writer);
        try {
          for (const each of performed) {
            await pair.perform(each);
            for (const { list, after, from, to, ...rest } of queries) {
              const cursor = after < 0 ? {} : { after: keyOf(list, after) };
              const span = {
                ...(from < 0 ? {} : { from: keyOf(list, from) }),
                ...(to < 0 ? {} : { to: keyOf(list, to) }),
              };
              const asked = { ...rest, ...span, ...cursor };
              const counted = pair.store.count('order_index', prefixOf(list), span);
              assert.equal(counted, pair.within(list, span).length, JSON.stringify(span));
              const found = pair.store.page('order_index', prefixOf(list), asked);
              assert.deepEqual(found, pair.page(list, asked), JSON.stringify(asked));
              if (found.length === 0 && rest.offset > 0) beyond += 1;
              for (const { rows, state } of pair.held) {
                const then = state.rows.pages('order_index')(prefixOf(list), asked);
                assert.deepEqual(then, pair.page(list, asked, rows), 'held');
                if (JSON.stringify(then) !== JSON.stringify(found)) past += 1;
              }
            }
            for (const key of KEYS) {
              assert.equal(pair.store.get('order_index', key), pair.get(key), key);
            }
            for (const { rows, state } of pair.held) {
              for (const key of KEYS) {
                assert.equal(state.rows.get('order_index', key), rows.get(key) ?? null, key);
              }
            }
            const all = pair.store.withPrefix('order_index', prefixOf(0), MANY);
            const order = { order: 'ascending', offset: 0, limit: MANY } as const;
            assert.deepEqual(all, pair.page(0, order), 'all of a list');
          }
        } finally {
          await pair.close();
        }
      },
    ),
    { numRuns: Number(process.env.RUNS ?? 25), includeErrorInReport: true },
  );
  assert(beyond > 0, `pages behind the end: ${beyond}`);
  assert(past > 0, `held pages that are of the past: ${past}`);
});
