/** The lease over a real nats-server: which node may lead, and until when. */
import assert from 'node:assert/strict';
import { after, describe, type TestContext, test } from 'node:test';
import {
  type Announcement,
  Announcements,
  hasNewestState,
} from '../../../src/cluster/nats/announcements.ts';
import { Bucket, type BucketValue } from '../../../src/cluster/nats/bucket.ts';
import type { NatsLink } from '../../../src/cluster/nats/connection.ts';
import { Lease } from '../../../src/cluster/nats/lease.ts';
import { type Clock, systemClock } from '../../../src/engine/runtime/clock.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { marketName, NatsServer, PATIENT_MS } from '../../support/nats.ts';
import { NatsProxy } from '../../support/natsProxy.ts';
import { until, untilAsked } from '../../support/until.ts';

/** Long beside the pauses of a busy machine; the tests wait for it side by side. */
const LEASE_MS = 12_000;
const ANSWER_MS = LEASE_MS / 4;

const server = await NatsServer.start({ after });
const link = await server.connect({ after });
const other = await server.connect({ after });

class Candidate {
  readonly lease: Lease;
  readonly bucket: Bucket;
  readonly losses: string[] = [];

  private constructor(
    scope: TestContext,
    over: NatsLink,
    name: string,
    node: string,
    clock = systemClock,
  ) {
    const shape = { name, replicas: 1, ttlMs: LEASE_MS };
    this.bucket = new Bucket(over, shape, ANSWER_MS);
    const lost = (why: string) => void this.losses.push(why);
    const holder = { node, subject: `${name}.${node}` };
    const options = { ...holder, leaseMs: LEASE_MS, clock, rng: systemRng, lost };
    this.lease = new Lease(this.bucket, options);
    scope.after(() => this.lease.release());
  }

  /** Made before: making the bucket may take a server longer than a lease. */
  static async ready(
    scope: TestContext,
    over: NatsLink,
    name: string,
    node: string,
    clock = systemClock,
  ): Promise<Candidate> {
    const shape = { name, replicas: 1, ttlMs: LEASE_MS };
    await new Bucket(over, shape, PATIENT_MS).get('leader');
    const candidate = new Candidate(scope, over, name, node, clock);
    const asked = () => candidate.bucket.get('leader');
    await untilAsked('its bucket answers', asked, (value) => value !== 'unreachable');
    return candidate;
  }

  taken(): Promise<string> {
    const isTaken = (outcome: string) => outcome === 'taken';
    return untilAsked('it is taken', () => this.lease.tryTake(), isTaken);
  }

  /** The answer of NATS: it is asked again when it took longer than `ANSWER_MS`. */
  tried(): Promise<string> {
    const isAnswer = (outcome: string) => outcome !== 'unreachable';
    return untilAsked('NATS answers', () => this.lease.tryTake(), isAnswer);
  }

  /** The stored value. */
  async stored(): Promise<BucketValue | null> {
    const found = await untilAsked(
      'NATS answers',
      () => this.bucket.get('leader'),
      (value) => value !== 'unreachable',
    );
    return found === 'unreachable' ? null : found;
  }
}

