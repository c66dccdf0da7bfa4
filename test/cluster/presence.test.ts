/** Names and clocks of the nodes of one market, over a real nats-server. */
import assert from 'node:assert/strict';
import { after, describe, type TestContext, test } from 'node:test';
import {
  ClockCheck,
  type ClockReading,
  clockAheadMs,
  judgeClock,
  timeGuard,
} from '../../src/cluster/clockCheck.ts';
import { Bucket } from '../../src/cluster/nats/bucket.ts';
import { Lease } from '../../src/cluster/nats/lease.ts';
import { Presence } from '../../src/cluster/presence.ts';
import { type Clock, pause, systemClock } from '../../src/engine/runtime/clock.ts';
import { systemRng } from '../../src/engine/runtime/rng.ts';
import { marketName, NatsServer } from '../support/nats.ts';
import { until, untilAsked } from '../support/until.ts';

/** Long beside the pauses of a busy machine; the tests wait for it side by side. */
const LEASE_MS = 6_000;
const BOUND_MS = 60_000;
const HOUR_MS = 3_600_000;

const server = await NatsServer.start({ after });
const link = await server.connect({ after });

/** The wall clock of one machine, which a test may set. */
function settableClock(aheadMs = 0): Clock & { aheadMs: number } {
  const clock = { ...systemClock, aheadMs, nowMs: () => systemClock.nowMs() + clock.aheadMs };
  return clock;
}

class Member {
  readonly presence: Presence;
  readonly taken: string[] = [];
  readonly verdicts: string[] = [];
  waits = 0;
  readonly lease: Lease;
  readonly #crash = new AbortController();

  constructor(scope: TestContext, market: string, node: string, clock: Clock = systemClock) {
    const shape = { name: market, replicas: 1, ttlMs: LEASE_MS };
    const bucket = new Bucket(link, shape, LEASE_MS);
    const own = { node, bucket, clock, leaseMs: LEASE_MS, rng: systemRng };
    const { signal } = this.#crash;
    const place = { ...own, host: `host-of-${node}`, clockBoundMs: BOUND_MS, signal };
    this.presence = new Presence(place, {
      nodeNameTaken: (message) => this.taken.push(message),
      nodeNameWaits: () => {
        this.waits += 1;
      },
      clockMeasured: () => {},
      clockJudged: (verdict) => this.verdicts.push(verdict),
    });
    this.lease = new Lease(bucket, {
      ...own,
      subject: node,
      mayTake: () => this.presence.obstacle() === null,
      lost: () => {},
    });
    scope.after(async () => {
      await this.lease.release();
      await this.presence.stop();
    });
  }

  claim(): Promise<string | null> {
    const again = () => pause(systemClock, 20, new AbortController().signal);
    return this.presence.claim(again).then((failure) => failure?.message ?? null);
  }

  /** Like a killed or frozen process: it renews nothing more. */
  crash(): void {
    this.#crash.abort();
  }
}

describe('names', { concurrency: true }, () => {
  test('the second process with a name is refused, and the first described', async (scope) => {
    const market = marketName();
    const first = new Member(scope, market, 'a');
    assert.equal(await first.claim(), null);
    const second = new Member(scope, market, 'a');
    const refused = (await second.claim()) ?? '';
    assert.match(refused, /NODE_NAME a is in use: a process on host-of-a has it since \d{4}-/);
    assert.deepEqual([first.taken, second.taken], [[], []]);
    assert.equal(await new Member(scope, market, 'b').claim(), null, 'another name is free');
  });

  test('after a crash the same node gets its name back, without an error', async (scope) => {
    const market = marketName();
    const first = new Member(scope, market, 'a');
    assert.equal(await first.claim(), null);
    first.crash();
    const again = new Member(scope, market, 'a');
    assert.equal(await again.claim(), null);
    assert.equal(again.waits, 1, 'it has said that it waits');
    await again.presence.stop();
    const third = new Member(scope, market, 'a');
    assert.equal(await third.claim(), null);
    assert.equal(third.waits, 0, 'a stop gives the name back at once');
  });

  test('a value that no process renews ends neither a node nor its start', async (scope) => {
    const market = marketName();
    const node = new Member(scope, market, 'a');
    assert.equal(await node.claim(), null);
    const shape = { name: market, replicas: 1, ttlMs: LEASE_MS };
    const stranger = new Bucket(link, shape, LEASE_MS);
    const text = (token: string) =>
      JSON.stringify({ node: 'a', token, host: 'nowhere', sinceMs: 0, aheadMs: null });
    const seen = async () => {
      const there = await stranger.get('process.a');
      return there === null || there === 'unreachable' ? '' : there.text;
    };
    const isOurs = (found: string) => found.includes('host-of-a');
    await stranger.put('process.a', text('one'));
    await until('it is seen', () => node.waits === 1 || node.taken.length > 0);
    // Another one, while the first is waited out.
    await stranger.put('process.a', text('two'));
    await untilAsked('it is waited out', seen, isOurs, 10 * LEASE_MS);
    assert.deepEqual(node.taken, []);
    node.crash();
    const again = new Member(scope, market, 'a');
    const claimed = again.claim();
    await until('it is seen', () => again.waits === 1);
    await stranger.put('process.a', text('three'));
    assert.equal(await claimed, null);
  });

  test('a process that was frozen until another had its name ends', async (scope) => {
    const market = marketName();
    // Its timers do not run, as in a stopped process.
    let frozen = true;
    const clock: Clock = {
      ...systemClock,
      after: (ms, run) => {
        const wait = () => (frozen ? systemClock.after(20, wait) : run());
        return systemClock.after(ms, () => void wait());
      },
    };
    const slow = new Member(scope, market, 'a', clock);
    assert.equal(await slow.claim(), null);
    const next = new Member(scope, market, 'a');
    assert.equal(await next.claim(), null);
    frozen = false;
    await until('it is reported', () => slow.taken.length === 1);
    assert.match(slow.taken[0] ?? '', /is in use/);
    assert.deepEqual(next.taken, []);
  });
});

