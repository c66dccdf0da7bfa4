/** Deep pages of a list equal the pages that the database finds by counting every row. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { ListMarks } from '../../../src/api/orders/listMarks.ts';
import type { RowChange } from '../../../src/engine/store/rows.ts';
import { StateStore } from '../../../src/engine/store/state.ts';
import { inlineWriter } from '../../../src/engine/store/stateWriter.ts';
import { CountedTrades } from '../../../src/engine/store/tradeIds.ts';
import { temporaryDirectory } from '../../support/server.ts';

const LIST = 'token/ab';

/** A list that grows at its end and is rolled back there. */
class GrowingList {
  readonly store: StateStore;
  keys: string[] = [];
  #seq = 0;
  #made = 0;

  constructor() {
    const file = join(temporaryDirectory(), 'state.sqlite');
    this.store = new StateStore(file, { horizonBlocks: 100, maxMb: 0, writer: inlineWriter });
  }

  grow(count: number): void {
    const added = Array.from({ length: count }, () => {
      this.#made += 1;
      // In order, and not the same ones after a rollback.
      return `${LIST}/${String(this.#made).padStart(8, '0')}`;
    });
    this.#stage(added.map((key) => changeOf(key, `of ${key}`)));
    this.keys.push(...added);
  }

  async undo(count: number): Promise<void> {
    await this.store.commit();
    const gone = this.keys.splice(Math.max(0, this.keys.length - count));
    const rows = gone.map((key) => changeOf(key, null));
    this.store.restore(this.#seq, rows, [], this.#seq + 1);
    this.#stage([]);
  }

  #stage(changes: readonly RowChange[]): void {
    this.#seq += 1;
    const times = { marketMs: this.#seq, openedMs: this.#seq, seenMs: 0 };
    const hashes = { entryHash: '', stateHash: '', hashedSeq: 0 };
    const checkpoint = { epoch: '1', seq: this.#seq, term: 1, ...hashes, ...times };
    const nothing = { trades: new CountedTrades(), streamChanges: [] };
    this.store.stage({ checkpoint, block: true, atMs: this.#seq, changes, ...nothing });
  }
}

function changeOf(key: string, after: string | null): RowChange {
  return { table: 'order_index', key, before: null, after, cause: 'trade' };
}

const step = fc.oneof(
  fc.record({ do: fc.constant('grow' as const), count: fc.integer({ min: 1, max: 700 }) }),
  fc.record({ do: fc.constant('undo' as const), count: fc.integer({ min: 1, max: 500 }) }),
  fc.record({ do: fc.constant('commit' as const) }),
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('page' as const),
      /** Place, as a share of a thousand. */
      place: fc.integer({ min: 0, max: 999 }),
      limit: fc.integer({ min: 1, max: 100 }),
    }),
  },
);

test('a page is what counting finds, after new orders and rollbacks', async () => {
  let far = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      const list = new GrowingList();
      const marks = new ListMarks(list.store);
      list.grow(1_500);
      for (const each of steps) {
        if (each.do === 'grow') list.grow(each.count);
        else if (each.do === 'undo') await list.undo(each.count);
        else if (each.do === 'commit') await list.store.commit();
        else {
          const count = list.keys.length;
          const offset = Math.floor((each.place * count) / 1_000);
          const found = marks.page(LIST, count, offset, each.limit).map(({ key }) => key);
          const expected = list.keys.toReversed().slice(offset, offset + each.limit);
          assert.deepEqual(found, expected, `${each.limit} of ${count} behind ${offset}`);
          if (offset > 600) far += 1;
        }
      }
      await list.store.close();
    }),
    { numRuns: 12 },
  );
  assert(far > 20, `${far} pages were far down`);
});
