/** Empty places between few bars of a chart: they fill its width, in order, and no bar is broad. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearest, placesAmong } from '../../src/web/chart/places.ts';

const MINUTE = 60;
const MOST_PIXELS = 48;

test('times are ascending, each once, and bars have room at every width', () => {
  const gaps = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 200, max: 2800 }), (minutes, width) => {
      let time = 1_700_000_040;
      const bars = minutes.map((gap) => {
        time += gap * MINUTE;
        return { time };
      });
      const { each, places } = placesAmong(bars, width, MINUTE);
      const all = [...places, ...bars.map((bar) => bar.time)];
      assert.equal(new Set(all).size, all.length, 'no time is there twice');
      assert.equal(all.length, bars.length * each);
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
      );
      assert.ok(width / all.length <= MOST_PIXELS, 'no bar is broad');
      for (const bar of bars) {
        const around = all.filter((at) => Math.abs(at - bar.time) <= MINUTE / 2);
        assert.ok(around.length >= each - 1, 'its places are around it');
      }
    }),
  );
});

test('many bars need none', () => {
  const bars = Array.from({ length: 100 }, (_, index) => ({ time: index * MINUTE }));
  assert.deepEqual(placesAmong(bars, 800, MINUTE), { each: 1, places: [] });
});

test('the pointer beside a bar means this bar', () => {
  const bars = [{ time: 60 }, { time: 120 }, { time: 300 }];
  assert.equal(nearest(bars, 140), bars[1]);
  assert.equal(nearest(bars, 280), bars[2]);
  assert.equal(nearest(bars, 0), bars[0]);
  assert.equal(nearest(bars, null), null);
  assert.equal(nearest([], 60), null);
});
