/** Settings that NATS keeps: each starting node compares them, and changes them or is refused. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ensureLog, LOG_LIMITS } from '../../../src/cluster/log/jetstream.ts';
import type { Announcement } from '../../../src/cluster/nats/announcements.ts';
import { Bucket } from '../../../src/cluster/nats/bucket.ts';
import { Lease } from '../../../src/cluster/nats/lease.ts';
import { manager } from '../../../src/cluster/nats/stream.ts';
import {
  type SharedSettings,
  settingsOf,
  settleSettings,
  streamsOf,
} from '../../../src/cluster/nats/streamSettings.ts';
import { isFault } from '../../../src/engine/runtime/assert.ts';
import { systemClock as clock } from '../../../src/engine/runtime/clock.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { marketName, NatsServer, PATIENT_MS } from '../../support/nats.ts';
import { untilAsked } from '../../support/until.ts';

const server = await NatsServer.start({ after });
const link = await server.connect({ after });

function bucketOf(market: string, ttlMs: number): Bucket {
  return new Bucket(link, { name: `${market}-nodes`, replicas: 1, ttlMs }, PATIENT_MS);
}

/** The streams of a market whose nodes ran with this lease. */
async function oldMarket(leaseMs = 2_000): Promise<string> {
  const market = marketName();
  await ensureLog(link, { name: market, replicas: 1 }, PATIENT_MS);
  assert.equal(await bucketOf(market, leaseMs).get('leader'), null);
  return market;
}

const OTHER: Announcement = { node: 'b', epoch: '1-a', term: 1, seq: 1 };

/** Warnings that a starting node reports. */
async function started(
  market: string,
  own: SharedSettings,
  others: readonly Announcement[] = [],
): Promise<readonly string[]> {
  const said: string[] = [];
  await settleSettings(link, streamsOf(market), LOG_LIMITS, own, others, {
    settingChanged: (setting, stream, from, to) =>
      said.push(`${setting} of ${stream.replace(market, 'market')}: ${from} → ${to}`),
    settingDiffers: (setting, mine, node, theirs) =>
      said.push(`${setting} ${mine}, ${node} has ${theirs}`),
  });
  return said;
}

test('the lease in NATS is the largest that a living node announces', async () => {
  const market = await oldMarket();
  const lives = async () => (await settingsOf(link, streamsOf(market).nodes))?.maxAgeMs;
  const own = { leaseMs: 15_000, replicas: 1 };
  assert.deepEqual(await started(market, own), ['LEASE_MS of KV_market-nodes: 2000 → 15000']);
  assert.equal(await lives(), 15_000);
  assert.deepEqual(await started(market, own), [], 'nothing is left to change');
  const shorter = { leaseMs: 1_000, replicas: 1 };
  assert.deepEqual(await started(market, shorter, [{ ...OTHER, ...own }]), [
    'LEASE_MS 1000, b has 15000',
  ]);
  assert.deepEqual(await started(market, shorter, [OTHER]), [], 'b may ask for more: it is old');
  assert.equal(await lives(), 15_000);
  await started(market, shorter, [
    { ...OTHER, ...shorter },
    { ...OTHER, ...own, reader: true },
  ]);
  assert.equal(await lives(), 1_000);
});

test('a node that takes the lease raises its lifetime in the bucket', async (scope) => {
  // Longer than a busy machine may take to raise it.
  const market = await oldMarket(4_000);
  const bucket = bucketOf(market, 15_000);
  const losses: string[] = [];
  const lease = new Lease(bucket, {
    node: 'a',
    subject: 'a',
    leaseMs: 15_000,
    clock,
    rng: systemRng,
    lost: (why) => losses.push(why),
  });
  scope.after(() => lease.release());
  await untilAsked(
    'it is taken',
    () => lease.tryTake(),
    (outcome) => outcome === 'taken',
  );
  const isLong = (found: Awaited<ReturnType<typeof settingsOf>>) => found?.maxAgeMs === 15_000;
  await untilAsked('it lasts', () => settingsOf(link, streamsOf(market).nodes), isLong);
  const first = await bucket.get('leader');
  assert.ok(first !== null && first !== 'unreachable');
  // Renewed after 5 s: by then it would have run out, had it kept the four seconds of before.
  await untilAsked(
    'it is renewed',
    () => bucket.get('leader'),
    (value) => value !== null && value !== 'unreachable' && value.revision > first.revision,
    PATIENT_MS,
  );
  assert.deepEqual(losses, []);
});

test('a stream that would lose entries is changed, or refused', async () => {
  const own = { leaseMs: 2_000, replicas: 1 };
  const market = await oldMarket();
  const jsm = await manager(link, PATIENT_MS);
  const tight = { max_age: 60e9, max_msg_size: 100, duplicate_window: 1e9 };
  await jsm.streams.update(market, tight);
  assert.equal((await started(market, own)).length, 3);
  const { config } = await jsm.streams.info(market);
  assert.equal(config.max_age, 0);
  assert.equal(config.max_msg_size, LOG_LIMITS.maxMessageBytes);
  assert.deepEqual(await started(market, own), []);
  await jsm.streams.delete(market);
  await jsm.streams.add({ ...config, storage: 'memory' as typeof config.storage });
  await assert.rejects(started(market, own), (error) => {
    return isFault(error, 'startRefused') && /storage "memory".*MARKET_NAME/.test(error.message);
  });
});

test('what another node announces changes nothing that NATS has', async () => {
  const market = await oldMarket();
  const own = { leaseMs: 2_000, replicas: 1 };
  const stranger = { ...OTHER, leaseMs: 60_000, replicas: 5 };
  assert.deepEqual(await started(market, own, [stranger]), [
    'NATS_REPLICAS 1, b has 5',
    'LEASE_MS 2000, b has 60000',
  ]);
  const { nodes } = streamsOf(market);
  const [log, values] = [await settingsOf(link, market), await settingsOf(link, nodes)];
  assert.deepEqual([log?.replicas, values?.maxAgeMs], [1, 2_000]);
  // Nor does it keep a node from raising its own.
  await started(market, { leaseMs: 4_000, replicas: 1 }, [stranger]);
  assert.equal((await settingsOf(link, nodes))?.maxAgeMs, 4_000);
});

test('more copies than there are servers are refused', async () => {
  const market = await oldMarket();
  await assert.rejects(started(market, { leaseMs: 2_000, replicas: 3 }), (error) => {
    return isFault(error, 'startRefused') && /NATS_REPLICAS=3.*single server/.test(error.message);
  });
  assert.equal((await settingsOf(link, market))?.replicas, 1);
});
