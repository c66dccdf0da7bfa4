/**
 * The state file against maps: queued, written and committed changes read as
 * one. Replay: `{ seed, path }` as printed.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { isFault } from '../../../src/engine/runtime/assert.ts';
import { type BarSlot, barKey, parseBarKey } from '../../../src/engine/store/barRows.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import type { PairWrites } from '../../../src/engine/store/pendingBars.ts';
import { CHANGE_CAUSES, type RowChange } from '../../../src/engine/store/rows.ts';
import { StateStore } from '../../../src/engine/store/state.ts';
import { inlineWriter } from '../../../src/engine/store/stateWriter.ts';
import { CountedTrades } from '../../../src/engine/store/tradeIds.ts';
import { temporaryDirectory } from '../../support/server.ts';

const FOREVER_MS = Number.MAX_SAFE_INTEGER;
const MANY = 1_000;
const MINUTE_MS = 60_000;
/** A pair that keeps nothing to itself. */
const SETTLED = { stagePending: () => {}, written: () => {} };
const OPTIONS = { horizonBlocks: 1_000, maxMb: 0, writer: inlineWriter } as const;

interface Put {
  readonly pair: number;
  readonly resolution: number;
  readonly minute: number;
  readonly value: string | null;
}

const put: fc.Arbitrary<Put> = fc.record({
  pair: fc.integer({ min: 1, max: 2 }),
  resolution: fc.nat(1),
  minute: fc.nat(4),
  value: fc.option(fc.constantFrom('a\t0', 'b\t0', 'c\t1', 'd\t1')),
});
const step = fc.oneof(
  fc.record({ puts: fc.array(put, { minLength: 1, maxLength: 4 }) }),
  fc.constantFrom('commit' as const, 'beside', 'reopen'),
);

interface Row {
  readonly start: number;
  readonly seq: number;
  readonly value: string | null;
}

/** Bars of two pairs, as the store should show them. */
class Mirror {
  readonly rows = new Map<string, Row>();
  seq = 0;

  put(puts: readonly Put[]): BarSlot[] {
    this.seq += 1;
    const byKey = new Map(puts.map((one) => [keyOf(one), one]));
    return [...byKey].map(([key, { minute, value }]) => {
      this.rows.set(key, { start: minute * MINUTE_MS, seq: this.seq, value });
      // As the fold does: by rollback, final bars return and later bars vanish.
      const cause = CHANGE_CAUSES[3];
      return { ...parseBarKey(key), value, seq: this.seq, cause };
    });
  }

  of(pair: number, resolution: number): Row[] {
    const prefix = `${pair}:${resolution}:`;
    return [...this.rows].filter(([key]) => key.startsWith(prefix)).map(([, row]) => row);
  }
}

function keyOf({ pair, resolution, minute }: Put): string {
  return barKey(pair, resolution, minute * MINUTE_MS);
}

function compare(store: StateStore, mirror: Mirror): void {
  const plain = ({ start, seq, value }: Row) => ({ start, seq, value });
  for (const pair of [1, 2]) {
    for (const [index, resolution] of (['min1', 'min5'] as const).entries()) {
      const rows = mirror.of(pair, index);
      const shown = rows.filter(({ value }) => value !== null).sort((a, b) => b.start - a.start);
      const all = store.bars(pair, index, 0, FOREVER_MS, MANY).map(plain);
      assert.deepEqual(all, shown, 'all bars');
      const part = store.bars(pair, index, MINUTE_MS, 4 * MINUTE_MS, 2).map(plain);
      const inside = ({ start }: Row) => start >= MINUTE_MS && start < 4 * MINUTE_MS;
      assert.deepEqual(part, shown.filter(inside).slice(0, 2), 'the newest two of a span');
      for (let { horizonSeq: seq } = store; seq <= mirror.seq; seq += 1) {
        const changed = rows
          .filter((row) => row.seq > seq)
          .sort((a, b) => a.seq - b.seq || a.start - b.start);
        const since = (limit: number) => store.barsChangedSince(pair, resolution, seq, limit);
        assert.deepEqual(since(MANY).map(plain), changed, `changed since ${seq}`);
        const oldest = changed.slice(0, 3).map((row) => row.seq);
        assert.deepEqual(
          since(3).map((row) => row.seq),
          oldest,
        );
      }
      for (const row of rows) {
        const one = store.bar(pair, index, row.start);
        // Tombstones that the horizon has passed may be gone.
        if (one === null) assert.ok(row.value === null && row.seq <= store.horizonSeq);
        else assert.deepEqual(plain(one), row, 'one bar');
      }
    }
  }
}

test('bars read the same while they wait, while they are written, and after', async (scope) => {
  const directory = temporaryDirectory(scope);
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      runs += 1;
      const file = join(directory, `${runs}.sqlite`);
      let store = new StateStore(file, OPTIONS);
      const mirror = new Mirror();
      for (const next of steps) {
        if (typeof next === 'object') stage(store, [], mirror.seq + 1, mirror.put(next.puts));
        else if (next === 'commit') await store.commit();
        else if (next === 'beside') await readBeside(store, mirror);
        else {
          await store.commit();
          await store.close();
          store = new StateStore(file, OPTIONS);
          assert.equal(store.checkpoint?.seq ?? 0, mirror.seq);
        }
        compare(store, mirror);
      }
      await store.close();
    }),
    { includeErrorInReport: true, numRuns: Number(process.env.RUNS ?? 40) },
  );
});

