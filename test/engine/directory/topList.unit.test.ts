/** The first of a list equal those of a list that is sorted whole, whatever moved in between. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TopList } from '../../../src/engine/directory/tickerLists.ts';

const ASSETS = Array.from({ length: 30 }, (_, index) => String.fromCharCode(97 + index));
const MOST = 8;

interface Place {
  readonly asset: string;
  readonly value: number;
}

type Step =
  | { readonly do: 'put'; readonly asset: string; readonly value: number | null }
  | { readonly do: 'order'; readonly count: number; readonly steps: number }
  | { readonly do: 'look'; readonly count: number };

const count = fc.oneof({ weight: 3, arbitrary: fc.nat(MOST) }, fc.nat(ASSETS.length + 2));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      asset: fc.constantFrom(...ASSETS),
      value: fc.option(fc.nat(9), { freq: 6 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('order' as const), count, steps: fc.nat(9) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('look' as const), count }) },
);

function compare(a: Place, b: Place): number {
  return b.value - a.value || (a.asset < b.asset ? -1 : Number(a.asset > b.asset));
}

function shownOf(list: TopList<Place>, most: number): Place[] {
  const shown: Place[] = [];
  list.walk((place) => {
    if (shown.length < most) shown.push(place);
    return shown.length < most;
  });
  return shown;
}

test('the first of a list are those of all places sorted', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 200 }), (steps) => {
      const list = new TopList<Place>(compare, MOST);
      const places = new Map<string, Place>();
      for (const next of steps) {
        if (next.do === 'put') {
          const { asset, value } = next;
          const place = value === null ? null : { asset, value };
          list.put(asset, place);
          if (place === null) places.delete(asset);
          else places.set(asset, place);
          continue;
        }
        let left = next.do === 'order' ? next.steps : Number.POSITIVE_INFINITY;
        const isOver = () => {
          left -= 1;
          return left < 0;
        };
        const isDone = list.order(next.count, isOver);
        if (next.do === 'look') assert(isDone);
        if (!isDone) continue;
        const sorted = [...places.values()].sort(compare).slice(0, next.count);
        assert.deepEqual(shownOf(list, next.count), sorted);
        assert.equal(list.size, places.size);
      }
    }),
    { numRuns: 1_000, seed: 19 },
  );
});
