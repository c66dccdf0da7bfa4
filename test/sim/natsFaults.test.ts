/** The faults of the model of NATS, in virtual time: the effect of each on a client. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Bucket } from '../../src/cluster/nats/bucket.ts';
import { connectNats, type NatsLink } from '../../src/cluster/nats/connection.ts';
import { StreamFollower } from '../../src/cluster/nats/follower.ts';
import { Lease } from '../../src/cluster/nats/lease.ts';
import { Publisher, type PublishResult } from '../../src/cluster/nats/publisher.ts';
import { RangeFetcher } from '../../src/cluster/nats/range.ts';
import { ensureStream, manager, NatsStream } from '../../src/cluster/nats/stream.ts';
import { sleep } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { VirtualTime } from './machine/virtualTime.ts';
import { NatsModel } from './nats/model.ts';

const MAX_MS = 3_600_000;
const NAME = 'market';
const SUBJECT = `${NAME}.entry.block`;

/** A market's stream on the model, and a node's view of it. */
class World {
  readonly time = new VirtualTime();
  readonly rng;
  readonly model;
  readonly clock;
  readonly servers: 1 | 3;

  constructor(servers: 1 | 3, seed = 1) {
    this.servers = servers;
    this.rng = seededRng(seed);
    const clock = this.time.clock({}, this.time.process('nats'));
    this.model = new NatsModel({ clock, rng: this.rng, servers });
    this.clock = this.time.clock({}, this.time.process('node'));
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const uninstall = this.time.install(this.rng);
    return this.time.settle(work(), MAX_MS).finally(uninstall);
  }

  async connect(node = 'node'): Promise<NatsLink> {
    const settings = { url: 'nats://model', name: node };
    const link = await connectNats(settings, this.rng, this.model.dialer(node, this.clock));
    assert.ok(!(link instanceof Failure));
    return link;
  }

  async open(node = 'node') {
    const link = await this.connect(node);
    const shape = { name: NAME, subjects: [`${NAME}.entry.*`], replicas: this.servers };
    await ensureStream(link, { ...shape, maxMessageBytes: 65_536, dedupeMs: 600_000 });
    const publisher = new Publisher(link, this.clock, 2_000);
    const jsm = await manager(link);
    const stream = new NatsStream(link, jsm, NAME);
    const publish = (text: string) => publisher.publish(SUBJECT, text, text, {});
    /** Until it is stored. */
    const store = async (text: string): Promise<number> => {
      for (;;) {
        const result = await publish(text);
        if (result.result === 'stored') return result.seq;
        await this.wait(100);
      }
    };
    const reader = new RangeFetcher(link, jsm, NAME, this.clock);
    const texts = async () =>
      (await reader.read(1, 100)).map(({ data }) => Buffer.from(data).toString());
    return { link, jsm, stream, publish, store, texts, reader };
  }

  wait(ms: number): Promise<void> {
    return sleep(this.clock, ms);
  }

  /** The number of the server that leads the stream. */
  get leader(): number {
    const [leader] = this.model.jetstream.streams.get(NAME)?.replicas.leaders ?? [];
    assert.ok(leader !== undefined, 'some server leads');
    return leader.server.index;
  }
}

async function until(world: World, isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await world.wait(50);
}

test('any one of three servers may end: acknowledged messages stay', async () => {
  for (let seed = 1; seed <= 10; seed += 1) {
    const world = new World(3, seed);
    await world.run(async () => {
      const { store, texts } = await world.open();
      for (const text of ['a', 'b']) await store(text);
      const server = world.leader;
      world.model.killServer(server, 60_000);
      assert.equal(await store('c'), 3);
      assert.notEqual(world.leader, server);
      world.model.startServer(server);
      await world.wait(5_000);
      world.model.killServer(world.leader, 0);
      assert.equal(await store('d'), 4);
      assert.deepEqual(await texts(), ['a', 'b', 'c', 'd']);
    });
  }
});

test('two servers that lose their last writes at once lose acknowledged ones', async () => {
  const world = new World(3);
  await world.run(async () => {
    const { store, stream } = await world.open();
    await store('a');
    await world.wait(10_000);
    await store('b');
    for (const server of [0, 1, 2]) world.model.killServer(server, 5_000);
    for (const server of [0, 1, 2]) world.model.startServer(server);
    assert.equal(await store('c'), 2);
    assert.equal((await stream.state()).last, 2);
  });
});

test('a leader that is cut off answers for a while, and stores nothing', async () => {
  const world = new World(3);
  await world.run(async () => {
    const first = await world.open();
    await first.store('a');
    const cut = world.leader;
    world.model.partitionServer(cut);
    const stored = await first.publish('lost');
    await world.wait(12_000);
    world.model.healServers();
    await until(world, async () => (await first.stream.state().catch(() => null)) !== null);
    assert.equal(await first.store('b'), 2);
    assert.deepEqual(await first.texts(), ['a', 'b']);
    // The client may have been with another server, which the leader did not hear either.
    assert.equal(stored.result, 'lost');
  });
});

