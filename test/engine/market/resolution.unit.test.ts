/** Intervals: known calendars, and that they tile time. Replay: `{ seed, path }` as printed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  CHART_RESOLUTIONS,
  type ChartResolution,
  INNER_RESOLUTIONS,
  intervalEnd,
  intervalStart,
  MAX_TIME_MS,
  RESOLUTIONS,
  STORED_RESOLUTION_IDS,
  storedPart,
  storedResolution,
} from '../../../src/engine/market/resolution.ts';

const anyTime = fc.integer({ min: 0, max: MAX_TIME_MS });
const anyResolution = fc.constantFrom(...RESOLUTIONS);

function startOf(resolution: (typeof RESOLUTIONS)[number], moment: string): string {
  return new Date(intervalStart(resolution, Date.parse(moment))).toISOString();
}

test('stored ids of resolutions are unique and stay what files on disk hold', () => {
  const { min1, min5, hour1, day1, week1, month1 } = STORED_RESOLUTION_IDS;
  assert.deepEqual([min1, min5, hour1, day1, week1, month1], [0, 1, 2, 3, 4, 5]);
  const ids = RESOLUTIONS.map((resolution) => STORED_RESOLUTION_IDS[resolution]);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual(ids.map(storedResolution), [...RESOLUTIONS]);
  assert.equal(storedResolution(99), null);
});

test('a moment lies in its interval: start ≤ t < end', () => {
  fc.assert(
    fc.property(anyResolution, anyTime, (resolution, timeMs) => {
      const startMs = intervalStart(resolution, timeMs);
      assert.ok(startMs <= timeMs && timeMs < intervalEnd(resolution, startMs));
    }),
    { includeErrorInReport: true, numRuns: 2_000 },
  );
});

test('intervals tile time: where one ends the next begins, and starts are fixed points', () => {
  fc.assert(
    fc.property(anyResolution, anyTime, (resolution, timeMs) => {
      const startMs = intervalStart(resolution, timeMs);
      const endMs = intervalEnd(resolution, startMs);
      assert.equal(intervalStart(resolution, startMs), startMs);
      assert.equal(intervalStart(resolution, endMs), endMs);
      assert.equal(intervalStart(resolution, endMs - 1), startMs);
      assert.equal(intervalEnd(resolution, intervalStart(resolution, startMs - 1)), startMs);
    }),
    { includeErrorInReport: true, numRuns: 2_000 },
  );
});

test('each interval lies whole in one of the resolution that names it as an inner one', () => {
  const parts: readonly (readonly [ChartResolution, ChartResolution])[] = [
    ...RESOLUTIONS.map((name) => [INNER_RESOLUTIONS[name] ?? name, name] as const),
    ...CHART_RESOLUTIONS.map((name) => [storedPart(name), name] as const),
  ];
  assert.deepEqual(
    RESOLUTIONS.filter((name) => INNER_RESOLUTIONS[name] === null),
    ['min1'],
  );
  fc.assert(
    fc.property(fc.constantFrom(...parts), anyTime, ([fine, coarse], timeMs) => {
      const startMs = intervalStart(fine, timeMs);
      const lastMs = intervalEnd(fine, startMs) - 1;
      assert.equal(intervalStart(coarse, startMs), intervalStart(coarse, lastMs));
    }),
    { includeErrorInReport: true, numRuns: 1_000 },
  );
});

test('weeks start on Monday at 00:00 UTC', () => {
  fc.assert(
    fc.property(anyTime, (timeMs) => {
      const date = new Date(intervalStart('week1', timeMs));
      assert.equal(date.getUTCDay(), 1);
      assert.ok(date.getTime() % 86_400_000 === 0);
    }),
  );
  assert.equal(startOf('week1', '2024-09-01T23:59:59.999Z'), '2024-08-26T00:00:00.000Z');
  assert.equal(startOf('week1', '2024-09-02T00:00:00Z'), '2024-09-02T00:00:00.000Z');
  assert.equal(startOf('week1', '1970-01-01T00:00:00Z'), '1969-12-29T00:00:00.000Z');
});

test('months start on the 1st, in years with and without a leap day', () => {
  assert.equal(startOf('month1', '2024-02-29T23:59:59.999Z'), '2024-02-01T00:00:00.000Z');
  const days = (moment: string) => {
    const startMs = Date.parse(moment);
    return (intervalEnd('month1', startMs) - startMs) / 86_400_000;
  };
  assert.equal(days('2024-02-01'), 29);
  assert.equal(days('2023-02-01'), 28);
  assert.equal(days('2100-02-01'), 28);
  assert.equal(days('2000-02-01'), 29);
  assert.equal(days('2024-12-01'), 31);
  assert.equal(days('9999-12-01'), 31);
});

test('resolutions are listed from the finest to the coarsest, as actors need them', () => {
  const lengths = RESOLUTIONS.map((name) => intervalEnd(name, 0) - intervalStart(name, 0));
  assert.deepEqual(
    lengths,
    lengths.toSorted((a, b) => a - b),
  );
});
