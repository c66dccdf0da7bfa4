/** Entries of strangers that have the form of an entry, and that nothing could follow. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { JetstreamLog } from '../../../src/cluster/log/jetstream.ts';
import {
  ENTRY_VERSION,
  type Entry,
  type Payload,
  sealEntry,
} from '../../../src/engine/log/entry.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { appendAll, textsOf } from '../../contracts/log.ts';
import { chainAfter, EMPTY_TAIL, nextEntry, tailAfter } from '../../support/chain.ts';
import { marketName, NatsServer, openLog, PATIENT_MS } from '../../support/nats.ts';

const server = await NatsServer.start({ after });
const link = await server.connect({ after });

const ENTRIES = chainAfter(EMPTY_TAIL, 5);
const [LAST] = ENTRIES.slice(-1);
assert.ok(LAST !== undefined);
const LATEST_MS = LAST.entry.timeMs + 2_000;
const AHEAD_MS = LATEST_MS + 60_001;
const EPOCH = { kind: 'epoch', reason: 'new' } as const;
const RUN: Payload = {
  ...{ kind: 'passed', atMs: 1, slot: 1, hash: 'ab' },
  ...{ height: Number.MAX_SAFE_INTEGER, blocks: 1_001 },
};
const FEED: Payload = { kind: 'block', atMs: AHEAD_MS, trades: [] };
const CHAIN = { slot: 1, hash: 'ab', height: 1, events: [], settled: [], dropped: [] };
const BLOCK: Payload = { ...FEED, chain: CHAIN };

/** A log of five entries, and behind them one that another program published. */
async function logWith(scope: Parameters<typeof openLog>[0], change: Partial<Entry>, kind = 'any') {
  const name = marketName();
  await appendAll(await openLog(scope, link, name), ENTRIES);
  const { entry } = nextEntry(tailAfter(LAST ?? assert.fail()));
  const strange = sealEntry({ ...entry, ...change });
  await link.connection.request(`${name}.entry.${kind}`, strange.text, { timeout: PATIENT_MS });
  let latestMs = LATEST_MS;
  const options = { name, answerMs: PATIENT_MS, latestMs: () => latestMs };
  const log = await JetstreamLog.open(link, systemClock, options);
  scope.after(() => log.close());
  return { log, strange, wait: (ms: number) => (latestMs += ms) };
}

for (const [what, change] of Object.entries<Partial<Entry>>({
  'of more leaders than entries': { term: 7, payload: { kind: 'leader', node: 'stranger' } },
  'of more epochs than entries': { epoch: '7-x', payload: EPOCH },
  'of the last epoch that has a name': { epoch: '999999999999999-x', payload: EPOCH },
  'whose epoch begins with the last term': { epoch: '2-x', term: 1e12, payload: EPOCH },
  'of more empty blocks than a run has': { version: ENTRY_VERSION, payload: RUN },
  'whose epoch continues an entry behind it': {
    ...{ epoch: '2-x', payload: { kind: 'epoch', reason: 'rollback', base: { seq: 6 } } },
  },
  'whose time the clocks do not allow': { timeMs: AHEAD_MS },
  'of trades of no block, whose time the clocks do not allow': {
    ...{ timeMs: AHEAD_MS, payload: FEED },
  },
  'of a leader, whose time the clocks do not allow': {
    ...{ timeMs: AHEAD_MS, term: 2 },
    payload: { kind: 'leader', node: 'stranger' },
  },
  'of an epoch, whose time the clocks do not allow': {
    ...{ timeMs: AHEAD_MS, epoch: '2-x', payload: EPOCH },
  },
})) {
  test(`an entry ${what} is none, and damages the log`, async (scope) => {
    const { log } = await logWith(scope, change);
    assert.deepEqual(await log.last(), tailAfter(LAST));
    assert.deepEqual(textsOf(await log.read(1, 10)), textsOf(ENTRIES));
    await assert.rejects(log.read(6, 10), /message 6 of the stream (says|is no entry)/);
    assert.deepEqual(await log.epochs(), [1]);
    assert.deepEqual(await log.audit(1, 10), { audited: 'damaged', seq: 6 });
  });
}

for (const [what, change] of Object.entries<Partial<Entry>>({
  'a time that the clocks allow': { timeMs: AHEAD_MS - 1 },
  'the time of its block': { timeMs: AHEAD_MS, payload: BLOCK },
  'an epoch that continues the one before it': {
    ...{ epoch: '2-x', payload: { ...EPOCH, base: { seq: 5 } } },
  },
  'as many leaders and epochs as entries': { term: 6, epoch: '6-x', payload: EPOCH },
})) {
  test(`an entry with ${what} is read`, async (scope) => {
    const { log, strange } = await logWith(scope, change);
    assert.equal((await log.last()).hash, strange.hash);
    assert.deepEqual(await log.audit(1, 10), { audited: 'sound', nextSeq: 6, atEnd: true });
  });
}

test('an entry is read once its time has come', async (scope) => {
  const { log, strange, wait } = await logWith(scope, { timeMs: AHEAD_MS + 4_000 });
  assert.deepEqual(await log.last(), tailAfter(LAST));
  wait(5_000);
  assert.equal((await log.last()).hash, strange.hash);
  assert.deepEqual(await log.read(6, 10), [strange]);
});

test('an entry that names another predecessor stops who has neither', async (scope) => {
  const { log } = await logWith(scope, { prevEntryHash: 'ab'.repeat(32) });
  assert.deepEqual(textsOf(await log.read(1, 10)), textsOf(ENTRIES.slice(0, 4)));
  await assert.rejects(log.read(5, 10), /entry 6 does not follow entry 5/);
});

for (const [what, epoch, epochs] of [
  ['once more', LAST.entry.epoch, [1]],
  ['of a later one', '2-x', [1, 6]],
] as const) {
  test(`the first entry of an epoch, ${what}, is at ${epochs}`, async (scope) => {
    const payload = { ...EPOCH, base: { seq: 5 } };
    const { log } = await logWith(scope, { epoch, payload }, 'epoch');
    assert.deepEqual(await log.epochs(), epochs);
  });
}
