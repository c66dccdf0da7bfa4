/** The thread of `thread.ts`: one devnet, until it is asked to stop. */
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../engine/runtime/assert.ts';
import { systemClock } from '../engine/runtime/clock.ts';
import { Devnet } from './devnet.ts';
import { type DevnetThreadOptions, STOP, type ThreadReport } from './thread.ts';

assert(parentPort !== null, 'this file is run as a thread');
const port = parentPort;
// trust: handed over by thread.ts
const options = workerData as DevnetThreadOptions;

function report(message: ThreadReport): void {
  port.postMessage(message);
}

const devnet = await Devnet.open({
  ...options,
  clock: systemClock,
  stalled: (message) => report({ kind: 'stalled', message }),
});

port.on('message', (message: unknown) => {
  assert(message === STOP, 'a devnet is only told to stop');
  void devnet.stop().then(() => port.close());
});

const { ogmiosUrl, kupoUrl, devnetUrl } = devnet;
report({ kind: 'ready', urls: { ogmiosUrl, kupoUrl, devnetUrl } });
devnet.warmUp();
