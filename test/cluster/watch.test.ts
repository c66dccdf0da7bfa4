/** How a node's watch of the log reacts to failing checks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Epochs } from '../../src/cluster/epochs.ts';
import { LogWatch } from '../../src/cluster/watch.ts';
import type { Log } from '../../src/engine/log/port.ts';
import { Fault } from '../../src/engine/runtime/assert.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { newTestApp } from '../support/app.ts';
import { manyLines } from '../support/lines.ts';

test('a fault of the program is reported, and that NATS is silent is not', async (scope) => {
  const node = await newTestApp(scope);
  await node.feed(manyLines(3, Date.UTC(2024, 0, 1), 1_000).join('\n'));
  const failures: unknown[] = [];
  for (const error of [new Fault('natsSilent', 'no answer'), new TypeError('of a program')]) {
    const watch = new LogWatch({
      name: 'n1',
      node: node.app.node,
      clock: systemClock,
      announce: () => Promise.reject(error),
      lost: () => assert.fail('the log is not asked'),
      failed: (why) => failures.push(why),
      // trust: the check fails before it asks these
      log: {} as Log,
      epochs: {} as Epochs,
    });
    await watch.start();
    await watch.stop();
  }
  assert.deepEqual(failures.map(String), ['TypeError: of a program']);
});