test('without two of three servers nothing is stored, and it says so', async () => {
  const world = new World(3);
  await world.run(async () => {
    const { publish, store, stream } = await world.open();
    await store('a');
    const others = [0, 1, 2].filter((server) => server !== world.leader);
    for (const server of others) world.model.killServer(server);
    assert.equal((await publish('b')).result, 'lost');
    await world.wait(15_000);
    await assert.rejects(stream.state(), /temporarily unavailable/);
    for (const server of others) world.model.startServer(server);
    await store('c');
  });
});

test('a single server that ends loses what it had not written', async () => {
  const world = new World(1);
  await world.run(async () => {
    const { link, store, texts } = await world.open();
    const seen: string[] = [];
    link.onStatus(({ status }) => seen.push(status));
    await store('a');
    await world.wait(60_000);
    await store('b');
    world.model.killServer(0, 30_000);
    await world.wait(1_000);
    assert.equal(link.connected, false);
    world.model.startServer(0);
    await until(world, () => link.connected);
    assert.deepEqual(seen, ['disconnected', 'reconnected']);
    assert.deepEqual(await texts(), ['a']);
    assert.equal(await store('c'), 2);
  });
});

test('an older copy of the server comes back', async () => {
  const world = new World(1);
  await world.run(async () => {
    const { link, store, texts, stream } = await world.open();
    await store('a');
    const copy = world.model.copy();
    await store('b');
    await stream.purgeBelow(2);
    world.model.restore(copy);
    await world.wait(100);
    await until(world, () => link.connected);
    assert.deepEqual(await texts(), ['a']);
    world.model.deleteStream(NAME);
    await assert.rejects(stream.state(), /no stream/);
  });
});

test('a node that hears nothing notices within six seconds, and returns', async () => {
  for (const way of ['in', 'out', 'both'] as const) {
    const world = new World(1);
    await world.run(async () => {
      const { link, store, texts } = await world.open();
      await store('a');
      const startMs = world.clock.monotonicMs();
      world.model.partition('node', way);
      await until(world, () => !link.connected);
      assert.ok(world.clock.monotonicMs() - startMs <= 6_100, 'two pings of 2 s are missed');
      await world.wait(60_000);
      assert.equal(link.connected, false);
      world.model.heal();
      await until(world, () => link.connected);
      await store('b');
      assert.deepEqual(await texts(), ['a', 'b']);
    });
  }
});

test('messages of a node from before it was cut off may arrive later', async () => {
  const world = new World(1);
  await world.run(async () => {
    const { link, publish, texts } = await world.open();
    world.model.partition('node', 'out');
    const result = await publish('late');
    assert.equal(result.result, 'lost');
    await until(world, () => !link.connected);
    world.model.heal();
    await until(world, () => link.connected);
    await world.wait(1_000);
    assert.deepEqual(await texts(), ['late']);
  });
});

test('a frozen server is a lost one, which continues where it stopped', async () => {
  const world = new World(1);
  await world.run(async () => {
    const { link, publish, store, texts } = await world.open();
    await store('a');
    world.model.freezeServer(0);
    const results: Promise<PublishResult> = publish('b');
    await until(world, () => !link.connected);
    assert.equal((await results).result, 'lost');
    world.model.thawServer(0);
    await until(world, () => link.connected);
    await store('c');
    assert.deepEqual(await texts(), ['a', 'b', 'c']);
  });
});

test('a consumer on a copy that lags sees less; the leader has all', async () => {
  const world = new World(3);
  await world.run(async () => {
    const { store, jsm, link } = await world.open();
    const slow = [0, 1, 2].filter((server) => server !== world.leader);
    for (const server of slow) world.model.lagServer(server, Number.POSITIVE_INFINITY);
    for (const text of ['a', 'b', 'c']) await store(text);
    // Wherever its consumers live, a reader ends with the leader's content.
    const pending = new Set<number>();
    for (let made = 0; made < 12; made += 1) {
      const reader = new RangeFetcher(link, jsm, NAME, world.clock);
      assert.equal((await reader.read(1, 10)).length, 3);
      const config = { ack_policy: 'none', deliver_policy: 'all', mem_storage: true } as const;
      pending.add((await jsm.consumers.add(NAME, config)).num_pending);
    }
    assert.deepEqual([...pending].sort(), [0, 3]);
    for (const server of slow) world.model.lagServer(server, 0);
    await world.wait(100);
    const { machine } = world.model.jetstream.streams.get(NAME)?.replicas.all[slow[0] ?? 0] ?? {};
    assert.equal(machine?.store.last, 3);
  });
});

