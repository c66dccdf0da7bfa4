/** Runs of empty blocks on a chain behind Ogmios: forks and kills inside them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { chainTip } from '../../../src/chain/chainPoints.ts';
import { Follower } from '../../../src/chain/follower.ts';
import type { OgmiosChain } from '../../../src/chain/ogmios/ogmios.ts';
import { servedTransaction } from '../../../src/devnet/ogmios/transactionJson.ts';
import { KEPT_POINTS } from '../../../src/engine/fold/chainRows.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { PUBLIC_POLICY } from '../../support/chainPolicies.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { emptyBlocks, praosBlock } from '../../support/ogmios/blocks.ts';
import { startFakeOgmios } from '../../support/ogmios/scene.ts';
import type { FakeOgmios } from '../../support/ogmios/server.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { rowsOf } from '../foldChain.ts';
import { assertRebuilt } from '../followed.ts';
import { deployment, launchOf, orderOf, RULES } from '../recogniseWorld.ts';
import { remembering, startOgmios } from './ogmiosWorld.ts';

const LAUNCH = launchOf('Passed');
const ORDER = orderOf(LAUNCH.token, 'buy');

/** A block with a transaction, then empty blocks up to height `upTo`. */
function chainOf(fake: FakeOgmios, upTo: number, salt: string, tx = LAUNCH.tx): void {
  const { chain } = fake;
  const transactions = [servedTransaction(tx)];
  chain.extend(praosBlock(chain.tip, { salt, transactions }));
  chain.extend(...emptyBlocks(chain.tip, upTo - chain.length, salt));
}

/** The newest world, whose state gives the seed of a source. */
let world: FoldWorld;

function seen() {
  const keys = (table: 'pools' | 'outputs') => rowsOf(world, table).keys();
  return { tokens: [...keys('pools')], watched: [...keys('outputs')] };
}

function follow(t: TestContext, source: OgmiosChain) {
  const faults: unknown[] = [];
  const { node, writer, log } = world;
  const policy = { ...PUBLIC_POLICY, finalGraceMs: 0 };
  const place = { source, rules: RULES, clock: systemClock, rng: seededRng(5), node, writer, log };
  const follower = new Follower(
    { ...place, policy, tip: () => source.tip() },
    {
      nodeBehind: () => {},
      chainFollowed: () => {},
      chainRolledBack: () => {},
      orderRefused: () => undefined,
      followerFailed: (error) => void faults.push(error),
    },
  );
  t.after(() => follower.stop());
  follower.start().catch((error: unknown) => void faults.push(error));
  return { follower, faults };
}

async function followed(fake: FakeOgmios, at: number): Promise<void> {
  const tip = () => chainTip(world.fold.store);
  await until(
    () => `block ${at} is followed; ${tip()?.height}`,
    () => tip()?.hash === fake.chain.blockAt(at + 1)?.id,
    60_000,
  );
}

async function kinds(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { entry } of await world.entries()) {
    counts[entry.payload.kind] = (counts[entry.payload.kind] ?? 0) + 1;
  }
  return counts;
}

test('forks and kills inside runs of empty blocks leave no trace in the rows', {
  timeout: 180_000,
}, async (t) => {
  const fake = await startFakeOgmios(t);
  fake.chain.extend(...emptyBlocks(null, 1_200));
  chainOf(fake, 9_000, 'first');
  world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  const { faults } = fake;
  const observer = remembering();
  const chain = await startOgmios(t, fake.url, { deployment, watched: seen, observer });
  /** Once the chain was connected to so often: then the node is away. */
  const tellOnly = async (blocks: number, connections: number) => {
    const made = () => observer.connected.filter((name) => name === 'chain').length;
    await until('it is connected', () => made() === connections);
    faults.refuse();
    faults.nextBlock({ kind: 'cut' }, blocks);
    faults.resume();
  };
  faults.stall('nextBlock');
  const first = follow(t, chain);
  await tellOnly(3_500, 1);
  await followed(fake, 3_499);
  assert.equal(rowsOf(world, 'pools').size, 1);
  // It comes back on a fork that leaves the old chain inside a run.
  fake.chain.fork(fake.chain.length - 2_500);
  chainOf(fake, 9_000, 'second', ORDER.tx);
  faults.stall('nextBlock');
  faults.accept();
  // Asked for the next block, it goes back to the end of the previous run.
  await tellOnly(2_000, 3);
  await followed(fake, 4_000);
  assert.equal(rowsOf(world, 'orders').size, 1);
  assert.deepEqual(first.faults, []);
  await assertRebuilt(world);
  const { block = 0 } = await kinds();
  assert(block < KEPT_POINTS, 'runs were passed');
  // Killed inside a run, while the node switches to a fork from before the order.
  world = await world.crashed();
  await first.follower.stop();
  fake.chain.fork(fake.chain.length - 2_200);
  fake.chain.extend(...emptyBlocks(fake.chain.tip, 8_000 - fake.chain.length, 'third'));
  faults.accept();
  const second = follow(t, chain);
  await followed(fake, 7_999);
  assert.equal(rowsOf(world, 'pools').size, 1);
  assert.equal(rowsOf(world, 'orders').size, 0, 'its block is no longer on the chain');
  const points = [...rowsOf(world, 'points').values()].map((text) => JSON.parse(text));
  assert.equal(points.length, KEPT_POINTS + 1);
  for (const { height, hash } of points) assert.equal(hash, fake.chain.blockAt(height + 1)?.id);
  // And it is a chain as any other from there on.
  fake.chain.fork(KEPT_POINTS, emptyBlocks(fake.chain.blockAt(8_000 - KEPT_POINTS) ?? null, 2_200));
  await followed(fake, fake.chain.length - 1);
  await assertRebuilt(world);
  assert.deepEqual([second.faults, world.said.foldFailures], [[], []]);
});
