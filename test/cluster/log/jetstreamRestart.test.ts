/** A log that a node restarts while another node writes, or may write. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { JetstreamLog } from '../../../src/cluster/log/jetstream.ts';
import { AppendQueue } from '../../../src/cluster/log/jetstreamAppends.ts';
import { startLog } from '../../../src/cluster/log/jetstreamRestart.ts';
import { manager, NatsStream } from '../../../src/cluster/nats/stream.ts';
import { isFault } from '../../../src/engine/runtime/assert.ts';
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

/** The steps of `startLog` that send a request to the server. */
const STEPS = ['state', 'at', 'lastOf', 'purgeBelow', 'remake', 'remove'] as const;

/** `stream`, whose caller is frozen before the step of this number until `meanwhile` is over. */
function frozenBefore(stream: NatsStream, step: number, meanwhile: () => Promise<void>) {
  let steps = 0;
  const asked: string[] = [];
  const frozen = Object.create(stream, { name: { value: stream.name } });
  for (const name of STEPS) {
    frozen[name] = async (...args: readonly unknown[]) => {
      steps += 1;
      asked.push(name);
      if (steps === step) await meanwhile();
      return Reflect.apply(stream[name], stream, args);
    };
  }
  return { frozen, asked };
}

/** Where a stream ended, and where the frozen node and another one want to start. */
const LATE_BEGINS = {
  'behind its end': { entries: 5, own: 6, others: 4 },
  'far behind its end': { entries: 5, own: 40, others: 30 },
  'in a stream that was lost': { entries: 0, own: 40, others: 7 },
} as const;

for (const [where, { entries, own, others }] of Object.entries(LATE_BEGINS)) {
  test(`a node frozen while it restarts ${where} does not change a living log`, async (scope) => {
    const patience = { giveUpMs: PATIENT_MS, answerMs: PATIENT_MS };
    let furthest = 0;
    for (let step = 1; step <= furthest + 1; step += 1) {
      const name = marketName();
      const log = await openLog(scope, link, name);
      await appendAll(log, chainAfter(EMPTY_TAIL, entries));
      const stream = new NatsStream(link, await manager(link, PATIENT_MS), name);
      const living: string[] = [];
      const meanwhile = async () => {
        const first = firstAt(await log.beginsAt(others));
        await log.restart(first);
        const next = chainAfter(tailAfter(first), 3);
        await appendAll(log, next);
        living.push(...textsOf([first, ...next]));
      };
      const { frozen, asked } = frozenBefore(stream, step, meanwhile);
      const appends = new AppendQueue(link, frozen, systemClock, patience);
      // As with the lease: no other node starts it while this node may.
      const mayBegin = () => living.length === 0;
      const beginning = startLog(firstAt(own), frozen, appends, mayBegin);
      const result = await beginning.catch((error: unknown) => error);
      appends.close();
      furthest = Math.max(furthest, asked.length);
      const text = `frozen before ${asked[step - 1] ?? 'nothing'} of ${asked}`;
      const isDone = living.length === 0 || result === undefined;
      if (!isDone) assert.ok(isFault(result, 'logRestartRefused'), `${text}: ${result}`);
      const expected = living.length === 0 ? textsOf([firstAt(own)]) : living;
      assert.deepEqual(await readAll(log, await log.first()), expected, text);
    }
    assert.ok(furthest >= 3, `${furthest} steps`);
  });
}

test('a node that may no longer restart a log changes nothing', async (scope) => {
  const name = marketName();
  const log = await openLog(scope, link, name);
  const entries = chainAfter(EMPTY_TAIL, 3);
  await appendAll(log, entries);
  const options = { name, answerMs: PATIENT_MS, mayRestart: () => false };
  const late = await JetstreamLog.open(link, systemClock, options);
  scope.after(() => late.close());
  await assert.rejects(late.restart(firstAt(4)), { kind: 'logRestartRefused' });
  await assert.rejects(late.restart(firstAt(2)), { kind: 'logRestartRefused' });
  assert.deepEqual(await readAll(log), textsOf(entries));
});

test('a log can start where another program wrote first', async (scope) => {
  const name = marketName();
  const log = await openLog(scope, link, name);
  await link.connection.request(`${name}.entry.time`, 'no entry', { timeout: PATIENT_MS });
  assert.deepEqual(await log.last(), EMPTY_TAIL);
  const first = nextEntry(EMPTY_TAIL);
  await log.restart(first);
  assert.deepEqual(await readAll(log), [first.text]);
});

test('an audit finds what a stream has lost, although it is in memory', async (scope) => {
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

test('a reader gets the entries before a gap, and none that does not follow', async (scope) => {
  const name = marketName();
  const log = await openLog(scope, link, name);
  const entries = chainAfter(EMPTY_TAIL, 9);
  await appendAll(log, entries);
  await (await manager(link, PATIENT_MS)).streams.deleteMessage(name, 5);
  const late = await openLog(scope, link, name);
  assert.deepEqual(textsOf(await late.read(1, 100)), textsOf(entries.slice(0, 4)));
});

test('the last entry is found where what was behind it is deleted', async (scope) => {
  const name = marketName();
  const log = await openLog(scope, link, name);
  const entries = chainAfter(EMPTY_TAIL, 6);
  await appendAll(log, entries);
  const { streams } = await manager(link, PATIENT_MS);
  for (const seq of [5, 6]) await streams.deleteMessage(name, seq);
  const late = await openLog(scope, link, name);
  assert.equal((await late.last()).hash, entries[3]?.hash);
});
