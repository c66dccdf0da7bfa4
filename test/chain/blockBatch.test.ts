/** Blocks recognised together, before the fold has applied them. Replay: `{ seed, path }`. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { BlockBatch } from '../../src/chain/blockBatch.ts';
import { PendingTransactions } from '../../src/chain/pendingTransactions.ts';
import type { Block } from '../../src/chain/port.ts';
import { knownState } from '../../src/chain/recognise/knownState.ts';
import { Fold } from '../../src/engine/fold/fold.ts';
import { ENTRY_VERSION, sealEntry } from '../../src/engine/log/entry.ts';
import type { EntryDraft } from '../../src/engine/log/writer.ts';
import { StateStore } from '../../src/engine/store/state.ts';
import { inlineWriter } from '../../src/engine/store/stateWriter.ts';
import { type Scope, temporaryDirectory } from '../support/server.ts';
import { type Action, DEEDS, NO_HOLDINGS, perform } from './ogmios/busyMarket.ts';
import { RULES } from './recogniseWorld.ts';

const START_MS = Date.UTC(2026, 1, 28, 23, 57);

class Follower {
  readonly fold: Fold;
  readonly drafted: EntryDraft[] = [];
  readonly #pending: PendingTransactions;
  #seq = 0;
  #hash = '';

  constructor(scope: Scope) {
    const file = join(temporaryDirectory(scope), 'state.sqlite');
    const store = new StateStore(file, { horizonBlocks: 10, maxMb: 0, writer: inlineWriter });
    const quarantined = (pair: string) => assert.fail(`${pair} cannot be folded`);
    this.fold = new Fold(store, { maxLoadedPairs: 100, quarantined });
    this.#pending = new PendingTransactions(() => knownState(store), RULES);
    this.apply([{ timeMs: 0, payload: { kind: 'epoch', reason: 'new' } }]);
  }

  batch(): BlockBatch {
    return new BlockBatch(this.fold, RULES, this.#pending);
  }

  apply(drafts: readonly EntryDraft[]): void {
    this.drafted.push(...drafts);
    for (const draft of drafts) {
      this.#seq += 1;
      const where = { version: ENTRY_VERSION, epoch: '1-any', seq: this.#seq, term: 1 };
      const sealed = sealEntry({ ...where, prevEntryHash: this.#hash, ...draft });
      this.#hash = sealed.hash;
      this.fold.apply(sealed, new Set());
    }
  }
}

interface Plan {
  readonly actions: readonly (readonly [Action, number])[];
  readonly waitMs: number;
  /** A batch ends here. */
  readonly isLast: boolean;
}

function blocksOf(plans: readonly Plan[]): Block[] {
  let holdings = NO_HOLDINGS;
  let timeMs = START_MS;
  const launches = [['launch', 0] as const, ['launch', 1] as const];
  return plans.map(({ actions, waitMs }, at) => {
    const transactions = (at === 0 ? [...launches, ...actions] : actions).map(
      ([action, chosen]) => {
        const { tx, left } = perform(action, chosen, holdings);
        holdings = left;
        return tx;
      },
    );
    timeMs += waitMs;
    const height = at + 1;
    const point = { slot: height * 20, hash: height.toString(16).padStart(64, '0') };
    return { point, height, timeMs, transactions };
  });
}

const plan = fc.record({
  actions: fc.array(fc.tuple(fc.constantFrom(...DEEDS), fc.nat(1_000)), { maxLength: 6 }),
  waitMs: fc.nat(90_000),
  isLast: fc.boolean(),
});

test('what blocks draft does not depend on how they are split into batches', async (t) => {
  const property = fc.asyncProperty(
    fc.array(plan, { minLength: 2, maxLength: 24 }),
    async (all) => {
      const blocks = blocksOf(all);
      const [alone, together] = [new Follower(t), new Follower(t)];
      let batch = together.batch();
      for (const [at, { isLast }] of all.entries()) {
        const block = blocks[at] ?? assert.fail();
        const single = alone.batch();
        // Empty blocks that a fork can reach are drafted each by itself.
        single.add(block, false);
        alone.apply(single.drafts());
        batch.add(block, false);
        if (!isLast && at < all.length - 1) continue;
        together.apply(batch.drafts());
        batch = together.batch();
      }
      assert.deepEqual(together.drafted, alone.drafted);
      assert.deepEqual(together.fold.store.checkpoint, alone.fold.store.checkpoint);
      await Promise.all([alone.fold.store.close(), together.fold.store.close()]);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});
