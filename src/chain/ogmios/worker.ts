/** The thread of a `NodeReader`: calls in, answers and batches of events out. */
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../engine/runtime/assert.ts';
import { systemClock } from '../../engine/runtime/clock.ts';
import type { Request, WorkerOptions } from './messages.ts';
import { NodeReader } from './nodeReader.ts';

assert(parentPort !== null, 'this file is run as a worker');
const port = parentPort;
// trust: handed over by startReaderThread
const reader = new NodeReader(workerData as WorkerOptions, {
  clock: systemClock,
  tell: (message) => port.postMessage(message),
  stopped: () => port.close(),
});

// trust: OgmiosChain sends nothing else
port.on('message', (request: Request) => reader.obey(request));

await reader.start();
