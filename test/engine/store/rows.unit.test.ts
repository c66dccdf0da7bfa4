/** Rows as text. Replay: `{ seed, path }` as printed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { barKey, parseBarKey } from '../../../src/engine/store/barRows.ts';
import {
  CAUSES,
  decodeImages,
  effectsText,
  encodeImages,
  KEPT_TABLES,
  type RowChange,
  TABLES,
} from '../../../src/engine/store/rows.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((any) => !/[\t\n]/.test(any));
const value = fc.option(fc.array(text, { minLength: 1 }).map((parts) => parts.join('\t')));
const change: fc.Arbitrary<RowChange> = fc.record({
  table: fc.constantFrom(...TABLES),
  key: text,
  before: value,
  after: value,
  cause: fc.constantFrom(...CAUSES),
});

test('before-images read back as they were, in their order, of what a rollback undoes', () => {
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const images = changes
        .filter(({ table }) => !KEPT_TABLES.has(table))
        .map(({ table, key, before }) => ({ table, key, value: before }));
      assert.deepEqual(decodeImages(encodeImages(changes)), images);
    }),
    { includeErrorInReport: true },
  );
});

test('different effects have different texts', () => {
  const effects = (changes: readonly RowChange[]) =>
    changes.map(({ table, key, after }) => [table, key, after]);
  fc.assert(
    fc.property(fc.array(change, { maxLength: 4 }), fc.array(change, { maxLength: 4 }), (a, b) => {
      const same = JSON.stringify(effects(a)) === JSON.stringify(effects(b));
      assert.equal(effectsText(a) === effectsText(b), same);
    }),
    { includeErrorInReport: true },
  );
});

test('a bar key reads back as it was', () => {
  const number = fc.nat(Number.MAX_SAFE_INTEGER);
  fc.assert(
    fc.property(number, fc.nat(5), number, (pair, resolution, start) => {
      assert.deepEqual(parseBarKey(barKey(pair, resolution, start)), { pair, resolution, start });
    }),
    { includeErrorInReport: true },
  );
});
