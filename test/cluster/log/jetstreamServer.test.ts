/** The log of several nodes when nats-server dies, forgets, freezes or cannot be reached. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ensureLog, type JetstreamLog } from '../../../src/cluster/log/jetstream.ts';
import { NO_HASH, type SealedEntry } from '../../../src/engine/log/entry.ts';
import type { Tail } from '../../../src/engine/log/port.ts';
import { LogWriter } from '../../../src/engine/log/writer.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { appendAll, readAll, textsOf } from '../../contracts/log.ts';
import { chainAfter, EMPTY_TAIL, nextEntry, tailAfter } from '../../support/chain.ts';
import { marketName, NatsServer, openLog, PATIENT_MS } from '../../support/nats.ts';
import { until, untilAsked } from '../../support/until.ts';

const QUIET = { appendFailed() {} };

async function wholeChain(log: JetstreamLog): Promise<SealedEntry[]> {
  const { seq } = await log.last();
  const entries: SealedEntry[] = [];
  while (entries.length < seq) {
    const some = await log.read(entries.length + 1, 500);
    assert.ok(some.length > 0);
    entries.push(...some);
  }
  let before: Tail = { ...EMPTY_TAIL, hash: NO_HASH };
  for (const sealed of entries) {
    assert.equal(sealed.entry.seq, before.seq + 1);
    assert.equal(sealed.entry.prevEntryHash, before.hash);
    before = tailAfter(sealed);
  }
  return entries;
}

test('nothing acknowledged is lost or doubled over kill -9 of nats-server', async (scope) => {
  const server = await NatsServer.start(scope);
  const link = await server.connect(scope);
  const log = await openLog(scope, link, marketName(), 1_000);
  const acknowledged = new Map<number, string>();
  let done = false;
  const appending = (async () => {
    for (let tail = EMPTY_TAIL; !done; ) {
      const entries = chainAfter(tail, 40);
      const results = await Promise.allSettled(
        entries.map(async (sealed) => {
          const outcome = await log.append(sealed, sealed.entry.seq - 1);
          assert.equal(outcome.outcome, 'appended');
          acknowledged.set(sealed.entry.seq, sealed.hash);
        }),
      );
      const refused = results.find(({ status }) => status === 'rejected');
      if (refused?.status === 'rejected') assert.match(String(refused.reason), /acknowledged/);
      const last = entries.at(-1);
      // A writer repeats the same entries until all are taken.
      if (refused === undefined && last !== undefined) tail = tailAfter(last);
    }
  })();
  for (const more of [300, 777, 401]) {
    const aim = acknowledged.size + more;
    await until('entries are acknowledged', () => acknowledged.size > aim);
    await server.restart();
  }
  const aim = acknowledged.size + 100;
  await until('appends continue', () => acknowledged.size > aim);
  done = true;
  await appending;
  const kept = await wholeChain(log);
  assert.ok(kept.length >= acknowledged.size && acknowledged.size > 1_500);
  for (const [seq, hash] of acknowledged) assert.equal(kept[seq - 1]?.hash, hash);
});

test('appends wait while nats-server is down, and are stored once', async (scope) => {
  const server = await NatsServer.start(scope);
  const link = await server.connect(scope);
  const log = await openLog(scope, link, marketName());
  const entries = chainAfter(EMPTY_TAIL, 30);
  await appendAll(log, entries.slice(0, 3));
  await server.kill();
  const waiting = entries.slice(3).map((sealed) => log.append(sealed, sealed.entry.seq - 1));
  await untilAsked(
    'it is known',
    () => log.check(EMPTY_TAIL),
    (said) => said === 'unreachable',
  );
  await server.start();
  const outcomes = await Promise.all(waiting);
  assert.ok(outcomes.every(({ outcome }) => outcome === 'appended'));
  assert.deepEqual(textsOf(await wholeChain(log)), textsOf(entries));
});

test('appends reject when NATS stays away, and a writer continues after it', async (scope) => {
  const server = await NatsServer.start(scope);
  const link = await server.connect(scope);
  const name = marketName();
  const log = await openLog(scope, link, name, 200);
  const first = nextEntry(EMPTY_TAIL);
  await appendAll(await openLog(scope, link, name), [first]);
  await server.kill();
  const tail = tailAfter(first);
  await assert.rejects(log.append(nextEntry(tail), 1), /entry 2 was not acknowledged/);
  let refused = 0;
  const observer = {
    appendFailed: () => {
      refused += 1;
    },
  };
  const writer = new LogWriter(log, tail, 1, systemClock, observer);
  const time = { timeMs: 5, payload: { kind: 'time', phase: 'end' } } as const;
  const writing = writer.append([time, time, time]);
  await until('it was refused', () => refused > 0);
  await server.start();
  assert.equal(await writing, 4);
  assert.equal((await wholeChain(log)).length, 4);
});

test('appends wait for a frozen nats-server, and count what it stored', async (scope) => {
  const server = await NatsServer.start(scope);
  const link = await server.connect(scope);
  const name = marketName();
  const log = await openLog(scope, link, name);
  const impatient = await openLog(scope, link, name, 100, 200);
  const entries = chainAfter(EMPTY_TAIL, 40);
  // It gives up on a busy machine too; what is asked again is stored once.
  await untilAsked(
    'the first are stored',
    () => appendAll(impatient, entries.slice(0, 2)).then(() => true, String),
    (said) => said === true,
  );
  server.pause();
  scope.after(() => server.resume());
  const appended = () =>
    Promise.allSettled(
      entries.slice(2).map((sealed) => impatient.append(sealed, sealed.entry.seq - 1)),
    );
  const results = await appended();
  assert.equal(results[0]?.status, 'rejected');
  server.resume();
  const writer = new LogWriter(
    log,
    tailAfter(entries[1] ?? nextEntry(EMPTY_TAIL)),
    1,
    systemClock,
    QUIET,
  );
  await untilAsked(
    'what was on its way has arrived',
    // Its connection may have been given up while the server was frozen.
    async () => (await log.last().catch(() => EMPTY_TAIL)).seq,
    (seq) => seq === 3,
  );
  const again = await untilAsked('all are answered', appended, (said) =>
    said.every(({ status }) => status === 'fulfilled'),
  );
  for (const said of again) {
    assert.equal(said.status === 'fulfilled' && said.value.outcome, 'appended');
  }
  assert.equal(writer.tail.seq, 2);
  const draft = { timeMs: 9, payload: { kind: 'time', phase: 'end' } } as const;
  await assert.rejects(writer.append([draft]), { kind: 'writerConflict' });
  assert.deepEqual(textsOf(await wholeChain(log)), textsOf(entries));
});

test('a lost, emptied, replaced or shortened stream is not taken for ours', async (scope) => {
  const server = await NatsServer.start(scope);
  const link = await server.connect(scope);
  const name = marketName();
  const log = await openLog(scope, link, name);
  const entries = chainAfter(EMPTY_TAIL, 6);
  await appendAll(log, entries);
  const own = tailAfter(entries[3] ?? nextEntry(EMPTY_TAIL));
  assert.equal(await log.check(own), 'same');
  assert.equal(await log.check(EMPTY_TAIL), 'same');
  assert.equal(await log.check({ ...own, seq: 7 }), 'behind');
  assert.equal(await log.check({ ...own, hash: 'aa' }), 'different');
  await log.trim(5);
  assert.equal(await log.check(own), 'same');
  assert.equal(await log.check(tailAfter(entries[2] ?? nextEntry(EMPTY_TAIL))), 'trimmed');
  await server.kill();
  await untilAsked(
    'it is down',
    () => log.check(own),
    (said) => said === 'unreachable',
  );
  await server.restart('deleted');
  await untilAsked(
    'it is lost',
    () => log.check(own),
    (said) => said === 'missing',
  );
  await assert.rejects(log.append(nextEntry(own), 4), /no stream/);
  await assert.rejects(log.audit(1, 10), { kind: 'streamMissing' });
  assert.equal(await ensureLog(link, { name, replicas: 1 }, PATIENT_MS), 'made');
  assert.equal(await log.check(own), 'behind');
  const others = chainAfter(EMPTY_TAIL, 5, 9);
  await appendAll(await openLog(scope, link, name), others);
  assert.equal(await log.check(own), 'different');
  assert.deepEqual(await log.last(), tailAfter(others[4] ?? nextEntry(EMPTY_TAIL)));
  assert.deepEqual(await readAll(log), textsOf(others));
});

test('a reader receives entries again after nats-server came back', async (scope) => {
  const server = await NatsServer.start(scope);
  const link = await server.connect(scope);
  const name = marketName();
  const log = await openLog(scope, link, name);
  const reader = await openLog(scope, await server.connect(scope), name);
  const entries = chainAfter(EMPTY_TAIL, 20);
  await appendAll(log, entries.slice(0, 10));
  await reader.reached(10);
  await server.restart();
  const heard = reader.reached(20);
  await Promise.all(entries.slice(10).map((sealed) => log.append(sealed, sealed.entry.seq - 1)));
  await heard;
  assert.deepEqual(await readAll(reader), textsOf(entries));
});
