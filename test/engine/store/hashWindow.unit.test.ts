/** What a state hash covers, and where it is taken. Replay: `{ seed, path }` as printed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Payload } from '../../../src/engine/log/entry.ts';
import { type Bar, firstBar } from '../../../src/engine/market/bar.ts';
import { STORED_RESOLUTION_IDS } from '../../../src/engine/market/resolution.ts';
import { type BarSlot, barKey, barText } from '../../../src/engine/store/barRows.ts';
import { type EndedBar, HashWindow, isHashedAt } from '../../../src/engine/store/hashWindow.ts';
import { type RowChange, type RowValue, textOf } from '../../../src/engine/store/rows.ts';

const row = fc
  .record({ table: fc.constantFrom('feeds', 'pairs'), key: fc.nat(3), after: fc.option(fc.nat(2)) })
  .map(({ table, key, after }): RowChange => {
    return { ...{ table, before: null, cause: 'trade' }, key: `k${key}`, after: texts(after) };
  });
/** Those that start early are final: only a rollback takes that back. */
const bar = fc
  .record({ start: fc.nat(3), resolution: fc.nat(5), id: fc.nat(2) })
  .map(({ start, resolution, id }): BarSlot => {
    return { pair: 1, resolution, start, value: of(id, start < 2), seq: 1, cause: 'trade' };
  });
const entry = fc.record({
  changes: fc.array(row, { maxLength: 4 }),
  bars: fc.array(bar, { maxLength: 4 }),
  restarts: fc.boolean(),
});

function texts(value: number | null): string | null {
  return value === null ? null : String(value);
}

function of(id: number, final: boolean): Bar {
  const trade = { id: String(id), timeMs: id, baseAmount: 1n, quoteAmount: 2n };
  return { ...firstBar(0, trade), final };
}

/** Those with an id above 200 have none. */
function endedBars(pair: number, seq: number): EndedBar[] {
  return pair > 200 ? [] : [{ pair, resolution: 0, start: seq, value: of(pair % 3, true) }];
}

test('a hash is the same wherever the rows were committed and the node restarted', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 8 }), (entries) => {
      const whole = new HashWindow();
      let broken = new HashWindow();
      const stored = new Map<string, RowValue | null>();
      for (const { changes, bars, restarts } of entries) {
        whole.add(changes, bars);
        broken.add(changes, bars);
        for (const { table, key, after } of changes) stored.set(`${table} ${key}`, after);
        for (const { pair, resolution, start, value } of bars)
          stored.set(`bars ${barKey(pair, resolution, start)}`, barText(value));
        if (!restarts) continue;
        const names = broken.names();
        broken = new HashWindow();
        broken.resume(names, (table, key) => {
          const value = stored.get(`${table} ${key}`) ?? null;
          return value === null ? null : textOf(value);
        });
      }
      assert.equal(broken.take('before'), whole.take('before'));
      assert.equal(whole.names(), '', 'the next hash begins without rows');
    }),
    { includeErrorInReport: true },
  );
});

const ending = fc.record({
  pairs: fc.uniqueArray(fc.integer({ min: 1, max: 200 }), { maxLength: 40 }),
  entries: fc.nat(70),
  restarts: fc.boolean(),
  undone: fc.boolean(),
});

test('each bar that ended is covered once within 64 entries, wherever the node restarted', () => {
  fc.assert(
    fc.property(fc.array(ending, { maxLength: 5 }), (endings) => {
      const whole = new HashWindow();
      let broken = new HashWindow();
      const covered: string[] = [];
      const expected: string[] = [];
      const cover = (...both: [HashWindow, HashWindow]) => {
        const asked: string[] = [];
        both[0].coverEnds((pair, seq) => {
          asked.push(`${seq} ${pair}`);
          return endedBars(pair, seq);
        });
        assert.ok(asked.length <= 16 * endings.length, 'an entry covers a part of the pairs');
        covered.push(...asked);
        both[1].coverEnds(endedBars);
      };
      let seq = 0;
      for (const { pairs, entries, restarts, undone } of endings) {
        seq += 1;
        whole.addEnds(seq, new Set(pairs), 200);
        // What is too many has no bar that this entry ended.
        broken.addEnds(seq, new Set([...pairs, 201, 202]), 200);
        if (undone) for (const window of [whole, broken]) window.forgetEndsAfter(seq - 1);
        else for (const pair of pairs) expected.push(`${seq} ${pair}`);
        for (let count = 0; count < entries; count += 1, seq += 1) cover(whole, broken);
        if (!restarts) continue;
        const names = broken.names();
        broken = new HashWindow();
        broken.resume(names, () => null);
      }
      for (let count = 0; count < 64; count += 1) cover(whole, broken);
      assert.deepEqual(covered.sort(), expected.sort());
      assert.equal(broken.take('before'), whole.take('before'));
      assert.equal(whole.names(), '', 'all of them are covered');
    }),
    { includeErrorInReport: true },
  );
});

test('a hash tells any two values of a row apart, and what was before it', () => {
  const window = new HashWindow();
  const take = (changes: readonly RowChange[], bars: readonly BarSlot[], previous = '') => {
    window.add(changes, bars);
    return window.take(previous);
  };
  const change = { table: 'feeds', key: 'f', before: null, cause: 'trade' } as const;
  const { hour1: resolution } = STORED_RESOLUTION_IDS;
  const hour = { pair: 1, resolution, start: 0, seq: 1, cause: 'trade' } as const;
  const open = { ...hour, value: of(1, false) };
  const hashes = [
    take([], []),
    take([], [], 'other'),
    take([{ ...change, after: '1' }], []),
    take([{ ...change, after: '2' }], []),
    take([{ ...change, after: null }], []),
    take([], [{ ...hour, value: of(1, true) }]),
    take([], [{ ...hour, value: of(2, true) }]),
    take([], [{ ...open, cause: 'rollback' }]),
    take([], [{ ...hour, value: null, cause: 'rollback' }]),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
  assert.equal(take([], [open]), hashes[0], 'an open bar waits until it is final');
  const ended = [1, 2].map((id) => {
    window.addEnds(1, new Set([1]), 1);
    window.coverEnds(() => [{ ...hour, value: of(id, true) }]);
    return window.take('');
  });
  assert.equal(new Set([...ended, ...hashes]).size, hashes.length + 2, 'nor two of an ended bar');
});

test('a block that a fork can reach, and every 64th entry, is a position of a hash', () => {
  const feed = { kind: 'block', atMs: 0, trades: [] } as const;
  const chain = { slot: 1, hash: '', height: 1, events: [], settled: [], dropped: [] };
  const always: Payload[] = [
    { ...feed, chain },
    { kind: 'passed', atMs: 0, slot: 1, hash: '', height: 1, blocks: 1 },
    { kind: 'rollback', toSeq: 1 },
    { kind: 'epoch', reason: 'new' },
  ];
  const rarely: Payload[] = [
    feed,
    { ...feed, chain: { ...chain, isDeep: true } },
    { kind: 'time', phase: 'end' },
    { kind: 'leader', node: 'a' },
  ];
  const hashed = (payload: Payload) =>
    Array.from({ length: 130 }, (_, seq) => seq).filter((seq) => isHashedAt(seq, payload));
  for (const payload of always) assert.equal(hashed(payload).length, 130, payload.kind);
  for (const payload of rarely) assert.deepEqual(hashed(payload), [0, 64, 128], payload.kind);
});
