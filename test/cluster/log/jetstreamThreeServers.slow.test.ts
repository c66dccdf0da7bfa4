/**
 * The log on three servers of each version that is there: leaders that race, a stream whose leader
 * changes meanwhile, nodes of version 0.4 beside new ones, and copies that stay behind.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type CopyBehind, CopyWatch } from '../../../src/cluster/log/copies.ts';
import { ensureLog, JetstreamLog } from '../../../src/cluster/log/jetstream.ts';
import type { NatsLink } from '../../../src/cluster/nats/connection.ts';
import { manager } from '../../../src/cluster/nats/stream.ts';
import type { SealedEntry } from '../../../src/engine/log/entry.ts';
import { isFault } from '../../../src/engine/runtime/assert.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { appendAll, textsOf } from '../../contracts/log.ts';
import { appendAs04 } from '../../support/appendsOf04.ts';
import { chainAfter, EMPTY_TAIL, tailAfter } from '../../support/chain.ts';
import { marketName, natsPrograms, PATIENT_MS, startNatsCluster } from '../../support/nats.ts';
import type { Scope } from '../../support/server.ts';
import { until, untilAsked } from '../../support/until.ts';

const nothing: Promise<boolean[]> = Promise.resolve([]);
const PATIENT = { giveUpMs: 2 * PATIENT_MS, answerMs: 4_000 };

async function openCopied(
  scope: Scope,
  link: NatsLink,
  name: string,
  replicas = 3,
): Promise<JetstreamLog> {
  await untilAsked(
    'the stream is made',
    () => ensureLog(link, { name, replicas }, PATIENT_MS).catch(() => null),
    (made) => made !== null,
  );
  const log = await answered(() => JetstreamLog.open(link, systemClock, { name, ...PATIENT }));
  scope.after(() => log.close());
  return log;
}

/** Asks again while NATS gives no answer: a stream's next leader is being elected. */
async function answered<T>(ask: () => Promise<T>): Promise<T> {
  const all: T[] = [];
  const asked = async () => {
    try {
      return all.push(await ask());
    } catch (error) {
      if (isFault(error, 'natsSilent')) return 0;
      throw error;
    }
  };
  await untilAsked('NATS answers', asked, (count) => count > 0);
  return all[0] as T; // trust: it was counted
}

/** Sets the number of copies, and again while a server was not heard of since it was started. */
async function setCopies(link: NatsLink, name: string, copies: number): Promise<void> {
  const { streams } = await manager(link, PATIENT_MS);
  const set = () => streams.update(name, { num_replicas: copies }).catch((error) => String(error));
  await untilAsked(`${copies} copies`, set, (said) => typeof said !== 'string');
}

async function appendAtOnce(
  log: JetstreamLog,
  entries: readonly SealedEntry[],
): Promise<boolean[]> {
  const all = entries.map((sealed) => log.append(sealed, sealed.entry.seq - 1));
  return (await Promise.all(all)).map(({ outcome }) => outcome === 'appended');
}

/** All entries of the stream, each of which names the one before it. */
async function wholeChain(log: JetstreamLog): Promise<SealedEntry[]> {
  const { seq } = await answered(() => log.last());
  const entries: SealedEntry[] = [];
  while (entries.length < seq) {
    const some = await answered(() => log.read(entries.length + 1, 500));
    assert.ok(some.length > 0, `entry ${entries.length + 1} of ${seq} follows`);
    entries.push(...some);
  }
  for (const [index, { entry }] of entries.entries()) {
    assert.equal(entry.prevEntryHash, entries[index - 1]?.hash ?? '');
  }
  return entries;
}

function stored(entries: readonly SealedEntry[], said: readonly boolean[]): string[] {
  return textsOf(entries.filter((_, index) => said[index]));
}

