/** The leader's audit of the log: its findings, and its cost with many followers. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Epochs } from '../../src/cluster/epochs.ts';
import { type Announcement, Announcements } from '../../src/cluster/nats/announcements.ts';
import { Bucket } from '../../src/cluster/nats/bucket.ts';
import { manager } from '../../src/cluster/nats/stream.ts';
import { MarketRecord } from '../../src/engine/fold/marketRecord.ts';
import { systemClock as clock } from '../../src/engine/runtime/clock.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { chainAfter } from '../support/chain.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { marketName, NatsServer, openLog, PATIENT_MS } from '../support/nats.ts';
import { temporaryDirectory } from '../support/server.ts';
import { until } from '../support/until.ts';

const ENTRIES = 600;
const STEPS = 5;
/** Requests once made for each node: a consumer of the log, and the node's announcement. */
const OF_EACH = /CONSUMER\.(DURABLE\.)?CREATE|MSG\.GET\.KV_/;

test('an audit costs the same for two followers and for fifty, and finds damage', async (t) => {
  const server = await NatsServer.start(t);
  const [link, observer] = [await server.connect(t), await server.connect(t)];
  const name = marketName();
  const log = await openLog(t, link, name);
  const entries = chainAfter(await log.last(), ENTRIES);
  await Promise.all(entries.map((sealed) => log.append(sealed, sealed.entry.seq - 1)));
  const { epoch = '', seq = 0 } = entries.at(-1)?.entry ?? {};
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  const node = Object.create(world.node, { applied: { value: () => ({ epoch, seq }) } });
  const bucket = new Bucket(
    link,
    { name: `${name}-nodes`, replicas: 1, ttlMs: 60_000 },
    PATIENT_MS,
  );
  const announcements = new Announcements(bucket, clock);
  announcements.listen();
  const others = async () => {
    const found = await announcements.others('leader');
    return found === 'unreachable' ? assert.fail() : found;
  };
  const heard = () => announcements.receivedSince('leader', Number.NEGATIVE_INFINITY);
  const place = { name: 'leader', log, node, files: world.files, rng: seededRng(1), others, heard };
  const nothing = async () => {};
  const market = new MarketRecord(world.directory, null);
  const quiet = { epochStarted: () => {}, otherMarket: (error: Error) => assert.fail(error) };
  const idle = { market, ensureStream: nothing, publishBase: nothing, ...quiet };
  let requests = 0;
  observer.connection.subscribe('$JS.API.>', {
    callback: (_error, { subject }) => {
      if (OF_EACH.test(subject)) requests += 1;
    },
  });
  await observer.connection.flush();
  const costOf = async (count: number) => {
    const followers: readonly Announcement[] = Array.from({ length: count }, (_, at) => {
      return { node: `f${at}`, epoch, term: 1, seq: 10 * (at + 1) };
    });
    for (const follower of followers) assert.ok(await announcements.announce(follower));
    await until('they are heard', () => heard().length === count);
    const epochs = new Epochs({ ...place, ...idle });
    assert.equal(await epochs.auditNext(), null, 'it learns where they are');
    await observer.connection.flush();
    requests = 0;
    for (let step = 0; step < STEPS; step += 1) assert.equal(await epochs.auditNext(), null);
    await observer.connection.flush();
    return requests;
  };
  const two = await costOf(2);
  assert.ok(two > 0);
  assert.equal(await costOf(50), two);

  const jsm = await manager(link, PATIENT_MS);
  await jsm.streams.deleteMessage(name, 432);
  const epochs = new Epochs({ ...place, ...idle });
  const found: (number | null)[] = [];
  for (let step = 0; step < 12 && !found.includes(432); step += 1)
    found.push(await epochs.auditNext());
  assert.equal(found.at(-1), 432, `found ${found}`);
});