async function readBeside(store: StateStore, mirror: Mirror): Promise<void> {
  const committing = store.commit();
  compare(store, mirror);
  await committing;
}

function stage(
  store: StateStore,
  changes: readonly RowChange[],
  seq: number,
  bars: readonly BarSlot[] = [],
): void {
  for (const slot of bars) store.writesOfPair(slot.pair, SETTLED).put(slot);
  const trades = new CountedTrades();
  const hashes = { entryHash: `entry ${seq}`, stateHash: `state ${seq}`, hashedSeq: seq };
  const checkpoint = {
    epoch: '1-test',
    seq,
    term: 1,
    ...hashes,
    marketMs: 0,
    openedMs: 0,
    seenMs: 0,
  };
  store.stage({ checkpoint, block: true, atMs: seq, changes, trades, streamChanges: [] });
}

test('closing without a commit leaves what was committed', async (scope) => {
  const file = join(temporaryDirectory(scope), 'state.sqlite');
  const store = new StateStore(file, OPTIONS);
  const change = { table: 'feeds', key: 'f', before: null, after: '1', cause: 'trade' } as const;
  stage(store, [change], 1);
  await store.commit();
  stage(store, [{ ...change, before: '1', after: '2' }], 2);
  assert.equal(store.get('feeds', 'f'), '2');
  await store.close();
  const again = new StateStore(file, OPTIONS);
  assert.equal(again.checkpoint?.seq, 1);
  assert.equal(again.get('feeds', 'f'), '1');
  await again.close();
});

test('the horizon keeps one point more than blocks, and never goes back', async (scope) => {
  const file = join(temporaryDirectory(scope), 'state.sqlite');
  const options = { ...OPTIONS, horizonBlocks: 3 };
  let store = new StateStore(file, options);
  for (let seq = 1; seq <= 10; seq += 1) stage(store, [], seq);
  assert.equal(store.horizonSeq, 7);
  await store.commit();
  store.restore(8, [], [], 11);
  assert.equal(store.horizonSeq, 7, 'undone blocks do not bring older ones back');
  assert.equal(store.pointAtOrBefore(6), null);
  assert.equal(store.pointAtOrBefore(7)?.seq, 7);
  assert.equal(store.points.newest?.seq, 8);
  stage(store, [], 11);
  await store.commit();
  await store.close();
  store = new StateStore(file, options);
  assert.equal(store.horizonSeq, 7);
  assert.equal(store.points.newest?.seq, 11);
  await store.close();
});

test('a refused commit keeps all that waited, and what came meanwhile', async (scope) => {
  const file = join(temporaryDirectory(scope), 'state.sqlite');
  const ballast = openDatabase(file, { synchronous: 'NORMAL', maxMb: 0 });
  ballast.exec('CREATE TABLE ballast (bytes BLOB)');
  ballast.exec('INSERT INTO ballast (bytes) VALUES (zeroblob(800000))');
  const store = new StateStore(file, { ...OPTIONS, maxMb: 1 });
  const feed = (key: string) =>
    ({ table: 'feeds', key, before: 'b', after: 'x'.repeat(300_000), cause: 'trade' }) as const;
  stage(store, [], 1);
  stage(store, [feed('waited')], 2);
  const refused = assert.rejects(store.commit(), /full/);
  stage(store, [feed('meanwhile')], 3);
  await refused;
  await assert.rejects(store.commit(), /full/);
  ballast.exec('DROP TABLE ballast');
  ballast.close();
  assert.ok((await store.commit()) >= 4);
  assert.deepEqual(
    store.imagesAfter(1).map(({ key }) => key),
    ['waited', 'meanwhile'],
  );
  await store.close();
  const again = new StateStore(file, OPTIONS);
  assert.equal(again.checkpoint?.seq, 3);
  assert.deepEqual(
    again.all('feeds').map(({ key }) => key),
    ['meanwhile', 'waited'],
  );
  await again.close();
});

test('a pair hears once that its bars are written, and keeps no commit', async (scope) => {
  const store = new StateStore(join(temporaryDirectory(scope), 'state.sqlite'), OPTIONS);
  const heard: PairWrites[] = [];
  const owner = {
    stagePending: () => {},
    written: (staged: PairWrites) => void heard.push(staged),
  };
  const staged = store.writesOfPair(1, owner);
  stage(store, [], 1);
  assert.deepEqual(heard, []);
  await store.commit();
  assert.deepEqual(heard, [staged]);
  stage(store, [], 2);
  await store.commit();
  assert.deepEqual(heard, [staged], 'once');
  await store.close();
});

test('a file of another version is refused', async (scope) => {
  const file = join(temporaryDirectory(scope), 'state.sqlite');
  const database = openDatabase(file, { synchronous: 'NORMAL', maxMb: 0 });
  database.pragma('user_version = 99');
  database.close();
  assert.throws(
    () => new StateStore(file, OPTIONS),
    (error) => isFault(error, 'otherStateVersion') && /version 99/.test(error.message),
  );
});

test('a failure within joint reads leaves no transaction open', async (scope) => {
  const file = join(temporaryDirectory(scope), 'state.sqlite');
  const store = new StateStore(file, OPTIONS);
  const failing = () => {
    throw new Error('in between');
  };
  assert.throws(() => store.atOnce(failing), /in between/);
  const twice = store.atOnce(() => store.atOnce(() => store.get('market', 'tip')));
  assert.equal(twice, null);
  await store.close();
});