describe('clocks', { concurrency: true }, () => {
  test('a node alone that NATS contradicts leads once its clock is right', async (scope) => {
    const clock = settableClock(HOUR_MS);
    const node = new Member(scope, marketName(), 'a', clock);
    assert.equal(await node.claim(), null);
    const why =
      /clock is 3[56]\d\d\.\d s ahead of that of NATS and no other node runs that confirms it/;
    assert.match(node.presence.obstacle() ?? '', why);
    assert.equal(await node.lease.tryTake(), 'refused');
    assert.deepEqual(node.verdicts, ['wrong']);
    clock.aheadMs = 0;
    await until('its clock is right', () => node.presence.obstacle() === null);
    assert.equal(await node.lease.tryTake(), 'taken');
    assert.deepEqual(node.verdicts, ['wrong', 'right']);
  });

  test('all nodes against NATS are right, and yield to one that agrees', async (scope) => {
    const market = marketName();
    const [first, second] = ['a', 'b'].map((name) => {
      return new Member(scope, market, name, settableClock(-HOUR_MS));
    });
    assert.ok(first !== undefined && second !== undefined);
    assert.deepEqual(await Promise.all([first.claim(), second.claim()]), [null, null]);
    const mayBoth = () => first.presence.obstacle() ?? second.presence.obstacle();
    await until('they confirm each other', () => mayBoth() === null);
    assert.equal(first.verdicts.at(-1), 'NATS is wrong');
    const late = first.presence.latestMs() - (systemClock.nowMs() - HOUR_MS);
    assert.ok(late > BOUND_MS / 2 && late < 2 * BOUND_MS, `${late}`);
    const third = new Member(scope, market, 'c');
    assert.equal(await third.claim(), null);
    assert.equal(third.presence.obstacle(), null);
    const against = () =>
      /3[56]\d\d\.\d s behind that of NATS and c disagrees/.test(first.presence.obstacle() ?? '');
    await until('they yield', () => against() && second.presence.obstacle() !== null);
  });

  test('a clock that is set while a node runs is noticed without a request', async (scope) => {
    const clock = settableClock();
    const node = new Member(scope, marketName(), 'a', clock);
    assert.equal(await node.claim(), null);
    assert.equal(node.presence.obstacle(), null);
    node.crash();
    const latestMs = node.presence.latestMs();
    clock.aheadMs = HOUR_MS;
    assert.match(
      node.presence.obstacle() ?? '',
      /was just set: it is 3[56]\d\d\.\d s ahead of where it was/,
    );
    assert.ok(node.presence.latestMs() - latestMs < BOUND_MS, 'no entry may be an hour ahead');
    const before = () => node.lease.tryTake();
    assert.equal(await untilAsked('asked', before, () => true), 'refused');
  });
});

test('which clocks are right', () => {
  const read = (node: string, aheadMs: number): ClockReading => ({ node, aheadMs });
  const verdict = (own: number, ...others: number[]) => {
    const all = others.map((aheadMs, index) => read(`n${index}`, aheadMs));
    return judgeClock(read('own', own), all, 2_000).verdict;
  };
  assert.equal(verdict(0), 'right');
  assert.equal(verdict(1_999, 0, 3_000_000), 'right', 'it agrees with NATS');
  assert.equal(verdict(2_001), 'wrong', 'alone');
  assert.equal(verdict(-2_001, 0), 'wrong');
  assert.equal(verdict(9_000, 9_500, 8_500), 'NATS is wrong');
  assert.equal(verdict(9_000, 9_500, 8_500, 0), 'wrong', 'one of four agrees with NATS');
  assert.equal(verdict(9_000, -9_000), 'wrong', 'no other node confirms it');
});

test('a difference that the round trip explains is none', () => {
  assert.equal(clockAheadMs(1_000, 900, 300), 0);
  assert.equal(clockAheadMs(1_000, 900, 40), -60);
  assert.equal(clockAheadMs(1_000, 1_500, 300), 500);
});

test('times later than all clocks are refused, blocks are not', () => {
  const [nowMs, latestMs] = [1_000_000, 1_002_000];
  const check = new ClockCheck('a', { ...systemClock, nowMs: () => nowMs }, 2_000);
  check.measured(0, []);
  assert.ok(Math.abs(check.latestMs() - latestMs) < 2_000);
  const draft = (kind: 'time' | 'block', timeMs: number) => {
    if (kind === 'time') return { timeMs, payload: { kind, phase: 'end' } as const };
    return { timeMs, payload: { kind, atMs: timeMs, trades: [] } as const };
  };
  const guard = timeGuard(() => latestMs);
  assert.equal(guard(draft('time', latestMs), nowMs), false);
  assert.equal(guard(draft('time', latestMs + 1), nowMs), true);
  assert.equal(guard(draft('time', HOUR_MS), HOUR_MS), false, 'the log was there already');
  assert.equal(guard(draft('block', HOUR_MS), nowMs), false, 'slots are right whatever clocks say');
});
