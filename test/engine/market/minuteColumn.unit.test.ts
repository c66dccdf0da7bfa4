/** Minutes kept as text are those that were put in, and a pair holds a bounded number of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MinuteColumn } from '../../../src/engine/market/minuteColumn.ts';
import { MINUTE_MS } from '../../../src/engine/market/resolution.ts';
import {
  KEPT_MS,
  type Minute,
  MinuteWindows,
  WINDOW_MS,
} from '../../../src/engine/market/windows.ts';

const price = fc
  .tuple(fc.bigInt({ min: 0n, max: 2n ** 130n }), fc.constantFrom(1n, 7n, 2n ** 64n + 3n))
  .map(([numerator, denominator]) => ({ numerator, denominator }));

/** Prices that are equal to others of the minute, or to the close of the one before, are usual. */
const made = fc.record({
  volume: fc.bigInt({ min: 0n, max: 2n ** 80n }),
  trades: fc.integer({ min: 1, max: 1_000_000 }),
  hasPool: fc.boolean(),
  prices: fc.tuple(price, price, price, price),
  same: fc.tuple(fc.nat(2), fc.nat(2), fc.boolean()),
  lastMs: fc.nat(MINUTE_MS - 1),
});

type Made = typeof made extends fc.Arbitrary<infer T> ? T : never;

function minuteOf(startMs: number, each: Made, before: Minute | undefined): Minute {
  const { volume, trades, hasPool, prices, same, lastMs } = each;
  const [first, high, low, close] = prices;
  const open = !hasPool ? null : same[2] && before !== undefined ? before.close : first;
  const end = (own: typeof high, which: number) =>
    which === 0 ? own : which === 1 ? close : (open ?? close);
  return {
    startMs,
    volume,
    trades,
    buys: hasPool ? trades - 1 : null,
    open,
    high: end(high, same[0]),
    low: end(low, same[1]),
    close,
    lastMs: startMs + lastMs,
  };
}

const step = fc.record({
  do: fc.constantFrom('add', 'add', 'add', 'insert', 'replace', 'drop'),
  at: fc.nat(1_000),
  made,
});

test('a column answers what was put in, whatever is put in or dropped around it', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
      const column = new MinuteColumn([]);
      const plain: Minute[] = [];
      for (const next of steps) {
        const index = next.at % (plain.length + 1);
        const before = plain[index - 1];
        if (next.do === 'drop') {
          column.dropFirst(index);
          plain.splice(0, index);
        } else if (next.do === 'replace' && index < plain.length) {
          const minute = minuteOf(plain[index]?.startMs ?? 0, next.made, before);
          column.replace(index, minute);
          plain[index] = minute;
        } else {
          const place = next.do === 'add' ? plain.length : index;
          const startMs = next.at * MINUTE_MS;
          const minute = minuteOf(startMs, next.made, plain[place - 1]);
          column.insert(place, minute);
          plain.splice(place, 0, minute);
        }
        const kept = plain.map((_, each) => column.at(each));
        assert.deepEqual(kept, plain);
        for (const [each, { startMs, volume, trades, buys, close }] of plain.entries()) {
          assert.equal(column.startAt(each), startMs);
          const { volume: sum, trades: count, buys: bought } = column.sumsAt(each);
          assert.deepEqual([sum, count, bought], [volume, trades, buys]);
          assert.deepEqual(column.closeAt(each), close);
        }
        assert.equal(column.at(plain.length), undefined);
      }
    }),
    { numRuns: 300, seed: 77 },
  );
});

test('a pair that is traded each minute for days holds those of 25 hours and few more', () => {
  const spot = (index: number) => ({ numerator: BigInt(index + 1), denominator: 3n });
  const windows = new MinuteWindows([], 0, true);
  for (let index = 0; index < 4 * 1_440; index += 1) {
    const startMs = index * MINUTE_MS;
    const [open, close] = [spot(index), spot(index + 1)];
    windows.moveTo(startMs);
    const sums = { startMs, volume: 5n, trades: 2, buys: 1, lastMs: startMs + 9 };
    windows.put({ ...sums, open, high: close, low: open, close });
  }
  const most = (WINDOW_MS['24h'] + KEPT_MS) / MINUTE_MS + 66;
  assert(windows.length <= most, `${windows.length} minutes`);
  assert.deepEqual(
    [windows.sums('24h').volume, windows.sums('5m').trades, windows.sums('6h').buys],
    [1_441n * 5n, 6 * 2, 361],
  );
  assert.deepEqual(windows.dayRange(), { high: spot(4 * 1_440), low: spot(3 * 1_440 - 1) });
  assert.deepEqual(windows.before('1h'), spot(4 * 1_440 - 61));
});
