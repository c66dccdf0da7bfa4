/** A node that starts or stops to lead while requests hang, roles end slowly or a disk is full. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Epochs } from '../../src/cluster/epochs.ts';
import { type ActiveRole, Leadership, type Role } from '../../src/cluster/leadership.ts';
import type { LogCheck } from '../../src/cluster/log/jetstream.ts';
import type { Announcement } from '../../src/cluster/nats/announcements.ts';
import { MarketRecord } from '../../src/engine/fold/marketRecord.ts';
import type { SealedEntry } from '../../src/engine/log/entry.ts';
import type { LocalLog } from '../../src/engine/log/local.ts';
import type { Log } from '../../src/engine/log/port.ts';
import { LogWriter } from '../../src/engine/log/writer.ts';
import { type Clock, systemClock } from '../../src/engine/runtime/clock.ts';
import { epochNumber, type Position } from '../../src/engine/runtime/position.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { EMPTY_TAIL } from '../support/chain.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { HandClock } from '../support/handClock.ts';
import { temporaryDirectory } from '../support/server.ts';
import { until } from '../support/until.ts';

const LIMIT_MS = 30_000;
const IDLE: ActiveRole = { stop: async () => {} };

interface Conditions {
  readonly leaseMs: number;
  readonly clock?: Clock;
  readonly log?: (own: Log) => LocalLog & { check(): Promise<LogCheck> };
  /** The work of the leader. */
  readonly duty?: ActiveRole;
  readonly obstacle?: () => string | null;
  /** Announcements of the other nodes, made from this node's position. */
  readonly others?: (own: Position) => readonly Announcement[];
  /** NATS' report about the log. */
  readonly check?: () => LogCheck;
}

