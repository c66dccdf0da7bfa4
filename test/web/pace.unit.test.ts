/** Redraws: however often the market moves, 15 a second; and none is left out at the end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PacedSeries } from '../../src/web/chart/pacedSeries.ts';
import { FrameQueue } from '../../src/web/frameQueue.ts';
import { paced } from '../../src/web/pace.ts';
import { HandClock } from '../support/handClock.ts';

const FRAME_MS = 16;

test('a job asked for 1,000 times a second runs 15 times, and after the last', async () => {
  const clock = new HandClock();
  const frames = new FrameQueue((run) => void clock.after(FRAME_MS, run), clock);
  let [moves, seen, runs] = [0, 0, 0];
  const pace = paced(clock, frames, () => {
    runs += 1;
    seen = moves;
  });
  for (let ms = 0; ms < 1000; ms += 1) {
    moves += 1;
    pace.ask();
    await clock.advance(1);
  }
  assert(runs >= 10 && runs <= 15, `${runs} in a second`);
  await clock.advance(200);
  assert.equal(seen, moves, 'the last move is shown');
  pace.ask();
  pace.end();
  const before = runs;
  await clock.advance(1000);
  assert.equal(runs, before, 'nothing runs after the end');
});

interface Point {
  readonly time: number;
  readonly value: number;
}

/** The rules of the chart library: ascending, and a historical point must be there. */
class StrictSeries {
  points: Point[] = [];

  setData(points: Point[]): void {
    this.points = [...points];
  }

  update(point: Point, isHistorical = false): void {
    const at = this.points.findIndex(({ time }) => time === point.time);
    const newest = this.points.at(-1)?.time ?? -1;
    assert.equal(isHistorical, point.time < newest, 'historical is what is not the newest');
    assert(at >= 0 || point.time > newest, 'a point comes after all others');
    if (at >= 0) this.points[at] = point;
    else this.points.push(point);
  }
}

test('a later flush draws the same as drawing at once', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('append' as const), value: fc.nat(99) }),
    fc.record({ kind: fc.constant('move' as const), back: fc.nat(4), value: fc.nat(99) }),
    fc.record({ kind: fc.constant('all' as const), count: fc.nat(6) }),
    fc.record({ kind: fc.constant('flush' as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [atOnce, later] = [new StrictSeries(), new StrictSeries()];
      const series = new PacedSeries<Point>(later, () => {});
      for (const each of steps) {
        const { points } = atOnce;
        if (each.kind === 'flush') series.flush();
        else if (each.kind === 'all') {
          const all = Array.from({ length: each.count }, (_, time) => ({ time, value: 0 }));
          atOnce.setData(all);
          series.setData(all);
        } else {
          const last = (points.at(-1)?.time ?? -1) + (each.kind === 'append' ? 1 : -each.back);
          if (each.kind === 'move' && !points.some(({ time }) => time === last)) continue;
          const point = { time: last, value: each.value };
          atOnce.update(point, point.time < (points.at(-1)?.time ?? -1));
          series.update(point);
        }
      }
      series.flush();
      assert.deepEqual(later.points, atOnce.points);
    }),
  );
});
