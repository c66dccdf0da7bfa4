/** A reader of the log where one copy differs from the others. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { Epochs } from '../../src/cluster/epochs.ts';
import { type CopyBehind, CopyWatch } from '../../src/cluster/log/copies.ts';
import { ensureLog } from '../../src/cluster/log/jetstream.ts';
import { connectNats } from '../../src/cluster/nats/connection.ts';
import { openEntry, type SealedEntry, sealEntry } from '../../src/engine/log/entry.ts';
import type { Log } from '../../src/engine/log/port.ts';
import type { Node } from '../../src/engine/node/node.ts';
import { type Clock, systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { chainAfter, EMPTY_TAIL } from '../support/chain.ts';
import { openLog } from '../support/nats.ts';
import { until } from '../support/until.ts';
import { NatsModel } from './nats/model.ts';

const NAME = 'odd';
const SERVERS = [0, 1, 2];
const ENTRIES = chainAfter(EMPTY_TAIL, 6);
/** Waits of a comparison take a twentieth of the time. */
const HASTY: Clock = {
  ...systemClock,
  after: (delayMs, run) => systemClock.after(delayMs / 20, run),
};
/** NATS chooses the server of a consumer. */
const READS = 12;
/** An audit of the whole log every 61 steps. */
const AUDITS = 61 * READS;

/** A log of six entries on three servers. */
async function logOfThree(t: TestContext) {
  const rng = seededRng(1);
  const latency = { minMs: 0, maxMs: 1 };
  const model = new NatsModel({ clock: systemClock, rng, latency, servers: 3 });
  after(() => {
    for (const server of SERVERS) model.killServer(server);
  });
  const told: string[] = [];
  const link = await connectNats({ url: 'nats://model', name: 'node' }, rng, model.dialer('node'));
  assert.ok(!(link instanceof Failure));
  after(() => link.close());
  link.messages.onDropped((_, why) => told.push(why));
  await ensureLog(link, { name: NAME, replicas: SERVERS.length });
  const log = await openLog(t, link, NAME);
  for (const sealed of ENTRIES) await log.append(sealed, sealed.entry.seq - 1);
  const [leader] = model.jetstream.streams.get(NAME)?.replicas.leaders ?? [];
  const others = SERVERS.filter((server) => model.servers[server] !== leader?.server);
  assert.equal(others.length, 2);
  const leaders = SERVERS.findIndex((at) => model.servers[at] === leader?.server);
  return { model, leaders, others, told, link, log, open: () => openLog(t, link, NAME) };
}

async function readAll(log: Log, from: number): Promise<readonly SealedEntry[]> {
  const all: SealedEntry[] = [];
  for (;;) {
    const next = await log.read(from + all.length, ENTRIES.length);
    if (next.length === 0) return all;
    all.push(...next);
  }
}

const CHANGES: Readonly<Record<string, (text: string) => string>> = {
  'another entry': (text) => {
    const { entry } = openEntry(text);
    return sealEntry({ ...entry, timeMs: entry.timeMs + 1 }).text;
  },
  'no entry': () => 'no entry',
};

for (const [what, change] of Object.entries(CHANGES)) {
  for (const seq of [1, 4, 6]) {
    test(`copies with ${what} at ${seq} are not read`, async (t) => {
      const { model, others, told, open } = await logOfThree(t);
      for (const server of others)
        model.rewrite(NAME, seq, server, change(ENTRIES[seq - 1]?.text ?? ''));
      for (let read = 0; read < READS; read += 1) {
        const log = await open();
        await log.reached(ENTRIES.length);
        for (const from of [1, seq]) {
          assert.deepEqual(await readAll(log, from), ENTRIES.slice(from - 1));
        }
      }
      const isTold = told.some(
        (why) => why.startsWith('a copy of the log') && why.endsWith(` ${seq}`),
      );
      assert.equal(isTold, seq < ENTRIES.length, 'the last one is in memory');
    });
  }
}