for (const { program, version } of natsPrograms()) {
  const servers = await startNatsCluster({ after }, program);
  const [one, two] = servers;
  assert.ok(one !== undefined && two !== undefined);
  const link = await one.connect({ after });
  const other = await two.connect({ after });

  test(`${version}: of two leaders that race, none stores behind the other`, async (scope) => {
    const name = marketName();
    const log = await openCopied(scope, link, name);
    const rival = await openCopied(scope, other, name);
    await appendAll(log, chainAfter(EMPTY_TAIL, 2));
    for (let round = 0; round < 6; round += 1) {
      const tail = await answered(() => log.last());
      const [mine, theirs] = [chainAfter(tail, 25, 1), chainAfter(tail, 25, 2)];
      // Once the stream gets another leader meanwhile.
      const stepDown = `$JS.API.STREAM.LEADER.STEPDOWN.${name}`;
      const moved = round === 3 ? link.connection.request(stepDown, '', { timeout: 9_000 }) : null;
      const [ours, rivals] = await Promise.all([
        appendAtOnce(log, mine),
        appendAtOnce(rival, theirs),
        moved?.catch(() => null),
      ]);
      assert.ok(!(ours.includes(true) && rivals.includes(true)), 'entries of one of them only');
      const won = [...stored(mine, ours), ...stored(theirs, rivals)];
      if (moved === null) assert.equal(won.length, 25);
      const all = textsOf(await wholeChain(log));
      assert.deepEqual(all.slice(tail.seq, tail.seq + won.length), won);
    }
  });

  test(`${version}: nodes of 0.4 and new ones write one chain during an upgrade`, async (scope) => {
    const name = marketName();
    const log = await openCopied(scope, link, name);
    await appendAll(log, chainAfter(EMPTY_TAIL, 1));
    for (let round = 0; round < 6; round += 1) {
      const tail = await answered(() => log.last());
      const [mine, theirs] = [chainAfter(tail, 20, 1), chainAfter(tail, 20, 2)];
      // In turn: the old one alone, the new one alone, both at once.
      const isOld = round % 3 !== 1;
      const isNew = round % 3 !== 0;
      const [ours, rivals] = await Promise.all([
        isNew ? appendAtOnce(log, mine) : nothing,
        isOld ? appendAs04(other, name, theirs) : nothing,
      ]);
      assert.ok(!(ours.includes(true) && rivals.includes(true)), 'entries of one of them only');
      const won = [...stored(mine, ours), ...stored(theirs, rivals)];
      assert.equal(won.length, 20, `round ${round}`);
      assert.deepEqual(textsOf((await wholeChain(log)).slice(tail.seq)), won);
    }
  });

  test(`${version}: the copies of a log follow after NATS_REPLICAS was raised`, async (scope) => {
    const name = marketName();
    const log = await openCopied(scope, link, name, 1);
    const entries = chainAfter(EMPTY_TAIL, 114);
    await appendAll(log, entries.slice(0, 37));
    await setCopies(link, name, 3);
    await appendAtOnce(log, entries.slice(37));
    const compared = watchCopies(scope, link, name, log);
    await until('no copy is behind', () => compared.at(-1)?.length === 0);
    // If the leader ends, the entries of the other copies remain.
    const { streams } = await manager(link, PATIENT_MS);
    const leads = async () => (await streams.info(name).catch(() => null))?.cluster?.leader ?? '';
    const ledBy = await untilAsked('one leads', leads, (server) => server !== '');
    const leader = servers.find((_, index) => `s${index}` === ledBy);
    assert.ok(leader !== undefined);
    // The next test needs all three.
    scope.after(() => leader.start());
    await leader.kill();
    const left = servers.find((server) => server !== leader);
    const late = await left?.connect(scope);
    assert.ok(late !== undefined);
    const found = await untilAsked(
      'another leads',
      () => JetstreamLog.open(late, systemClock, { name, answerMs: 1_000 }).catch(() => null),
      (opened) => opened !== null,
    );
    assert.ok(found !== null);
    scope.after(() => found.close());
    const ends = () => found.last().catch(() => EMPTY_TAIL);
    await untilAsked('it has all', ends, ({ seq }) => seq === 114);
    // The server that ended may have led the cluster as well: a consumer waits for the next leader.
    assert.deepEqual(textsOf(await wholeChain(found)), textsOf(entries));
  });

  test(`${version}: copies that stay behind are named with what they lack`, async (scope) => {
    const name = marketName();
    const log = await openCopied(scope, link, name, 1);
    const entries = chainAfter(EMPTY_TAIL, 60);
    await appendAll(log, entries.slice(0, 30));
    await setCopies(link, name, 3);
    const { streams } = await manager(link, PATIENT_MS);
    await untilAsked(
      'there are three copies',
      async () => (await streams.info(name).catch(() => null))?.cluster?.replicas ?? [],
      (replicas) => replicas.filter(({ current }) => current).length === 2,
    );
    // The guard of 0.4 stops them.
    for (const sealed of entries.slice(30)) await appendAs04(link, name, [sealed]);
    const compared = watchCopies(scope, other, name, log);
    await until('both are named', () => compared.at(-1)?.length === 2);
    assert.ok(compared.at(-1)?.every(({ missing }) => missing >= 30));
    assert.equal((await answered(() => log.last())).seq, 60);
    // The operator has the copies made again.
    await setCopies(link, name, 1);
    await setCopies(link, name, 3);
    await until('none is behind', () => compared.at(-1)?.length === 0);
    const next = chainAfter(tailAfter(entries[59] ?? assert.fail()), 10);
    await appendAll(log, next);
    compared.length = 0;
    await until('and none later', () => compared.at(-1)?.length === 0);
  });
}

function watchCopies(
  scope: Scope,
  link: NatsLink,
  stream: string,
  log: JetstreamLog,
): (readonly CopyBehind[])[] {
  const compared: (readonly CopyBehind[])[] = [];
  const failed = (error: unknown) => assert.fail(String(error));
  const copiesCompared = (behind: readonly CopyBehind[]) => void compared.push(behind);
  const read = (fromSeq: number, limit: number) => log.read(fromSeq, limit);
  const deps = { link, stream, clock: systemClock, read, failed, copiesCompared };
  const watch = new CopyWatch(deps, 10);
  watch.start();
  scope.after(() => watch.stop());
  return compared;
}
