/** Rows as text. Replay: `{ seed, path }` as printed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { firstBar } from '../../../src/engine/market/bar.ts';
import { encodeBar } from '../../../src/engine/market/barText.ts';
import {
  type BarChange,
  barKey,
  barPlace,
  parseBarKey,
} from '../../../src/engine/store/barRows.ts';
import {
  CAUSES,
  KEPT_TABLES,
  KEYED_TABLES,
  type RowChange,
} from '../../../src/engine/store/rows.ts';
import { decodeImages, encodeImages } from '../../../src/engine/store/undoRows.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((any) => !/[\t\n]/.test(any));
const value = fc.option(fc.array(text, { minLength: 1 }).map((parts) => parts.join('\t')));
const change: fc.Arbitrary<RowChange> = fc.record({
  table: fc.constantFrom(...KEYED_TABLES),
  key: text,
  before: value,
  after: value,
  cause: fc.constantFrom(...CAUSES),
});
const amount = fc.bigInt({ min: 1n, max: 1n << 80n });
const bar = fc
  .record({ id: text, timeMs: fc.nat(), baseAmount: amount, quoteAmount: amount })
  .map((trade) => firstBar(0, trade));
const barValue = fc.oneof(value, bar);
const barChange: fc.Arbitrary<BarChange> = fc.record({
  place: fc.tuple(fc.nat(), fc.nat(5), fc.nat()).map((at) => barPlace(...at)),
  before: barValue,
  after: barValue,
  cause: fc.constantFrom(...CAUSES),
});

test('before-images read back as they were, in their order, of what a rollback undoes', () => {
  fc.assert(
    fc.property(fc.array(change), fc.array(barChange), (changes, bars) => {
      const images = changes
        .filter(({ table }) => !KEPT_TABLES.has(table))
        .map(({ table, key, before }) => ({ table, key, value: before }));
      const ofBars = bars.map(({ place, before }) => {
        const isText = typeof before === 'string' || before === null;
        return { table: 'bars', key: place.key, value: isText ? before : encodeBar(before) };
      });
      assert.deepEqual(decodeImages(encodeImages(changes, bars)), [...images, ...ofBars]);
    }),
    { includeErrorInReport: true },
  );
});

test('a bar key reads back as it was', () => {
  const number = fc.nat(Number.MAX_SAFE_INTEGER);
  fc.assert(
    fc.property(number, fc.nat(5), number, (pair, resolution, start) => {
      const key = barKey(pair, resolution, start);
      assert.deepEqual(parseBarKey(key), { pair, resolution, start, key });
    }),
    { includeErrorInReport: true },
  );
});
