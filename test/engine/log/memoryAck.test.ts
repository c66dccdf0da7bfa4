import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { LocalLog } from '../../../src/engine/log/local.ts';
import { inlineLogFile, type OpenLogFile } from '../../../src/engine/log/logOwner.ts';
import { readAll, textsOf } from '../../contracts/log.ts';
import { chainAfter, EMPTY_TAIL, nextEntry } from '../../support/chain.ts';
import { type Scope, temporaryDirectory } from '../../support/server.ts';

/** A disk that takes no append before `gate` is opened, and refuses while `refuses`. */
function slowDisk(scope: Scope) {
  const disk = { refuses: false, gate: Promise.resolve(), whole: 0 };
  const openFile: OpenLogFile = (options) => {
    const owner = inlineLogFile(options);
    return {
      async call(name, values) {
        if (name === 'append') await disk.gate;
        if (name === 'append' && disk.refuses) throw new Error('the disk is full');
        return owner.call(name, values);
      },
      close: () => owner.close(),
    };
  };
  const file = join(temporaryDirectory(scope), 'log.sqlite');
  const closedWhole = () => {
    disk.whole += 1;
  };
  const open = () => LocalLog.open({ file, maxMb: 0, acksFromMemory: true, closedWhole }, openFile);
  return { disk, open };
}

const CHAIN = chainAfter(EMPTY_TAIL, 6);

async function append(log: LocalLog, from: number, to: number) {
  const some = CHAIN.slice(from, to);
  return Promise.all(some.map((sealed) => log.append(sealed, sealed.entry.seq - 1)));
}

test('an append is answered and read before the disk has it', async (scope) => {
  const { disk, open } = slowDisk(scope);
  const log = await open();
  const gate = Promise.withResolvers<void>();
  disk.gate = gate.promise;
  assert.deepEqual(
    (await append(log, 0, 3)).map(({ outcome }) => outcome),
    Array(3).fill('appended'),
  );
  assert.equal((await log.last()).seq, 3);
  assert.deepEqual(await readAll(log), textsOf(CHAIN.slice(0, 3)));
  const closing = log.close();
  gate.resolve();
  await closing;
  assert.equal(disk.whole, 1);
  const again = await open();
  assert.deepEqual(await readAll(again), textsOf(CHAIN.slice(0, 3)));
  await again.close();
});

test('a disk that refuses is waited for, and gets what was acknowledged first', async (scope) => {
  const { disk, open } = slowDisk(scope);
  const log = await open();
  disk.refuses = true;
  await append(log, 0, 2);
  // Only now does the log know.
  await assert.rejects(append(log, 2, 3), /the disk is full/);
  await assert.rejects(append(log, 2, 3), /the disk is full/);
  assert.equal((await log.last()).seq, 2, 'the third is not acknowledged');
  disk.refuses = false;
  await append(log, 2, 4);
  await log.close();
  const again = await open();
  assert.deepEqual(await readAll(again), textsOf(CHAIN.slice(0, 4)));
  await again.close();
});

test('a log that closes while the disk refuses does not call itself whole', async (scope) => {
  const { disk, open } = slowDisk(scope);
  const log = await open();
  disk.refuses = true;
  await append(log, 0, 2);
  await log.close();
  assert.equal(disk.whole, 0);
});

test('an entry that does not continue the log is a conflict, also from memory', async (scope) => {
  const { open } = slowDisk(scope);
  const log = await open();
  await append(log, 0, 2);
  const rival = nextEntry(EMPTY_TAIL, 7);
  assert.deepEqual(await log.append(rival, 0), { outcome: 'conflict', lastSeq: 2 });
  await log.close();
});

test('more than memory should hold waits for the disk', async (scope) => {
  const { disk, open } = slowDisk(scope);
  const log = await open();
  const gate = Promise.withResolvers<void>();
  disk.gate = gate.promise;
  const long = chainAfter(EMPTY_TAIL, 3_000);
  let answered = 0;
  const all = long.map(async (sealed) => {
    await log.append(sealed, sealed.entry.seq - 1);
    answered += 1;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(answered > 1_000 && answered < long.length, `${answered} answered`);
  gate.resolve();
  await Promise.all(all);
  assert.deepEqual((await log.last()).seq, long.length);
  await log.close();
});
