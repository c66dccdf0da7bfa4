import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { getPriority } from 'node:os';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

const MODULE = new URL('../../../src/engine/runtime/threadPriority.ts', import.meta.url).href;

/** Its own priority, after it was lowered. */
const THREAD = `
  import { readlinkSync } from 'node:fs';
  import { getPriority } from 'node:os';
  import { basename } from 'node:path';
  import { parentPort } from 'node:worker_threads';
  import { lowerPriority } from '${MODULE}';
  lowerPriority();
  parentPort.postMessage(getPriority(Number(basename(readlinkSync('/proc/thread-self')))));
`;

const skip = existsSync('/proc/thread-self') ? false : 'threads have no priority of their own here';

test('a thread lowers its priority, and not that of the process', { skip }, async () => {
  const before = getPriority();
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`));
  const [lowered] = await once(worker, 'message');
  assert.equal(lowered, Math.min(19, before + 10));
  assert.equal(getPriority(), before);
  await worker.terminate();
});
