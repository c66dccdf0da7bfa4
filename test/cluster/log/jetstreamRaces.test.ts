/** The log of several nodes: rivals, lost acknowledgements, and messages that are no entries. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ensureLog, JetstreamLog, MAX_ENTRY_BYTES } from '../../../src/cluster/log/jetstream.ts';
import { ensureStream, manager } from '../../../src/cluster/nats/stream.ts';
import { type SealedEntry, sealEntry } from '../../../src/engine/log/entry.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { appendAll, readAll, textsOf } from '../../contracts/log.ts';
import { chainAfter, EMPTY_TAIL, nextEntry, tailAfter } from '../../support/chain.ts';
import { marketName, NatsServer, openLog, PATIENT_MS } from '../../support/nats.ts';
import { consumersThatLag, NatsProxy } from '../../support/natsProxy.ts';
import { until, untilAsked } from '../../support/until.ts';

const PATIENT = { timeout: PATIENT_MS };

const server = await NatsServer.start({ after });
const link = await server.connect({ after });
const other = await server.connect({ after });

function appendAtOnce(log: JetstreamLog, entries: readonly SealedEntry[]): Promise<string[]> {
  const all = entries.map((sealed) => log.append(sealed, sealed.entry.seq - 1));
  return Promise.all(all.map((outcome) => outcome.then((said) => said.outcome)));
}

function lastOf(entries: readonly SealedEntry[]): SealedEntry {
  const last = entries.at(-1);
  assert.ok(last !== undefined);
  return last;
}

test('of two writers that race, neither stores an entry behind the other', async (scope) => {
  const name = marketName();
  const log = await openLog(scope, link, name);
  const rival = await openLog(scope, other, name);
  await appendAll(log, chainAfter(EMPTY_TAIL, 1));
  for (let round = 0; round < 15; round += 1) {
    const tail = await log.last();
    const mine = chainAfter(tail, 60, 1);
    const theirs = chainAfter(tail, 60, 2);
    const [ours, rivals] = await Promise.all([
      appendAtOnce(log, mine),
      appendAtOnce(rival, theirs),
    ]);
    const won = ours[0] === 'appended' ? mine : theirs;
    assert.deepEqual(
      [...ours, ...rivals].filter((said) => said === 'appended').length,
      won.length,
      'all of one writer, nothing of the other',
    );
    const end = await log.last();
    assert.equal(end.hash, lastOf(won).hash);
    assert.deepEqual(textsOf(await log.read(tail.seq + 1, 100)), textsOf(won));
  }
});

test('no entry is stored where another took the place of its predecessor', async (scope) => {
  const name = marketName();
  const log = await openLog(scope, link, name);
  const entries = chainAfter(EMPTY_TAIL, 4);
  await appendAll(log, entries.slice(0, 3));
  // The server lost acknowledged messages, and another leader wrote as many entries.
  const { streams } = await manager(link, PATIENT_MS);
  const { config } = await streams.info(name);
  await streams.delete(name);
  await streams.add(config);
  const rival = await openLog(scope, other, name);
  await appendAll(rival, chainAfter(EMPTY_TAIL, 3, 2));
  assert.deepEqual(await log.append(lastOf(entries), 3), { outcome: 'conflict', lastSeq: 3 });
  assert.equal((await rival.last()).seq, 3);
});

test('an entry whose acknowledgement was lost is appended once', async (scope) => {
  const proxy = await NatsProxy.start(scope, server.port);
  const through = await server.connect(scope, proxy.url);
  const name = marketName();
  const log = await openLog(scope, through, name);
  const entries = chainAfter(EMPTY_TAIL, 12);
  await appendAll(log, entries.slice(0, 2));
  let published = 0;
  proxy.heard = (text) => {
    if (!text.includes(`HPUB ${name}.entry.`)) return;
    published += 1;
    proxy.deaf = published === 1;
  };
  const said = appendAtOnce(log, entries.slice(2));
  const direct = await openLog(scope, other, name);
  await direct.reached(3);
  assert.equal(published, 1);
  proxy.cut();
  proxy.deaf = false;
  assert.ok((await said).every((outcome) => outcome === 'appended'));
  assert.deepEqual(await readAll(direct), textsOf(entries));
});

test('a lost acknowledgement is a conflict when another node wrote that seq', async (scope) => {
  const proxy = await NatsProxy.start(scope, server.port);
  const through = await server.connect(scope, proxy.url);
  const name = marketName();
  const log = await openLog(scope, through, name);
  const [first] = chainAfter(EMPTY_TAIL, 1);
  assert.ok(first !== undefined);
  await appendAll(log, [first]);
  proxy.isClosed = true;
  proxy.cut();
  const said = log.append(nextEntry(tailAfter(first), 1), 1);
  const theirs = chainAfter(tailAfter(first), 3, 2);
  await appendAll(await openLog(scope, other, name), theirs);
  proxy.isClosed = false;
  assert.deepEqual(await said, { outcome: 'conflict', lastSeq: 4 });
});

test('appends continue when the server has forgotten the ids of messages', async (scope) => {
  const own = await NatsServer.start(scope);
  const connection = await own.connect(scope);
  const name = marketName();
  const shape = { replicas: 1, maxMessageBytes: 1024 * 1024, dedupeMs: 100 };
  const subjects = [`${name}.entry.*`];
  await ensureStream(connection, { ...shape, name, subjects }, PATIENT_MS);
  const log = await openLog(scope, connection, name);
  const entries = chainAfter(EMPTY_TAIL, 30);
  await appendAll(log, entries.slice(0, 5));
  const forgottenMs = performance.now() + 150;
  await own.kill();
  await until('the ids are forgotten', () => performance.now() > forgottenMs);
  await own.start();
  await until('it is connected again', () => connection.connected);
  const again = await appendAtOnce(log, entries.slice(3));
  assert.ok(again.every((outcome) => outcome === 'appended'));
  const rival = nextEntry(tailAfter(lastOf(entries.slice(0, 4))), 7);
  assert.deepEqual(await log.append(rival, 4), { outcome: 'conflict', lastSeq: 30 });
  assert.deepEqual(await readAll(log), textsOf(entries));
});

test('a log restarts after its end or before it, for one of two nodes', async (scope) => {
  const name = marketName();
  const log = await openLog(scope, link, name);
  const reader = await openLog(scope, other, name);
  await appendAll(log, chainAfter(EMPTY_TAIL, 8));
  const begin = (seq: number, mark: number) =>
    nextEntry({ seq: seq - 1, hash: '', epoch: `${seq}-x` }, mark, {
      kind: 'epoch',
      reason: 'log lost',
      base: { seq: seq - 1, stateHash: 'aa' },
    });
  for (const wanted of [9, 500, 4]) {
    const seq = await log.beginsAt(wanted);
    assert.equal(seq, wanted === 4 ? 551 : wanted, 'never where something was before');
    const first = begin(seq, 0);
    const heard = reader.reached(seq);
    await log.restart(first);
    await heard;
    await log.restart(first);
    const next = chainAfter(tailAfter(first), 50);
    assert.ok((await appendAtOnce(log, next)).every((outcome) => outcome === 'appended'));
    assert.deepEqual(await reader.last(), tailAfter(lastOf(next)));
    assert.deepEqual(await readAll(reader, seq, 20), textsOf([first, ...next]));
    assert.equal(await reader.first(), seq);
    assert.deepEqual(await reader.epochs(), [seq]);
    const stale = chainAfter({ seq: 8, hash: 'old', epoch: '1-test' }, 1, 3);
    assert.deepEqual((await appendAtOnce(reader, stale))[0], 'conflict');
  }
  const results = await Promise.allSettled([
    log.restart(begin(900, 1)),
    reader.restart(begin(900, 2)),
  ]);
  const winners = results.filter(({ status }) => status === 'fulfilled').length;
  assert.ok(winners <= 1, 'two that begin at once never both succeed');
  // Each may get in the other's way; then a single one, run alone, succeeds.
  const seq = winners === 1 ? 900 : await log.beginsAt(900);
  if (winners === 0) await log.restart(begin(seq, 1));
  assert.equal((await reader.last()).seq, seq);
});

test('an entry above the limit is refused before it is sent', async (scope) => {
  const log = await openLog(scope, link, marketName());
  const { entry } = nextEntry(EMPTY_TAIL);
  const filled = (stateHash: string) => {
    const payload = { kind: 'epoch', reason: 'new', base: { seq: 0, stateHash } } as const;
    return sealEntry({ ...entry, payload });
  };
  const bare = filled('').text.length;
  const sized = (bytes: number) => filled('x'.repeat(bytes - bare));
  await assert.rejects(log.append(sized(MAX_ENTRY_BYTES + 1), 0), /1000001 bytes, at most/);
  const largest = sized(MAX_ENTRY_BYTES);
  await appendAll(log, [largest]);
  assert.deepEqual(await readAll(log), [largest.text]);
});

test('a message that is no entry is neither awaited nor read as an entry', async (scope) => {
  const name = marketName();
  const log = await openLog(scope, link, name);
  const entries = chainAfter(EMPTY_TAIL, 3);
  await appendAll(log, entries);
  link.connection.publish(`${name}.entry.time`, 'rubbish');
  await log.reached(4);
  await assert.rejects(log.read(4, 10), /message 4 of the stream is no entry/);
  assert.equal(await log.check({ seq: 4, hash: 'aa', epoch: '1-test' }), 'different');
  assert.equal(await log.check(tailAfter(lastOf(entries))), 'same');
  for (const text of [lastOf(entries).text, entries[0]?.text ?? '', 'null', '{"seq":8}']) {
    await link.connection.request(`${name}.entry.epoch`, text, PATIENT);
  }
  assert.deepEqual(await log.last(), tailAfter(lastOf(entries)), 'the newest entry, by whatever');
  assert.deepEqual(await log.epochs(), [1]);
  const late = await openLog(scope, other, name);
  assert.deepEqual(await late.last(), tailAfter(lastOf(entries)));
  assert.deepEqual(textsOf(await late.read(1, 10)), textsOf(entries));
  const next = nextEntry(tailAfter(lastOf(entries)));
  assert.equal((await log.append(next, 3)).outcome, 'conflict', 'nothing goes in behind it');
});

test('a node that is far behind reads thousands of entries in order', async (scope) => {
  const name = marketName();
  const log = await openLog(scope, link, name);
  const entries = chainAfter(EMPTY_TAIL, 6_000);
  await appendAtOnce(log, entries);
  const late = await openLog(scope, other, name);
  assert.deepEqual(await readAll(late, 1, 512), textsOf(entries));
  assert.deepEqual(await readAll(late, 5_990, 512), textsOf(entries.slice(5_989)));
});

test('a reader whose consumers lag reads from the leader of the stream', async (scope) => {
  const proxy = await NatsProxy.start(scope, server.port);
  const through = await server.connect(scope, proxy.url);
  const name = marketName();
  const log = await openLog(scope, link, name);
  const entries = chainAfter(EMPTY_TAIL, 300);
  await appendAll(log, entries);
  let requests = 0;
  proxy.rewrite = consumersThatLag(name);
  proxy.heard = (text) => {
    requests += text.split('PUB $JS.API.').length - 1;
  };
  const behind = await openLog(scope, through, name);
  assert.equal((await behind.last()).seq, entries.length);
  assert.deepEqual(await readAll(behind, 1, 100), textsOf(entries));
  assert.ok(requests < 2 * entries.length, `${requests} requests`);
  const atEnd = requests;
  await behind.reached(entries.length);
  // Nothing is pushed either: `reached` resolves at the next `last`.
  const next = behind.reached(entries.length + 1);
  await log.append(nextEntry(tailAfter(lastOf(entries))), entries.length);
  assert.equal((await behind.last()).seq, entries.length + 1);
  await next;
  assert.ok(requests - atEnd < 10, `${requests - atEnd} requests`);
  proxy.rewrite = (text) => text;
  const more = chainAfter(await log.last(), 40);
  await appendAll(log, more);
  await untilAsked(
    'it reads on',
    () => behind.last(),
    ({ seq }) => seq === lastOf(more).entry.seq,
  );
  assert.deepEqual(textsOf(await behind.read(lastOf(entries).entry.seq + 2, 40)), textsOf(more));
});

test('a stream that ends before the pushed entries is not polled', async (scope) => {
  const proxy = await NatsProxy.start(scope, server.port);
  const through = await server.connect(scope, proxy.url);
  const name = marketName();
  const log = await openLog(scope, link, name);
  const [first] = chainAfter(EMPTY_TAIL, 1);
  assert.ok(first !== undefined);
  await appendAll(log, [first]);
  const behind = await openLog(scope, through, name);
  await behind.last();
  await link.connection.request(`${name}.entry.none`, 'no entry', PATIENT);
  await behind.reached(2);
  const jsm = await manager(link, PATIENT_MS);
  await jsm.streams.deleteMessage(name, 2);
  assert.deepEqual(await behind.read(2, 10), []);
  let isReached = false;
  void behind.reached(2).then(() => {
    isReached = true;
  });
  await behind.read(2, 10);
  assert.ok(!isReached, 'reached does not resolve for entries that are gone');
});

test('opening reports a missing stream; ensureLog says whether it was there', async () => {
  const name = marketName();
  const open = () => JetstreamLog.open(link, systemClock, { name, answerMs: PATIENT_MS });
  await assert.rejects(open(), /no stream/);
  assert.equal(await ensureLog(link, { name, replicas: 1 }, PATIENT_MS), 'made');
  assert.equal(await ensureLog(link, { name, replicas: 1 }, PATIENT_MS), 'there');
});