test('the odd copy of a stream leader is named, and its log counts as damaged', async (t) => {
  const { model, leaders, link, log } = await logOfThree(t);
  const last = ENTRIES.at(-1) ?? assert.fail();
  model.rewrite(NAME, 4, leaders, CHANGES['another entry']?.(ENTRIES[3]?.text ?? '') ?? '');
  const { seq, epoch } = last.entry;
  const checkpoint = { seq, epoch, entryHash: last.hash };
  // trust: of the node these are asked
  const node = { fold: { store: { checkpoint } }, applied: () => checkpoint } as unknown as Node;
  // trust: of the parts an audit uses log and node
  const epochs = new Epochs({ log, node } as unknown as ConstructorParameters<typeof Epochs>[0]);
  const found = async () => {
    for (let step = 0; step < AUDITS; step += 1) {
      const damaged = await epochs.auditNext();
      if (damaged !== null) return damaged;
    }
    return null;
  };
  assert.equal(await found(), 5, 'a copy was read that has the other entry before it');
  for (let read = 0; read < READS; read += 1) {
    assert.equal(await epochs.logHasOurState(), false, 'whatever copy is read');
  }
  const compared = Promise.withResolvers<readonly CopyBehind[]>();
  const watch = new CopyWatch({
    ...{ link, stream: NAME, clock: HASTY },
    read: async (from) => ENTRIES.slice(from - 1),
    failed: (error) => assert.fail(String(error)),
    copiesCompared: compared.resolve,
  });
  after(() => watch.stop());
  watch.start();
  const named = { server: `nats-${leaders + 1}`, missing: 0, differsAt: 4 };
  assert.deepEqual(await compared.promise, [named]);
  model.rewrite(NAME, 4, leaders, ENTRIES[3]?.text ?? '');
  assert.equal(await epochs.logHasOurState(), true, 'the copy was replaced');
});

for (const seq of [1, 4, 6]) {
  test(`a copy that has another entry ${seq} is named until it has the same`, async (t) => {
    const { model, others, link, log } = await logOfThree(t);
    const [server = 0] = others;
    const compared: (readonly CopyBehind[])[] = [];
    const watch = new CopyWatch(
      {
        ...{ link, stream: NAME, clock: HASTY },
        read: (fromSeq, limit) => log.read(fromSeq, limit),
        failed: (error) => assert.fail(String(error)),
        copiesCompared: (odd) => void compared.push(odd),
      },
      20,
    );
    after(() => watch.stop());
    // The log has the leader's entries in memory.
    await log.last();
    const own = ENTRIES[seq - 1]?.text ?? '';
    model.rewrite(NAME, seq, server, CHANGES['another entry']?.(own) ?? '');
    watch.start();
    await until('it was compared three times', () => compared.length >= 3);
    const named = [{ server: `nats-${server + 1}`, missing: 0, differsAt: seq }];
    assert.deepEqual(compared, [named, named, named]);
    model.rewrite(NAME, seq, server, own);
    await until('it is as the others', () => compared.at(-1)?.length === 0);
  });
}

test('an entry that no copy has is left to the audit, and compared once it is there', async (t) => {
  const { model, link, open } = await logOfThree(t);
  for (const server of SERVERS) model.rewrite(NAME, 1, server, 'no entry');
  const log = await open();
  let unread = 0;
  let compared = 0;
  const watch = new CopyWatch(
    {
      ...{ link, stream: NAME, clock: HASTY },
      read: (fromSeq, limit) =>
        log.read(fromSeq, limit).catch((error: unknown) => {
          unread += 1;
          throw error;
        }),
      failed: (error) => assert.fail(String(error)),
      copiesCompared: () => {
        compared += 1;
      },
    },
    20,
  );
  after(() => watch.stop());
  watch.start();
  await until('it was tried twice', () => unread >= 2);
  assert.equal(compared, 0);
  for (const server of SERVERS) model.rewrite(NAME, 1, server, ENTRIES[0]?.text ?? '');
  await until('it is compared', () => compared > 0);
});
