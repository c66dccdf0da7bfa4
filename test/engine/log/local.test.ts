/**
 * The log of a single node: the contract of all logs, and cases that only a file has (a kill, a
 * full disk).
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NO_HASH, sealEntry } from '../../../src/engine/log/entry.ts';
import { LocalLog } from '../../../src/engine/log/local.ts';
import { openLocalLog } from '../../../src/engine/log/localOpen.ts';
import { inlineLogFile, threadLogFile } from '../../../src/engine/log/logOwner.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { appendAll, logContract, readAll, textsOf } from '../../contracts/log.ts';
import { chainAfter, EMPTY_TAIL, nextEntry, tailAfter } from '../../support/chain.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';

for (const [name, openFile, acksFromMemory] of [
  ['local log', threadLogFile, false],
  ['local log, inline', inlineLogFile, false],
  ['local log that acknowledges from memory', threadLogFile, true],
] as const)
  logContract(name, (scope) => {
    const file = join(temporaryDirectory(scope), 'log.sqlite');
    return {
      open: () => LocalLog.open({ file, maxMb: 0, acksFromMemory }, openFile),
      // One process owns the file: rivals in it share the log.
      peer: async (log) => log,
    };
  });

test('every acknowledged entry survives kill -9 of the process that appended', async (scope) => {
  const file = join(temporaryDirectory(scope), 'log.sqlite');
  for (const target of [40, 300]) {
    const appender = spawn(process.execPath, [join(import.meta.dirname, 'appender.ts'), file]);
    let said = '';
    appender.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const ended = once(appender, 'close');
    try {
      await until('entries are acknowledged', () => said.split('\n').length > target);
    } finally {
      appender.kill('SIGKILL');
    }
    await ended;
    const acknowledged = said.split('\n').slice(0, -1);
    const log = await LocalLog.open({ file, maxMb: 0 });
    const { seq } = await log.last();
    const entries = await log.read(1, seq);
    assert.equal(entries.length, seq);
    const kept = new Set(entries.map((sealed) => `${sealed.entry.seq} ${sealed.hash}`));
    assert.deepEqual(
      acknowledged.filter((line) => !kept.has(line)),
      [],
    );
    let prevEntryHash = NO_HASH;
    for (const { entry, hash } of entries) {
      assert.equal(entry.prevEntryHash, prevEntryHash);
      prevEntryHash = hash;
    }
    await log.close();
  }
});

test('a full disk refuses the append and takes it when there is room', async (scope) => {
  const file = join(temporaryDirectory(scope), 'log.sqlite');
  const log = await LocalLog.open({ file, maxMb: 1 });
  const bulk = 'x'.repeat(100_000);
  const large = (tail = EMPTY_TAIL) => {
    const { entry } = nextEntry(tail);
    return sealEntry({ ...entry, epoch: bulk });
  };
  const kept = [large()];
  const next = () => large(tailAfter(kept.at(-1) ?? large()));
  await appendAll(log, kept);
  let refused: unknown = null;
  while (refused === null && kept.length < 50) {
    const sealed = next();
    try {
      await log.append(sealed, sealed.entry.seq - 1);
      kept.push(sealed);
    } catch (error) {
      refused = error;
    }
  }
  assert.match(String(refused), /full/);
  assert.ok(kept.length >= 5 && kept.length < 11);
  assert.deepEqual(await readAll(log), textsOf(kept));
  assert.equal((await log.last()).seq, kept.length);
  await assert.rejects(log.append(next(), kept.length), /full/);
  await log.trim(4);
  await appendAll(log, [next()]);
  await log.close();
  const again = await LocalLog.open({ file, maxMb: 0 });
  assert.deepEqual(await readAll(again, 4), textsOf([...kept.slice(3), next()]));
  await again.close();
});

test('appends of one turn are refused together, and may be tried again', async (scope) => {
  const file = join(temporaryDirectory(scope), 'log.sqlite');
  const log = await LocalLog.open({ file, maxMb: 1 });
  const entries = chainAfter(EMPTY_TAIL, 2);
  const last = entries.at(-1);
  assert.ok(last !== undefined);
  const { entry } = nextEntry(tailAfter(last));
  const tooLarge = sealEntry({ ...entry, epoch: 'x'.repeat(3_000_000) });
  const results = await Promise.allSettled(
    [...entries, tooLarge].map((sealed) => log.append(sealed, sealed.entry.seq - 1)),
  );
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  assert.equal((await log.last()).seq, 0);
  await appendAll(log, entries);
  await log.close();
});

test('reads what memory no longer holds from the file, the same', async (scope) => {
  const file = join(temporaryDirectory(scope), 'log.sqlite');
  const log = await LocalLog.open({ file, maxMb: 0 });
  const entries = chainAfter(EMPTY_TAIL, 20_000);
  for (let from = 0; from < entries.length; from += 1_000) {
    const some = entries.slice(from, from + 1_000);
    await Promise.all(some.map((sealed) => log.append(sealed, sealed.entry.seq - 1)));
  }
  assert.deepEqual(await readAll(log, 1, 5_000), textsOf(entries));
  await log.close();
});

test('a closed log rejects appends', async (scope) => {
  const file = join(temporaryDirectory(scope), 'log.sqlite');
  const log = await LocalLog.open({ file, maxMb: 0 });
  await log.close();
  await assert.rejects(log.append(nextEntry(EMPTY_TAIL), 0));
});

test('a thread that died is replaced, and its appends may be tried again', async (scope) => {
  const file = join(temporaryDirectory(scope), 'log.sqlite');
  let dies = false;
  const log = await LocalLog.open({ file, maxMb: 0 }, (options) => {
    let owner = inlineLogFile(options);
    return {
      async call(name, values) {
        const answer = await owner.call(name, values);
        if (!dies || name !== 'append') return answer;
        dies = false;
        await owner.close();
        owner = inlineLogFile(options);
        throw new Error('the thread died before it answered');
      },
      close: () => owner.close(),
    };
  });
  const [first, second, third] = chainAfter(EMPTY_TAIL, 3);
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  await appendAll(log, [first]);
  dies = true;
  await assert.rejects(log.append(second, 1), /died/);
  assert.equal((await log.last()).seq, 1);
  assert.deepEqual(await readAll(log), textsOf([first]), 'readers get only what is acknowledged');
  await appendAll(log, [second, third]);
  assert.deepEqual(await readAll(log), textsOf([first, second, third]));
  await log.close();
});

test('a call that a thread refuses rejects with its code and kind', async (scope) => {
  const file = join(temporaryDirectory(scope), 'log.sqlite');
  const log = await LocalLog.open({ file, maxMb: 0 });
  const other = { file, maxMb: 0 };
  await assert.rejects(LocalLog.open(other), /in use by another upcurve process/);
  await log.close();
  writeFileSync(file, 'x'.repeat(8192));
  await assert.rejects(LocalLog.open(other), { code: 'SQLITE_NOTADB' });
  await assert.rejects(LocalLog.open({ file: join(file, 'none'), maxMb: 0 }), {
    code: 'SQLITE_CANTOPEN',
  });
});

test('no other process opens it, also after its pages were checked and moved', async (scope) => {
  const file = join(temporaryDirectory(scope), 'log.sqlite');
  const options = { maxMb: 0, sumsOutdated: (reason: string) => assert.fail(reason) };
  for (const round of [1, 2]) {
    const log = await openLocalLog(file, systemClock, options);
    // More than makes a checkpoint: it reads the file, too.
    const bulk = 'x'.repeat(7 * 1024 * 1024);
    for (let count = 0; count < 2; count += 1) {
      const tail = await log.last();
      const { entry } = nextEntry(tail);
      await log.append(sealEntry({ ...entry, epoch: `${round}-${bulk}` }), tail.seq);
    }
    const other = spawn(process.execPath, [join(import.meta.dirname, 'appender.ts'), file]);
    let said = '';
    other.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    other.stdout.once('data', () => other.kill('SIGKILL'));
    await once(other, 'close');
    assert.match(said, /in use by another upcurve process/, `round ${round}`);
    await log.close();
  }
});
