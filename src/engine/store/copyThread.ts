/** The thread that copies a state file; see copy.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../runtime/assert.ts';
import type { CopyWish, StateCopy } from './copy.ts';
import { openDatabase } from './database.ts';
import { type PointRecord, readRecord } from './records.ts';
import { StateStore } from './state.ts';

assert(parentPort !== null, 'this file is run as a worker');
// trust: handed over by copyState
const { from, to } = workerData as CopyWish;
const database = openDatabase(from, { synchronous: 'NORMAL', maxMb: 0 });
try {
  database.prepare('VACUUM INTO ?').run(to);
} finally {
  database.close();
}
const copy = new StateStore(to, { horizonBlocks: 1, maxMb: 0, writer: 'inline' });
const { checkpoint } = copy;
const newest = copy.lastKey('points', '');
const text = newest === null ? null : copy.get('points', newest);
const newestBlock = text === null ? null : readRecord<PointRecord>(text);
await copy.close();
const answer: StateCopy = { checkpoint, newestBlock };
parentPort.postMessage(answer);
