/**
 * Orders of random markets with a mempool, over blocks, replacements, roll-backs within the horizon
 * and beyond it, restarts and crashes: each is what chain and mempool show, in the one list where
 * it belongs, and the same state comes out of the log alone.
 * Replay a failure: put the printed `{ seed, path }` into the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Orders } from '../../src/api/orders/orderLookup.ts';
import { ORDER_STATUSES } from '../../src/engine/market/orderView.ts';
import { finish } from '../../src/engine/runtime/slices.ts';
import { checkRebuild } from '../support/foldCheck.ts';
import type { FoldWorldOptions } from '../support/foldWorld.ts';
import { seedOf, untilSeen } from '../support/untilSeen.ts';
import { beaconOf, ownerOf } from './foldState.ts';
import type { MempoolMarket, Step } from './mempoolMarket.ts';
import { anyOptions, anyStep, inMarket } from './mempoolSteps.ts';
import { chainOf, type Shown, truthOf } from './mempoolTruth.ts';

const ALL = { offset: 0, limit: 1_000_000 };
const PKHS = [0, 1, 2, 3].map(ownerOf);

function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T; // trust: as a client gets it
}

/** Every list, every count, every order by beacon. */
function check({ world, facts }: MempoolMarket, statuses: Set<string>): void {
  assert.deepEqual(world.said.foldFailures, []);
  const orders = new Orders(world.node);
  const truth = truthOf(facts, world.fold.store.horizonSeq);
  const compare = (token: string | null, pkhs: readonly string[] | null, onlyOpen = false) => {
    const query = { token, pkhs, onlyOpen };
    const matches = (order: Shown) =>
      (token === null || order.from === token || order.to === token) &&
      (pkhs === null || pkhs.includes(order.pkh));
    const isOpen = ({ status }: Shown) => status !== 'Evaluated' && status !== 'Refunded';
    const ledger = truth.ledger.filter((order) => matches(order) && (!onlyOpen || isOpen(order)));
    const found = plain(finish(orders.ledger(query, ALL)));
    assert.deepEqual(found, { count: ledger.length, items: ledger }, JSON.stringify(query));
    assert.deepEqual(plain(orders.mempool(query)), truth.mempool.filter(matches), 'mempool');
  };
  for (const pkhs of [PKHS.slice(0, 1), PKHS.slice(1), PKHS]) {
    compare(null, pkhs);
    compare(null, pkhs, true);
  }
  for (const token of chainOf(facts).venues.keys()) {
    compare(token, null);
    compare(token, PKHS.slice(2));
  }
  const both = new Set(truth.ledger.map(({ entityId }) => entityId));
  for (const { entityId } of truth.mempool) assert(!both.has(entityId), 'in one list only');
  checkBeacons(orders, facts.beacons, truth);
  for (const order of [...truth.ledger, ...truth.mempool, ...truth.dropped.values()]) {
    statuses.add(order.status);
  }
}

function checkBeacons(
  orders: Orders,
  beacons: ReadonlyMap<string, string>,
  { ledger, mempool, dropped }: ReturnType<typeof truthOf>,
): void {
  const shown = new Map([...ledger, ...mempool].map((order) => [order.entityId, order]));
  for (const [beacon, ref] of beacons) {
    const expected = shown.get(ref) ?? dropped.get(ref) ?? null;
    assert.deepEqual(plain(orders.byBeacon(beacon)), expected, `by beacon ${ref}`);
  }
  assert.equal(orders.byBeacon(beaconOf('unknown')), null);
}

test('an order is what chain and mempool show of it, whatever became of either', async () => {
  const [seen, statuses] = [new Map<string, number>(), new Set<string>()];
  const property = fc.asyncProperty(
    anyOptions,
    fc.array(anyStep, { minLength: 5, maxLength: 30 }),
    (options, steps) =>
      inMarket(
        options,
        [...steps, { do: 'confirm' }],
        async (market) => {
          check(market, statuses);
          if (market.world.seq % 11 === 0) await checkRebuild(market.world);
        },
        seen,
      ),
  );
  const numRuns = Number(process.env.RUNS ?? 15);
  // Goes back beyond its horizon, which hardly one run in thirty draws.
  const confirms = Array.from({ length: 5 }, (): Step => ({ do: 'confirm' }));
  const beyond: Step[] = [...confirms, { do: 'back', blocks: 5 }];
  const examples: [Partial<FoldWorldOptions>, Step[]][] = [
    [{ horizonBlocks: 3, commitEveryMs: 0 }, beyond],
  ];
  const counts = { epochs: 0, all: 0 };
  await untilSeen(counts, async (round) => {
    await fc.assert(property, { ...seedOf(round), numRuns, examples, includeErrorInReport: true });
    counts.epochs = seen.get('epoch') ?? 0;
    counts.all = statuses.size === ORDER_STATUSES.length ? 1 : 0;
  });
});