/** Like a stopped process: time passes, nothing runs. */
class StoppableClock implements Clock {
  #stopped = false;
  #late: (() => void)[] = [];
  nowMs = () => systemClock.nowMs();
  monotonicMs = () => systemClock.monotonicMs();
  soon = (run: () => void) => systemClock.soon(() => this.#run(run));
  after = (delayMs: number, run: () => void) => systemClock.after(delayMs, () => this.#run(run));

  stop(): void {
    this.#stopped = true;
  }

  resume(): void {
    this.#stopped = false;
    for (const run of this.#late.splice(0)) run();
  }

  #run(run: () => void): void {
    if (this.#stopped) this.#late.push(run);
    else run();
  }
}

describe('the lease', { concurrency: true }, () => {
  test('one of two candidates takes it, keeps it, and hands it over at once', async (scope) => {
    const name = marketName();
    const first = await Candidate.ready(scope, link, name, 'a');
    const second = await Candidate.ready(scope, other, name, 'b');
    const outcomes = await Promise.all([first.tried(), second.tried()]);
    assert.deepEqual(outcomes.toSorted(), ['refused', 'taken']);
    const [holder, waiting] = first.lease.held ? [first, second] : [second, first];
    const node = holder === first ? 'a' : 'b';
    assert.deepEqual(await waiting.lease.holder(), { node, subject: `${name}.${node}` });
    const longMs = systemClock.monotonicMs() + 1.5 * LEASE_MS;
    await untilAsked(
      'its lease is over unless it renews',
      async () => {
        assert.equal(holder.lease.held, true);
        assert.equal(await waiting.tried(), 'refused');
        return systemClock.monotonicMs();
      },
      (nowMs) => nowMs > longMs,
    );
    await holder.lease.release();
    assert.equal(await waiting.tried(), 'taken');
    assert.equal(holder.lease.held, false);
    assert.deepEqual([...holder.losses, ...waiting.losses], []);
  });

  test('a holder that was frozen past its lease notices at once when it wakes', async (scope) => {
    const name = marketName();
    const clock = new StoppableClock();
    const frozen = await Candidate.ready(scope, link, name, 'a', clock);
    const next = await Candidate.ready(scope, other, name, 'b');
    assert.equal(await frozen.tried(), 'taken');
    clock.stop();
    await next.taken();
    assert.equal(frozen.lease.held, false, 'before any timer of it has run');
    clock.resume();
    assert.equal(frozen.lease.held, false);
    assert.deepEqual(frozen.losses, ['expired']);
    assert.equal(await frozen.tried(), 'refused');
    assert.equal(next.lease.held, true);
  });

  test('the lease of a holder without a network ends before another node has it', async (scope) => {
    const proxy = await NatsProxy.start(scope, server.port);
    const through = await server.connect(scope, proxy.url);
    const name = marketName();
    const cut = await Candidate.ready(scope, through, name, 'a');
    const next = await Candidate.ready(scope, other, name, 'b');
    assert.equal(await cut.tried(), 'taken');
    proxy.deaf = true;
    await next.taken();
    assert.equal(cut.lease.held, false);
    assert.deepEqual(cut.losses, ['expired']);
    proxy.deaf = false;
  });

  test('a renewal whose answer was lost does not end the lease', async (scope) => {
    const proxy = await NatsProxy.start(scope, server.port);
    const through = await server.connect(scope, proxy.url);
    const name = marketName();
    const holder = await Candidate.ready(scope, through, name, 'a');
    assert.equal(await holder.tried(), 'taken');
    const before = await holder.stored();
    let cut = false;
    proxy.heard = (text) => {
      if (cut || !text.includes(`$KV.${name}.leader`)) return;
      cut = true;
      proxy.deaf = true;
    };
    const rival = await Candidate.ready(scope, other, name, 'b');
    const revision = async () => (await rival.stored())?.revision ?? 0;
    assert.ok(before !== null);
    await untilAsked('the renewal is in', revision, (now) => now > before.revision);
    proxy.cut();
    proxy.deaf = false;
    const renewed = await revision();
    await untilAsked('it is renewed again', revision, (now) => now > renewed);
    assert.equal(holder.lease.held, true);
    assert.deepEqual(holder.losses, []);
  });

  test('a lease that was taken without an answer is recognised as ours', async (scope) => {
    const proxy = await NatsProxy.start(scope, server.port);
    const through = await server.connect(scope, proxy.url);
    const name = marketName();
    const taker = await Candidate.ready(scope, through, name, 'a');
    const rival = await Candidate.ready(scope, other, name, 'b');
    proxy.heard = (text) => {
      if (text.includes(`PUB $KV.${name}.leader`)) proxy.deaf = true;
    };
    const trying = taker.lease.tryTake();
    const stored = async () => (await rival.stored())?.text ?? null;
    const first = await untilAsked('it is stored', stored, (text) => text !== null);
    proxy.heard = () => {};
    proxy.cut();
    proxy.deaf = false;
    assert.equal(await trying, 'unreachable');
    await taker.taken();
    assert.equal(await stored(), first, 'it has not waited until the first one ran out');
    assert.equal(taker.lease.held, true);
  });

  test('a candidate that hears renewals asks nothing until they end', async (scope) => {
    const proxy = await NatsProxy.start(scope, server.port);
    const through = await server.connect(scope, proxy.url);
    const name = marketName();
    const holder = await Candidate.ready(scope, other, name, 'a');
    const waiting = await Candidate.ready(scope, through, name, 'b');
    await holder.taken();
    waiting.lease.listen();
    let asked = 0;
    proxy.heard = (text) => {
      if (text.includes(`$KV.${name}.leader`)) asked += 1;
    };
    const isQuiet = async () => {
      const before = asked;
      assert.equal(await waiting.tried(), 'refused');
      return asked === before;
    };
    await untilAsked('a renewal was heard', isQuiet, (quiet) => quiet);
    const before = asked;
    assert.deepEqual(await waiting.lease.lastHolder(), { node: 'a', subject: `${name}.a` });
    assert.equal(asked, before, 'it knows the holder as well');
    await holder.lease.release();
    await waiting.taken();
    assert.deepEqual(holder.losses, []);
  });

  test('a release is repeated when NATS gave no answer', async (scope) => {
    const proxy = await NatsProxy.start(scope, server.port);
    const through = await server.connect(scope, proxy.url);
    const name = marketName();
    const holder = await Candidate.ready(scope, through, name, 'a');
    const rival = await Candidate.ready(scope, other, name, 'b');
    await holder.taken();
    let lost = 0;
    proxy.heard = (text) => {
      if (lost > 0 || !text.includes('KV-Operation: DEL')) return;
      lost += 1;
      proxy.mute = true;
    };
    const releasing = holder.lease.release();
    await until('it was not heard', () => lost === 1);
    proxy.mute = false;
    await releasing;
    assert.equal(await rival.stored(), null);
  });

  test('a lease is kept with a round trip of a tenth of it', async (scope) => {
    const proxy = await NatsProxy.start(scope, server.port);
    const through = await server.connect(scope, proxy.url);
    const name = marketName();
    const holder = await Candidate.ready(scope, through, name, 'a');
    const rival = await Candidate.ready(scope, other, name, 'b');
    proxy.delayMs = LEASE_MS / 20;
    await holder.taken();
    const revisions = new Set<number>();
    const renewals = async () => {
      const value = await rival.stored();
      if (value !== null) revisions.add(value.revision);
      assert.equal(holder.lease.held, true);
      return revisions.size;
    };
    await untilAsked('it was renewed for longer than a lease', renewals, (count) => count > 4);
    assert.deepEqual(holder.losses, []);
    proxy.delayMs = 0;
  });

  test('a holder loses its lease with the state of the server', async (scope) => {
    const own = await NatsServer.start(scope);
    const connection = await own.connect(scope);
    const name = marketName();
    const holder = await Candidate.ready(scope, connection, name, 'a');
    await holder.taken();
    await own.restart('deleted');
    await until('the loss is reported', () => holder.losses.length === 1);
    assert.equal(holder.lease.held, false);
    await holder.taken();
    assert.equal(holder.losses.length, 1);
  });

  test('nodes see the announcements of living nodes', async (scope) => {
    const name = marketName();
    const own = await Candidate.ready(scope, link, name, 'a');
    const shape = { name, replicas: 1, ttlMs: LEASE_MS };
    const announcements = new Announcements(new Bucket(link, shape, PATIENT_MS), systemClock);
    assert.deepEqual(await announcements.others('a'), []);
    const have = (node: string, term: number, seq: number): Announcement => {
      return { node, epoch: '1-x', term, seq };
    };
    await own.taken();
    assert.ok(await announcements.announce(have('a', 2, 40)));
    assert.ok(await announcements.announce(have('b:3000', 2, 41)));
    assert.deepEqual(await announcements.others('a'), [have('b:3000', 2, 41)]);
    // Values of the bucket would live for a day: no node can be given such a lease.
    assert.ok(await announcements.announce({ ...have('d', 2, 41), leaseMs: 86_400_000 }));
    assert.deepEqual(await announcements.others('a'), [have('b:3000', 2, 41)]);
    assert.ok(await announcements.announce(have('b:3000', 2, 45)));
    assert.ok(await announcements.announce(have('c', 1, 99)));
    const others = await announcements.others('a');
    assert.ok(others !== 'unreachable');
    assert.equal(hasNewestState(have('a', 2, 40), others), false);
    assert.equal(hasNewestState(have('a', 2, 46), others), true);
    for (const name of ['a', 'z'])
      assert.equal(hasNewestState(have(name, 2, 45), others), true, 'of equals who has the lease');
    await announcements.withdraw('c');
    const names = async () => {
      const now = await announcements.others('a');
      return now === 'unreachable' ? now : now.map(({ node }) => node).join();
    };
    assert.equal(await names(), 'b:3000');
    await untilAsked('silent nodes vanish', names, (now) => now === '');
  });
});
