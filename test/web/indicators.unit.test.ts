/** Lines over candlesticks against values worked out by hand and by their definitions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type ExactBar,
  FIRST_LENGTHS,
  INDICATORS,
  IndicatorLines,
  type IndicatorName,
  isLength,
  type Lengths,
  studyOf,
} from '../../src/web/chart/indicators.ts';

function barsOf(closes: readonly number[]): ExactBar[] {
  return closes.map((close, index) => {
    return { time: index * 60, close: String(close), volume: String(close), baseVolume: '1' };
  });
}

const lengthsOf = (length: number): Lengths => ({
  ...{ ma: length, ma2: 2 * length, ema: length, ema2: 2 * length },
  ...{ bollinger: length, rsi: length },
});

/** Its lines over these closes, with this length. */
function linesOf(name: IndicatorName, bars: readonly ExactBar[], length = 3) {
  const study = studyOf(name, lengthsOf(length));
  return bars.map((bar) => study(bar, false));
}

const lineOf = (name: IndicatorName, closes: readonly number[], length: number) =>
  linesOf(name, barsOf(closes), length).map(([value]) => value);

test('averages start when there are enough bars', () => {
  assert.deepEqual(lineOf('ma', [1, 2, 3, 4, 5], 3), [null, null, 2, 3, 4]);
  assert.deepEqual(lineOf('ema', [1, 2, 3, 4], 3), [null, null, 2.25, 3.125]);
  assert.deepEqual(lineOf('ma', [], 3), []);
});

test('the second average of a kind has a separate length', () => {
  const closes = [1, 2, 3, 4, 5];
  assert.deepEqual(lineOf('ma2', closes, 2), lineOf('ma', closes, 4));
  assert.deepEqual(lineOf('ema2', closes, 2), lineOf('ema', closes, 4));
});

test('Bollinger bands are two deviations away from the average', () => {
  assert.deepEqual(linesOf('bollinger', barsOf([1, 3]), 2), [
    [null, null, null],
    [4, 2, 0],
  ]);
});

test('the volume weighted price weighs by tokens and starts over each day', () => {
  const at = (time: number, volume: string, baseVolume: string): ExactBar => {
    return { time, close: '1', volume, baseVolume };
  };
  const bars = [at(0, '0', '0'), at(60, '10', '1'), at(120, '10', '4'), at(86_400, '9', '3')];
  assert.deepEqual(linesOf('vwap', bars).flat(), [null, 10, 4, 3]);
  assert.deepEqual(linesOf('vwap', [{ time: 0, close: '1' }]).flat(), [null], 'of market caps');
});

test('relative strength: the textbook example of Wilder’s smoothing', () => {
  assert.deepEqual(lineOf('rsi', [1, 2, 3, 4], 2), [null, null, 100, 100]);
  assert.deepEqual(lineOf('rsi', [4, 3, 2], 2), [null, null, 0]);
  // Gains 2 and 0, losses 0 and 1: 1 to 0.5; then a gain of 1: 1 to 0.25.
  const [, , first = 0, second = 0] = lineOf('rsi', [1, 3, 2, 3], 2);
  assert.ok(Math.abs((first ?? 0) - 100 / 1.5) < 1e-9);
  assert.equal(second, 80);
});

test('a moving average is the mean of its window, wherever it stands', () => {
  const closes = fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 40 });
  fc.assert(
    fc.property(closes, fc.integer({ min: 2, max: 10 }), (values, length) => {
      for (const [index, value] of lineOf('ma', values, length).entries()) {
        const window = values.slice(Math.max(0, index + 1 - length), index + 1);
        if (window.length < length) assert.equal(value, null);
        else assert.equal(value, window.reduce((sum, each) => sum + each, 0) / length);
      }
    }),
  );
});

interface Point {
  readonly time: number;
  readonly value?: number;
}

/** A series of the chart library: it records the points drawn on it. */
class Drawn {
  points: Point[] = [];
  wholes = 0;
  setData(points: readonly Point[]): void {
    this.points = [...points];
    this.wholes += 1;
  }
  update(point: Point): void {
    const isNewest = this.points.at(-1)?.time === point.time;
    this.points = [...this.points.slice(0, isNewest ? -1 : undefined), point];
  }
  applyOptions(): void {}
}

test('bars that move and bars that come draw the same lines as all bars at once', () => {
  const moves = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 999 })), {
    minLength: 1,
    maxLength: 60,
  });
  fc.assert(
    fc.property(moves, fc.integer({ min: 2, max: 9 }), (changes, length) => {
      const series: Drawn[] = [];
      const made = () => {
        series.push(new Drawn());
        return series.at(-1) ?? assert.fail();
      };
      const live = new IndicatorLines<Drawn>(made, () => {});
      live.choose(INDICATORS, lengthsOf(length));
      let bars = barsOf([5]);
      live.draw(bars);
      for (const [isNew, close] of changes) {
        const time = bars.length * 60 - (isNew ? 0 : 60);
        const bar = { time, close: String(close), volume: String(close), baseVolume: '2' };
        bars = [...bars.slice(0, isNew ? undefined : -1), bar];
        live.draw(bars);
      }
      const drawn = series.splice(0);
      const whole = new IndicatorLines<Drawn>(made, () => {});
      whole.choose(INDICATORS, lengthsOf(length));
      whole.draw(bars);
      for (const [index, { points, wholes }] of drawn.entries()) {
        assert.equal(wholes, 1, 'only what is new is drawn');
        for (const [at, { time, value }] of points.entries()) {
          const wanted = series[index]?.points[at];
          assert.equal(time, wanted?.time);
          assert.equal(value === undefined, wanted?.value === undefined);
          assert.ok(Math.abs((value ?? 0) - (wanted?.value ?? 0)) < 1e-6);
        }
      }
    }),
  );
});

test('a length is a whole number of bars, not too many', () => {
  assert.deepEqual([2, 14, 500].map(isLength), [true, true, true]);
  assert.deepEqual([1, 501, 2.5, Number.NaN, '20', null].map(isLength), Array(6).fill(false));
  assert.ok(Object.values(FIRST_LENGTHS).every(isLength));
});
