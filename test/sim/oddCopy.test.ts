/** What a reader of the log gets where one copy of it is not what the others are. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { ensureLog } from '../../src/cluster/log/jetstream.ts';
import { connectNats } from '../../src/cluster/nats/connection.ts';
import { openEntry, type SealedEntry, sealEntry } from '../../src/engine/log/entry.ts';
import type { Log } from '../../src/engine/log/port.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { chainAfter, EMPTY_TAIL } from '../support/chain.ts';
import { openLog } from '../support/nats.ts';
import { NatsModel } from './nats/model.ts';

const NAME = 'odd';
const SERVERS = [0, 1, 2];
const ENTRIES = chainAfter(EMPTY_TAIL, 6);
/** NATS chooses the server of a consumer. */
const READS = 12;

/** A log of six entries on three servers. */
async function logOfThree(t: TestContext) {
  const rng = seededRng(1);
  const latency = { leastMs: 0, mostMs: 1 };
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
  return { model, others, told, open: () => openLog(t, link, NAME) };
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
