/** The thread of the simulated traders: reports out, one command in. */
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../engine/runtime/assert.ts';
import { systemClock } from '../../engine/runtime/clock.ts';
import { lowerPriority } from '../../engine/runtime/threadPriority.ts';
import { Crowd } from './crowd.ts';
import type { Command, Report, ThreadOptions } from './messages.ts';

assert(parentPort !== null, 'this file is run as a worker');
const port = parentPort;
// trust: handed over by tradersService
const threadOptions = workerData as ThreadOptions;
const report = (message: Report) => port.postMessage(message);

lowerPriority();
const crowd = new Crowd({ ...threadOptions, clock: systemClock, fetch, report });
crowd.start();

port.once('message', (_command: Command) => {
  crowd.stop().then(() => {
    report({ kind: 'stopped' });
    port.close();
  });
});
