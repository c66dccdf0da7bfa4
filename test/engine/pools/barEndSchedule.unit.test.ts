/** The schedule against a list. Replay: `{ seed, path }` as printed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BarEndSchedule } from '../../../src/engine/pools/barEndSchedule.ts';

test('ends are due once, when their time has come', () => {
  const add = fc.record({ endMs: fc.nat(9), pair: fc.nat(2) });
  const steps = fc.array(fc.oneof(add, fc.nat(10)), { maxLength: 40 });
  fc.assert(
    fc.property(steps, (some) => {
      const schedule = new BarEndSchedule();
      let list: { endMs: number; pair: number }[] = [];
      for (const step of some) {
        if (typeof step !== 'number') {
          schedule.add(step.endMs, step.pair);
          list.push(step);
          continue;
        }
        const due = list.filter(({ endMs }) => endMs <= step);
        const ends = [...new Set(due.map(({ endMs }) => endMs))].sort((a, b) => a - b);
        assert.deepEqual(schedule.endsUpTo(step), ends);
        assert.deepEqual(schedule.takeDue(step), new Set(due.map(({ pair }) => pair)));
        assert.deepEqual(schedule.endsUpTo(step), []);
        list = list.filter(({ endMs }) => endMs > step);
      }
    }),
    { includeErrorInReport: true, numRuns: 500 },
  );
});