/** A node alone, over a lease that is always free. */
async function candidate(scope: TestContext, conditions: Conditions) {
  const { leaseMs, clock = systemClock, duty = IDLE, obstacle } = conditions;
  const check = conditions.check ?? (() => 'same' as const);
  const world = await FoldWorld.open(scope, join(temporaryDirectory(), 'data'));
  const { node, files, writer } = world;
  const time = { timeMs: node.fold.marketMs, payload: { kind: 'time', phase: 'end' } } as const;
  await node.reached(await writer.append([time, time, time]));
  const own = new Proxy(world.log, {
    get(target, name) {
      if (name === 'check') return async () => check();
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
    // trust: `check` is all that it adds
  }) as LocalLog & { check(): Promise<LogCheck> };
  const log = conditions.log?.(own) ?? own;
  const record = new MarketRecord(world.directory, null);
  const place = { name: 'a', log, node, files, record, rng: seededRng(1) };
  const epochs = new Epochs({
    ...place,
    market: record,
    otherMarket: assert.fail,
    ensureStream: async () => {},
    others: async () => conditions.others?.(node.applied()) ?? [],
    publishBase: async () => {},
    epochStarted: () => {},
  });
  const seen = {
    released: 0,
    terms: [] as LogWriter[],
    ended: [] as string[],
    told: [] as (string | null)[],
  };
  const lease = {
    held: true,
    tryTake: async () => 'taken' as const,
    release: async () => {
      seen.released += 1;
    },
  };
  const role: Role = {
    lead: async (writer) => {
      seen.terms.push(writer);
      return duty;
    },
    follow: async () => IDLE,
  };
  const leadership = new Leadership(
    {
      ...place,
      lease,
      onLost: () => {},
      reconnectedMs: () => null,
      leaseMs,
      epochs,
      role,
      clock,
      ...(obstacle === undefined ? {} : { obstacle }),
    },
    {
      appendFailed: () => {},
      leadBegun: () => {},
      leadEnded: (reason) => seen.ended.push(reason),
      leadershipFailed: assert.fail,
      mayNotLead: (reason) => seen.told.push(reason),
    },
  );
  await leadership.start();
  return { leadership, seen, node, log: world.log };
}

test('a candidate gives up an entry that never comes, and leads the next time', async (scope) => {
  let lostEntries = 5;
  let asked = 0;
  // As a stream that ended later when it was asked than when it was read.
  const shortened = (own: Log) =>
    Object.create(own, {
      last: {
        value: async () => {
          asked += 1;
          const tail = await own.last();
          return { ...tail, seq: tail.seq + lostEntries };
        },
      },
    });
  const { leadership, seen } = await candidate(scope, { leaseMs: 50, log: shortened });
  scope.after(() => leadership.stop());
  // `isShort` has asked before.
  await until('it waits for what is lost', () => asked >= 2, LIMIT_MS);
  lostEntries = 0;
  await until(
    'it ends',
    () => {
      leadership.stepDown('the log is shorter');
      return seen.released > 0;
    },
    LIMIT_MS,
  );
  assert.deepEqual(seen.ended, ['the log is shorter']);
  await until('it leads', () => seen.terms.length === 1, LIMIT_MS);
});

test('a stop hands the lease over while the work of the leader is still ending', async (scope) => {
  const clock = new HandClock();
  const ends = Promise.withResolvers<void>();
  // As an executor that waits for a build, or a snapshot that is being stored.
  const duty = { stop: () => ends.promise };
  const leaseMs = 60_000;
  const { leadership, seen } = await candidate(scope, { leaseMs, clock, duty });
  await until('it leads', () => leadership.leads, LIMIT_MS);
  const stopping = leadership.stop();
  await until('it ends', () => seen.ended.length === 1, LIMIT_MS);
  await clock.advance(leaseMs / 4);
  await until('another node may lead', () => seen.released === 1, LIMIT_MS);
  ends.resolve();
  await stopping;
});

test('a leader whose disk refuses writes steps down until it accepts them', async (scope) => {
  let refusal: string | null = null;
  const obstacle = () => refusal;
  const { leadership, seen } = await candidate(scope, { leaseMs: 50, obstacle });
  scope.after(() => leadership.stop());
  await until('it leads', () => leadership.leads, LIMIT_MS);
  refusal = 'disk full';
  await until('it steps down', () => seen.ended.length === 1 && !leadership.leads, LIMIT_MS);
  const released = seen.released;
  await until('it could have tried again', () => seen.released > released + 2, LIMIT_MS);
  assert.equal(seen.terms.length, 1, 'it left the lead to others');
  refusal = null;
  await until('it leads again', () => leadership.leads, LIMIT_MS);
  assert.deepEqual([seen.ended, seen.told], [['disk full'], ['disk full', null]]);
});

test('a leader that finds its log damaged keeps the lease, and is not replaced', async (scope) => {
  let found: LogCheck = 'same';
  const { leadership, seen } = await candidate(scope, { leaseMs: 50, check: () => found });
  scope.after(() => leadership.stop());
  await until('it leads', () => leadership.leads, LIMIT_MS);
  found = 'different';
  leadership.stepDown('entry 7 of the log is damaged');
  await until('it steps down', () => seen.ended.length === 1 && !leadership.leads, LIMIT_MS);
  // As after an operator's repair; without one it begins the log again.
  found = 'same';
  await until('it leads again', () => leadership.leads, LIMIT_MS);
  assert.equal(seen.released, 0);
  await leadership.stop();
  assert.ok(seen.released > 0, 'a stop hands over');
});

test('a candidate whose log is deleted as its term begins writes nothing', async (scope) => {
  let asked = 0;
  const appended: (string | null)[] = [];
  const deletedOnce = (own: Log) =>
    Object.create(own, {
      last: {
        value: async () => {
          asked += 1;
          // `isLogShortened` asks first.
          return asked === 2 ? EMPTY_TAIL : own.last();
        },
      },
      append: {
        value: (sealed: SealedEntry, after: number) => {
          appended.push(sealed.entry.epoch);
          return own.append(sealed, after);
        },
      },
    });
  const { leadership, seen, node } = await candidate(scope, { leaseMs: 50, log: deletedOnce });
  scope.after(() => leadership.stop());
  await until('it leads', () => leadership.leads, LIMIT_MS);
  assert.deepEqual(seen.ended, ['Error: the log does not end with what this node has']);
  assert.deepEqual(appended, [node.applied().epoch]);
});

test('a leader follows what another one wrote, and leads again in its next term', async (scope) => {
  const { leadership, seen, node, log } = await candidate(scope, { leaseMs: 50 });
  scope.after(() => leadership.stop());
  await until('it leads', () => leadership.leads, LIMIT_MS);
  const [first] = seen.terms;
  assert(first !== undefined);
  const draft = { timeMs: node.fold.marketMs, payload: { kind: 'time', phase: 'end' } } as const;
  const own = await first.append([draft]);
  await node.reached(own);
  assert.deepEqual(seen.ended, [], 'its own entries end no lead');
  const stranger = new LogWriter(log, first.tail, first.term, systemClock, { appendFailed() {} });
  await node.reached(await stranger.append([draft]));
  await until('it leads again', () => leadership.leads && seen.terms.length === 2, LIMIT_MS);
  assert.deepEqual(seen.ended, ['another writer appended to the log']);
  assert.equal(seen.released, 0, 'no other node leads meanwhile');
});

for (const [what, epoch, ahead, next] of [
  ['an epoch that is gone from the log', '3-other', 0, 4],
  ['an epoch that cannot be', '999999-other', 0, 2],
  ['entries that are gone from the log', null, 3, 2],
] as const) {
  test(`after a node that knew ${what} a candidate begins an epoch`, async (scope) => {
    let asked = 0;
    // It is heard once, and is silent before this node could lead.
    const others = (own: Position): Announcement[] => {
      asked += 1;
      if (asked > 1) return [];
      return [{ node: 'b', epoch: epoch ?? own.epoch, term: 1, seq: own.seq + ahead }];
    };
    const { leadership, node, seen } = await candidate(scope, { leaseMs: 50, others });
    scope.after(() => leadership.stop());
    await until('it leads', () => leadership.leads, LIMIT_MS);
    assert.equal(seen.terms.length, 1);
    assert.equal(epochNumber(node.applied().epoch), next, 'no position has two entries');
  });
}
