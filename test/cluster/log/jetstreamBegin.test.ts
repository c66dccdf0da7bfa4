/** A log that is begun anew while somebody else writes, or may. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { JetstreamLog } from '../../../src/cluster/log/jetstream.ts';
import { AppendPipeline } from '../../../src/cluster/log/jetstreamAppends.ts';
import { beginLog, RestartRefused } from '../../../src/cluster/log/jetstreamBegin.ts';
import { MarketStream, manager } from '../../../src/cluster/nats/stream.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { appendAll, readAll, textsOf } from '../../contracts/log.ts';
import { chainAfter, EMPTY_TAIL, nextEntry, tailAfter } from '../../support/chain.ts';
import { marketName, NatsServer, openLog, PATIENT_MS } from '../../support/nats.ts';

const server = await NatsServer.start({ after });
const link = await server.connect({ after });

function firstAt(seq: number) {
  const before = { seq: seq - 1, hash: '', epoch: `${seq}-x` };
  const base = { seq: seq - 1, stateHash: 'aa' };
  return nextEntry(before, 0, { kind: 'epoch', reason: 'log lost', base });
}

test('what lies in a wrong place is taken out, and the log is known as broken', async (scope) => {
  const name = marketName();
  const log = await openLog(scope, link, name);
  const entries = chainAfter(EMPTY_TAIL, 5);
  await appendAll(log, entries);
  const stream = new MarketStream(link, await manager(link, PATIENT_MS), name);
  // Of a leader that was replaced, on its way since then.
  const late = chainAfter(tailAfter(entries[4] ?? nextEntry(EMPTY_TAIL)), 1)[0];
  assert.ok(late !== undefined);
  const raced = Object.create(stream, {
    purgeBelow: {
      value: async (seq: number) => {
        await stream.purgeBelow(seq);
        await link.connection.request(`${name}.entry.time`, late.text);
      },
    },
    state: { value: () => stream.state() },
    at: { value: (seq: number) => stream.at(seq) },
    remove: { value: (seq: number) => stream.remove(seq) },
  });
  const patience = { giveUpMs: PATIENT_MS, answerMs: PATIENT_MS };
  const appends = new AppendPipeline(link, stream, systemClock, patience);
  await assert.rejects(beginLog(firstAt(6), raced, appends), RestartRefused);
  appends.close();
  assert.deepEqual(await readAll(log, 6), [late.text], 'nothing that no fold can go on from');
  assert.equal(await log.check(tailAfter(late)), 'different', 'nothing can follow it');
  await log.restart(firstAt(7));
  assert.deepEqual(await readAll(log, 7), textsOf([firstAt(7)]));
});

test('who may not begin a log any more changes nothing', async (scope) => {
  const name = marketName();
  const log = await openLog(scope, link, name);
  const entries = chainAfter(EMPTY_TAIL, 3);
  await appendAll(log, entries);
  const options = { name, answerMs: PATIENT_MS, mayRestart: () => false };
  const late = await JetstreamLog.open(link, systemClock, options);
  scope.after(() => late.close());
  await assert.rejects(late.restart(firstAt(4)), RestartRefused);
  await assert.rejects(late.restart(firstAt(2)), RestartRefused);
  assert.deepEqual(await readAll(log), textsOf(entries));
});

test('a log can begin where a stranger wrote first', async (scope) => {
  const name = marketName();
  const log = await openLog(scope, link, name);
  await link.connection.request(`${name}.entry.time`, 'no entry');
  assert.deepEqual(await log.last(), EMPTY_TAIL);
  const first = nextEntry(EMPTY_TAIL);
  await log.restart(first);
  assert.deepEqual(await readAll(log), [first.text]);
});

test('what a stream has lost is found, whoever has it in memory', async (scope) => {
  const name = marketName();
  const log = await openLog(scope, link, name);
  await appendAll(log, chainAfter(EMPTY_TAIL, 20));
  assert.deepEqual(await log.audit(1, 8), { audited: 'sound', nextSeq: 8, atEnd: false });
  assert.deepEqual(await log.audit(8, 100), { audited: 'sound', nextSeq: 20, atEnd: true });
  const { streams } = await manager(link, PATIENT_MS);
  await streams.deleteMessage(name, 12);
  assert.deepEqual(await log.audit(8, 100), { audited: 'damaged', seq: 12 });
  assert.deepEqual(await log.audit(12, 100), { audited: 'damaged', seq: 12 });
  assert.deepEqual(await log.audit(13, 100), { audited: 'sound', nextSeq: 20, atEnd: true });
  await log.trim(15);
  assert.deepEqual(await log.audit(1, 100), { audited: 'sound', nextSeq: 20, atEnd: true });
  await streams.deleteMessage(name, 20);
  assert.deepEqual(await log.audit(20, 100), { audited: 'damaged', seq: 20 });
});

test('a reader gets what is before a gap, and no entry that does not follow', async (scope) => {
  const name = marketName();
  const log = await openLog(scope, link, name);
  const entries = chainAfter(EMPTY_TAIL, 9);
  await appendAll(log, entries);
  await (await manager(link, PATIENT_MS)).streams.deleteMessage(name, 5);
  const late = await openLog(scope, link, name);
  assert.deepEqual(textsOf(await late.read(1, 100)), textsOf(entries.slice(0, 4)));
});
