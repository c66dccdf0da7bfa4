/** Blocks recognised while the fold applies those before them. Replay: `{ seed, path }`. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { BlockBatch } from '../../src/chain/blockBatch.ts';
import { PendingTransactions } from '../../src/chain/pendingTransactions.ts';
import type { Block } from '../../src/chain/port.ts';
import { foldMarket } from '../../src/chain/recognise/knownMarket.ts';
import { Fold } from '../../src/engine/fold/fold.ts';
import { ENTRY_VERSION, sealEntry } from '../../src/engine/log/entry.ts';
import type { EntryDraft } from '../../src/engine/log/writer.ts';
import { StateStore } from '../../src/engine/store/state.ts';
import { inlineWriter } from '../../src/engine/store/stateWriter.ts';
import { type Scope, temporaryDirectory } from '../support/server.ts';
import { DEEDS, type Deed, NO_HOLDINGS, perform } from './ogmios/busyMarket.ts';
import { RULES } from './recogniseWorld.ts';

const START_MS = Date.UTC(2026, 1, 28, 23, 57);

class Follower {
  readonly fold: Fold;
  readonly drafted: EntryDraft[] = [];
  readonly #pending: PendingTransactions;
  /** Drafted, not applied yet. */
  #waiting: EntryDraft[] = [];
  #seq = 0;
  #hash = '';

  constructor(scope: Scope) {
    const file = join(temporaryDirectory(scope), 'state.sqlite');
    const store = new StateStore(file, { horizonBlocks: 10, maxMb: 0, writer: inlineWriter });
    const quarantined = (pair: string) => assert.fail(`${pair} cannot be folded`);
    this.fold = new Fold(store, { maxLoadedPools: 100, quarantined });
    this.#pending = new PendingTransactions(() => foldMarket(store), RULES);
    this.#waiting = [{ timeMs: 0, payload: { kind: 'epoch', reason: 'new' } }];
    this.apply();
  }

  batchAfter(before: BlockBatch | null): BlockBatch {
    return new BlockBatch(this.fold, RULES, this.#pending, before);
  }

  take(batch: BlockBatch): void {
    this.#waiting = [...batch.drafts()];
    this.drafted.push(...this.#waiting);
  }

  /** So many of those that wait. */
  apply(most = Number.POSITIVE_INFINITY): void {
    for (let count = 0; count < most; count += 1) {
      const draft = this.#waiting.shift();
      if (draft === undefined) return;
      this.#seq += 1;
      const where = { version: ENTRY_VERSION, epoch: '1-any', seq: this.#seq, term: 1 };
      const sealed = sealEntry({ ...where, prevEntryHash: this.#hash, ...draft });
      this.#hash = sealed.hash;
      this.fold.apply(sealed, new Set());
    }
  }
}

interface Plan {
  readonly deeds: readonly (readonly [Deed, number])[];
  readonly waitMs: number;
  readonly isDeep: boolean;
  /** A batch ends here. */
  readonly isLast: boolean;
  /** Entries of the batch before that are applied meanwhile. */
  readonly applied: number;
}

function blocksOf(plans: readonly Plan[]): Block[] {
  let holdings = NO_HOLDINGS;
  let timeMs = START_MS;
  const launches = [['launch', 0] as const, ['launch', 1] as const];
  return plans.map(({ deeds, waitMs }, at) => {
    const transactions = (at === 0 ? [...launches, ...deeds] : deeds).map(([deed, chosen]) => {
      const { tx, left } = perform(deed, chosen, holdings);
      holdings = left;
      return tx;
    });
    timeMs += waitMs;
    const height = at + 1;
    const point = { slot: height * 20, hash: height.toString(16).padStart(64, '0') };
    return { point, height, timeMs, transactions };
  });
}

const plan = fc.record({
  deeds: fc.array(fc.tuple(fc.constantFrom(...DEEDS), fc.nat(1_000)), { maxLength: 6 }),
  waitMs: fc.nat(90_000),
  isDeep: fc.boolean(),
  isLast: fc.boolean(),
  applied: fc.nat(4),
});

test('what a batch drafts does not depend on whether the one before it is applied', async (t) => {
  const property = fc.asyncProperty(
    fc.array(plan, { minLength: 2, maxLength: 24 }),
    async (all) => {
      const blocks = blocksOf(all);
      const [waits, beside] = [new Follower(t), new Follower(t)];
      let [waiting, other] = [waits.batchAfter(null), beside.batchAfter(null)];
      for (const [at, { isDeep, isLast, applied }] of all.entries()) {
        const block = blocks[at] ?? assert.fail();
        waiting.add(block, isDeep);
        beside.apply(applied);
        other.add(block, isDeep);
        if (!isLast && at < all.length - 1) continue;
        waits.take(waiting);
        waits.apply();
        waiting = waits.batchAfter(null);
        beside.apply();
        other.beforeApplied();
        beside.take(other);
        other = beside.batchAfter(other);
      }
      beside.apply();
      assert.deepEqual(beside.drafted, waits.drafted);
      assert.deepEqual(beside.fold.store.checkpoint, waits.fold.store.checkpoint);
      await Promise.all([waits.fold.store.close(), beside.fold.store.close()]);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});
