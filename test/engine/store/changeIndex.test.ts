/**
 * Changes since a position, and pages of them, against a map of last changes: for rows that wait,
 * are being written or are committed, over rollbacks and restarts. Replay: `{ seed, path }` as
 * printed.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { changePage, type IndexedChange } from '../../../src/engine/store/changeIndex.ts';
import { type StateOptions, StateStore } from '../../../src/engine/store/state.ts';
import { inlineWriter, threadWriter } from '../../../src/engine/store/stateWriter.ts';
import { CountedTrades } from '../../../src/engine/store/tradeIds.ts';
import { temporaryDirectory } from '../../support/server.ts';

const MANY = 1_000_000;
const SCOPES = ['orders:a', 'orders:b'] as const;

interface Change {
  readonly scope: number;
  readonly ref: number;
}
type Step =
  | { readonly do: 'entry'; readonly changes: readonly Change[]; readonly block: boolean }
  | { readonly do: 'many'; readonly scope: number; readonly from: number; readonly count: number }
  | { readonly do: 'rollback'; readonly blocks: number; readonly changes: readonly Change[] }
  | { readonly do: 'commit' | 'beside' | 'reopen' };

const change: fc.Arbitrary<Change> = fc.record({ scope: fc.nat(1), ref: fc.nat(12) });
const changes = fc.array(change, { maxLength: 6 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('entry' as const), changes, block: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('many' as const),
      scope: fc.nat(1),
      from: fc.nat(900),
      count: fc.constantFrom(40, 499, 500, 501, 700),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('rollback' as const), blocks: fc.nat(2), changes }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('commit' as const, 'beside') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
);

/** A store, and the last change of everything, the plain way. */
class Pair {
  readonly #file = join(temporaryDirectory(), 'state.sqlite');
  readonly #options: StateOptions;
  readonly #last = new Map<string, IndexedChange>();
  #blocks: number[] = [];
  #beside: Promise<unknown> = Promise.resolve();
  store: StateStore;
  seq = 0;

  constructor(horizonBlocks: number, writer: StateOptions['writer']) {
    this.#options = { horizonBlocks, maxMb: 0, writer };
    this.store = new StateStore(this.#file, this.#options);
  }

  async perform(next: Step): Promise<void> {
    if (next.do === 'entry') this.#stage(next.changes, next.block, false);
    else if (next.do === 'many') {
      const { from, count, scope } = next;
      const all = Array.from({ length: count }, (_, at) => ({ scope, ref: from + at }));
      this.#stage(all, true, false);
    } else if (next.do === 'rollback') await this.#rollBack(next.blocks, next.changes);
    else if (next.do === 'commit') await this.store.commit();
    // Written while more is staged.
    else if (next.do === 'beside') this.#beside = this.store.commit();
    else await this.#reopen();
  }

  async close(): Promise<void> {
    await this.#beside;
    await this.store.close();
  }

  /** Newest last; of one scope, after `seq`. */
  since(scope: string, seq: number): IndexedChange[] {
    return [...this.#last.values()]
      .filter((change) => change.scope === scope && change.seq > seq)
      .sort((a, b) => a.seq - b.seq || (a.ref < b.ref ? -1 : 1));
  }

  async #reopen(): Promise<void> {
    await this.store.commit();
    await this.store.close();
    this.store = new StateStore(this.#file, this.#options);
  }

  async #rollBack(blocks: number, changed: readonly Change[]): Promise<void> {
    await this.store.commit();
    const left = this.#blocks.slice(0, Math.max(0, this.#blocks.length - blocks));
    const toSeq = left.at(-1) ?? 0;
    if (blocks === 0 || toSeq < this.store.horizonSeq) return;
    this.#blocks = left;
    this.store.restore(toSeq, [], [], this.seq + 1);
    this.#stage(changed, false, true);
  }

  #stage(some: readonly Change[], block: boolean, undone: boolean): void {
    this.seq += 1;
    const { seq } = this;
    const streamChanges = some.map(({ scope: at, ref: index }) => {
      const [scope, ref] = [SCOPES[at] ?? '', `ref ${String(index).padStart(4, '0')}`];
      return { scope, ref, about: `of ${index}`, undone };
    });
    for (const { scope, ref, about } of streamChanges) {
      const key = `${scope} ${ref}`;
      const undoneSeq = undone ? seq : (this.#last.get(key)?.undoneSeq ?? 0);
      this.#last.set(key, { scope, ref, about, seq, undoneSeq });
    }
    const checkpoint = { epoch: '1-a', seq, term: 1, entryHash: '', stateHash: '' };
    const times = { hashedSeq: 0, marketMs: seq, openedMs: 0, seenMs: 0 };
    if (block) this.#blocks.push(seq);
    const rest = { block, atMs: seq, changes: [], trades: new CountedTrades(), streamChanges };
    this.store.stage({ checkpoint: { ...checkpoint, ...times }, ...rest });
  }
}

function compare(pair: Pair): void {
  const { store } = pair;
  const horizon = store.horizonSeq;
  const asked = [horizon, horizon + 1, pair.seq - 2, pair.seq - 1, pair.seq];
  for (const scope of SCOPES) {
    for (const seq of asked.filter((each) => each >= horizon)) {
      const expected = pair.since(scope, seq);
      const known = (change: IndexedChange | undefined) => change && { ...change, undoneSeq: 0 };
      for (const limit of [1, 3, 501, MANY]) {
        const found = store.changedSince(scope, seq, limit);
        assert.deepEqual(found.map(known), expected.slice(0, limit).map(known), `${limit}`);
        // Rollbacks before the given position need not be reported.
        for (const [at, { undoneSeq }] of found.entries()) {
          const truth = expected[at]?.undoneSeq ?? 0;
          assert.equal(Math.max(undoneSeq, seq), Math.max(truth, seq), 'the last rollback');
        }
      }
      comparePages(pair, scope, seq);
    }
  }
}

/** Page after page: every entry whole, none twice, none left out. */
function comparePages({ store, seq: applied }: Pair, scope: string, from: number): void {
  const told: IndexedChange[] = [];
  let complete = from;
  do {
    const asked = complete;
    const page = changePage(applied, (limit) => store.changedSince(scope, asked, limit));
    assert(page.completeTo > asked || page.completeTo === applied, 'pages come to an end');
    for (const { seq } of page.changes) assert(seq > asked && seq <= page.completeTo);
    const isOneEntry = new Set(page.changes.map(({ seq }) => seq)).size <= 1;
    assert(page.changes.length <= 500 || isOneEntry, 'bounded, but for a single entry');
    told.push(...page.changes);
    complete = page.completeTo;
  } while (complete < applied);
  assert.deepEqual(
    told.map(({ ref, seq }) => `${seq} ${ref}`),
    store.changedSince(scope, from, MANY).map(({ ref, seq }) => `${seq} ${ref}`),
  );
}

test('changes since a position are exact, page by page, for staged and stored rows', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(3, 2160),
      fc.constantFrom(inlineWriter, threadWriter),
      fc.array(step, { minLength: 3, maxLength: 25 }),
      async (...run) => {
        const [horizonBlocks, writer, steps] = run;
        const pair = new Pair(horizonBlocks, writer);
        try {
          for (const each of steps) {
            await pair.perform(each);
            compare(pair);
          }
        } finally {
          await pair.close();
        }
      },
    ),
    { numRuns: Number(process.env.RUNS ?? 12), includeErrorInReport: true },
  );
});