test('a follower keeps its order while deliveries are dropped, doubled and late', async () => {
  const world = new World(1);
  await world.run(async () => {
    const { store, link, jsm } = await world.open();
    const seen: number[] = [];
    const follower = new StreamFollower(link, jsm, NAME, world.clock, ({ seq }) => seen.push(seq));
    await follower.follow(1);
    world.model.drop('node', 0.2);
    world.model.duplicate('node', 0.2);
    world.model.slow('node', 40);
    for (let seq = 1; seq <= 100; seq += 1) await store(`text ${seq}`);
    world.model.heal('node');
    await until(world, () => seen.length >= 100);
    follower.stop();
    const expected = Array.from({ length: 100 }, (_, index) => index + 1);
    assert.deepEqual(seen, expected);
  });
});

test('what streams deliver comes late to one node, and answers as always', async () => {
  const world = new World(1);
  await world.run(async () => {
    const { store, link, jsm, stream } = await world.open();
    const seen: number[] = [];
    const follower = new StreamFollower(link, jsm, NAME, world.clock, ({ seq }) => seen.push(seq));
    await follower.follow(1);
    world.model.late('node', 1_000);
    await store('a');
    await store('b');
    assert.equal((await stream.state()).last, 2);
    await world.wait(900);
    assert.deepEqual(seen, []);
    await world.wait(200);
    assert.deepEqual(seen, [1, 2]);
    world.model.heal('node');
    await store('c');
    await world.wait(10);
    assert.deepEqual(seen, [1, 2, 3]);
    follower.stop();
  });
});

test('consumers that vanish, or fall silent, are made again', async () => {
  for (const how of ['vanish', 'mute'] as const) {
    const world = new World(1);
    await world.run(async () => {
      const { store, link, jsm, texts } = await world.open();
      const seen: number[] = [];
      const follow = ({ seq }: { seq: number }) => seen.push(seq);
      const follower = new StreamFollower(link, jsm, NAME, world.clock, follow);
      await follower.follow(1);
      await store('a');
      await texts();
      world.model.loseConsumers(how);
      await store('b');
      await until(world, () => seen.length === 2);
      assert.deepEqual(await texts(), ['a', 'b']);
      follower.stop();
    });
  }
});

test('messages of others, and damaged ones, are what readers get', async () => {
  const world = new World(1);
  await world.run(async () => {
    const { store, texts } = await world.open();
    const stored: string[] = [];
    world.model.onStored = ({ seq, text }) => stored.push(`${seq} ${text}`);
    await store('abc');
    world.model.publish(`${NAME}.entry.other`, 'stray');
    await world.wait(100);
    world.model.damage(NAME, 1);
    assert.deepEqual(await texts(), ['acc', 'stray']);
    assert.deepEqual(stored, ['1 abc', '2 stray']);
    assert.equal(world.model.lastSeq(NAME), 2);
    assert.ok(world.model.requestsOf('node') > 2);
  });
});

test('a run is a function of its seed', async () => {
  const trace = async (seed: number) => {
    const world = new World(3, seed);
    return world.run(async () => {
      const { store, link } = await world.open();
      const seen: string[] = [];
      const note = (what: string) => seen.push(`${world.clock.monotonicMs()} ${what}`);
      link.onStatus(({ status }) => note(status));
      world.model.onStored = ({ text }) => note(text);
      await store('a');
      world.model.killServer(world.leader);
      await store('b');
      world.model.partition('node');
      await world.wait(20_000);
      world.model.heal();
      await store('c');
      note(`${world.time.events} events`);
      return seen;
    });
  };
  assert.deepEqual(await trace(7), await trace(7));
  assert.notDeepEqual(await trace(7), await trace(8));
});

test('a bucket whose file is broken gives the lease to one candidate', async () => {
  const world = new World(1);
  await world.run(async () => {
    const leaseMs = 2_000;
    const candidate = async (node: string) => {
      const shape = { name: `${NAME}-nodes`, replicas: 1, ttlMs: leaseMs };
      const bucket = new Bucket(await world.connect(node), shape, 500);
      const who = { node, subject: `${NAME}-leader`, lost: () => {} };
      return new Lease(bucket, { ...who, leaseMs, clock: world.clock, rng: world.rng });
    };
    const [first, second] = [await candidate('first'), await candidate('second')];
    assert.equal(await first.tryTake(), 'taken');
    world.model.killServer(0, 0);
    world.model.flipBit(`KV_${NAME}-nodes`, 1, 0, 'killed');
    world.model.startServer(0);
    await world.wait(2 * leaseMs);
    assert.equal(first.held, false);
    await until(world, async () => (await second.tryTake()) === 'taken');
    assert.equal(await first.tryTake(), 'refused');
    await world.wait(2 * leaseMs);
    assert.deepEqual([first.held, second.held], [false, true]);
  });
});
