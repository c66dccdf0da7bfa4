/** Rows as text. Replay: `{ seed, path }` as printed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Trade } from '../../../src/engine/market/trade.ts';
import { barKey, parseBarKey } from '../../../src/engine/store/barRows.ts';
import {
  CHANGE_CAUSES,
  KEPT_TABLES,
  KEYED_TABLES,
  type RowChange,
  type RowImage,
  textOf,
} from '../../../src/engine/store/rows.ts';
import { CountedTrades } from '../../../src/engine/store/tradeIds.ts';
import {
  decodeRecord,
  encodeRecord,
  recordsOf,
  takeImages,
} from '../../../src/engine/store/undoRows.ts';

const PLAIN = { noNullPrototype: true } as const;
const text = fc
  .string({ unit: 'grapheme', minLength: 1 })
  .filter((any) => ['\t', '\n', '\u0002'].every((separator) => !any.includes(separator)));
const value = fc.option(fc.array(text, { minLength: 1 }).map((parts) => parts.join('\t')));
const change: fc.Arbitrary<RowChange> = fc.record({
  table: fc.constantFrom(...KEYED_TABLES),
  key: text,
  before: value,
  after: value,
  cause: fc.constantFrom(...CHANGE_CAUSES),
});
const amount = fc.bigInt({ min: 1n, max: 1n << 80n });
const ratio = fc.record({ numerator: amount, denominator: amount }, PLAIN);
const step = fc.record({ isBuy: fc.boolean(), before: ratio, after: ratio }, PLAIN);
const trade = fc
  .record({ id: text, baseAmount: amount, quoteAmount: amount, step: fc.option(step) })
  .map(({ step: done, ...amounts }) => (done === null ? amounts : { ...amounts, step: done }));
const effects = fc.record({
  seq: fc.nat(),
  atMs: fc.integer({ min: -1, max: 253_402_300_799_999 }),
  marketMs: fc.nat(),
  seenMs: fc.nat(),
  block: fc.boolean(),
  changes: fc.array(change),
  trades: fc.array(fc.tuple(fc.nat(), trade)),
});

test('the effects of an entry are read back in order for a rollback', () => {
  fc.assert(
    fc.property(fc.array(effects), fc.nat(), (entries, horizonSeq) => {
      const records = entries.map(({ trades, ...entry }) => {
        const counted = new CountedTrades();
        for (const [pair, some] of trades) counted.push(pair, { ...some, timeMs: entry.atMs });
        return encodeRecord({ ...entry, trades: counted }, horizonSeq);
      });
      const expected = entries.map(({ changes, trades, ...entry }) => {
        const images = new Map<string, RowImage>();
        for (const { table, key, before } of changes) {
          const isUndone = entry.seq > horizonSeq && !KEPT_TABLES.has(table);
          const name = `${table}\t${key}`;
          const value = before === null ? null : textOf(before);
          if (isUndone && !images.has(name)) images.set(name, { table, key, value });
        }
        const counted = trades.map(([pair, some]): { pair: number; trade: Trade } => {
          return { pair, trade: { ...some, timeMs: entry.atMs } };
        });
        return { ...entry, images: [...images.values()], trades: counted };
      });
      const found = recordsOf(records.join('')).map((record) => {
        const images = new Map<string, RowImage>();
        takeImages(record, images);
        return { ...decodeRecord(record), images: [...images.values()] };
      });
      assert.deepEqual(found, expected);
    }),
    { includeErrorInReport: true },
  );
});

test('a bar key reads back as it was', () => {
  const number = fc.nat(Number.MAX_SAFE_INTEGER);
  fc.assert(
    fc.property(number, fc.nat(5), number, (pair, resolution, start) => {
      const key = barKey(pair, resolution, start);
      assert.deepEqual(parseBarKey(key), { pair, resolution, start });
    }),
    { includeErrorInReport: true },
  );
});
