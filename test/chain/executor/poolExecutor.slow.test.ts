/** The executor against a real ledger: lost races, rivals, and restarts. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Submitter } from '../../../src/cardano/ledger/port.ts';
import type { Builder } from '../../../src/cardano/transactions/port.ts';
import type { PlacedOrder, TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { audit } from '../../e2e/devnet/audit.ts';
import { ADA, DevnetWorld } from '../../e2e/devnet/world.ts';
import { until, untilAsked } from '../../support/until.ts';
import { backwards, executorOver, stopOwn } from './poolExecutorWorld.ts';

const MAX_ROUNDS = 12;

const buyOf = (assetId: string, amount: bigint) =>
  ({ assetId, side: 'BUY', amount: amount * ADA, slippage: 'infinity' }) as const;

/** Orders in the mempool. */
async function asked(
  traders: readonly TradingClient[],
  token: string,
  each: number,
): Promise<PlacedOrder[]> {
  const placed: PlacedOrder[] = [];
  for (let round = 0; round < each; round += 1) {
    for (const trader of traders) placed.push(await trader.order(buyOf(token, BigInt(3 + round))));
  }
  return placed;
}

async function settled(world: DevnetWorld): Promise<void> {
  await untilAsked(
    'no order is open',
    async () => {
      await world.mine();
      return world.rows('open_orders').length;
    },
    (open) => open === 0,
  );
}

const ends: (() => void | Promise<void>)[] = [];
let started: Promise<DevnetWorld> | null = null;

/** One market, without an executor, for all whose own executors stop with their test. */
function someWorld(): Promise<DevnetWorld> {
  const begin = async () => {
    const world = await DevnetWorld.start({ after: (end) => void ends.push(end) });
    await stopOwn(world);
    return world;
  };
  started ??= begin();
  return started;
}

after(async () => {
  for (const end of ends) await end();
});

test('two executors at once: every order is executed once, none is paid twice', async (t) => {
  const world = await DevnetWorld.start(t);
  await stopOwn(world);
  const fundingLookup = backwards(world.chain);
  const rivals = [executorOver(t, world), executorOver(t, world, { fundingLookup })];
  const traders = [await world.funded('alice', 500, 4), await world.funded('bob', 500, 4)];
  const { asset: one } = await world.launch(traders[0] ?? assert.fail(), { name: 'One' });
  const { asset: two } = await world.launch(traders[1] ?? assert.fail(), { name: 'Two' });
  const placed: PlacedOrder[] = [];
  const refused = () => rivals.flatMap(({ heard }) => heard.rejected);
  // The second executor may see the first one's transaction in time, so rounds are repeated until
  // the two have collided.
  const isEnough = (rounds: number) => rounds >= (refused().length > 0 ? 3 : MAX_ROUNDS);
  for (let round = 0; !isEnough(round); round += 1) {
    // A single order needs a float, which makes the rivals' transactions different ones.
    placed.push(...(await asked(traders.slice(0, 1), one, 1)), ...(await asked(traders, two, 2)));
    await world.mine();
    for (const { id } of placed) await world.wanted(id);
  }
  await settled(world);
  for (const { id, outputAmount } of placed) {
    const { state, received } = world.order(id);
    assert.equal(state, 'executed');
    assert(BigInt(received) > 0n && outputAmount > 0n);
  }
  const heard = rivals.map((rival) => rival.heard);
  assert.deepEqual(
    heard.flatMap(({ failed }) => failed),
    [],
  );
  const reasons = new Set(heard.flatMap(({ rejected }) => rejected.map(({ reason }) => reason)));
  assert.deepEqual([...reasons], ['INPUT_SPENT'], 'they did get into each other’s way');
  t.diagnostic(
    JSON.stringify(heard.map(({ submitted, rejected }) => [submitted.length, rejected.length])),
  );
  const { deployment } = world.kit.txContext;
  await world.app.stop();
  const { counts } = audit(world.ledgerFile, deployment);
  assert.equal(counts['fill CURVE'], placed.length);
});

test('a cancel that wins the race: the batch is built again without it', async (t) => {
  const world = await someWorld();
  const alice = await world.funded('alice', 500, 6);
  const { asset } = await world.launch(alice);
  const placed = await asked([alice], asset, 3);
  const [, second] = placed;
  assert(second !== undefined);
  let cancels = 0;
  const racing: Submitter = {
    async submit(bytes) {
      // The owner's cancel arrives while the batch is on its way.
      if (cancels === 0) {
        cancels += 1;
        await alice.cancel(second.id);
      }
      return world.chain.submit(bytes);
    },
  };
  const { heard } = executorOver(t, world, { submitter: racing });
  await world.mine();
  for (const { id } of placed) await world.wanted(id);
  await world.mine();
  assert.deepEqual(
    placed.map(({ id }) => world.order(id).state),
    ['executed', 'cancelled', 'executed'],
  );
  assert.deepEqual(heard.rejected, [{ kind: 'batch', reason: 'INPUT_SPENT' }]);
  assert.equal(heard.submitted.length, 1, 'the others in one batch');
});

test('what the ledger refuses for now is tried again after the next block', async (t) => {
  const world = await someWorld();
  const alice = await world.funded('alice', 100, 3);
  const { asset } = await world.launch(alice);
  let refusals = 0;
  const full: Submitter = {
    async submit(bytes) {
      refusals += 1;
      if (refusals > 1) return world.chain.submit(bytes);
      return { outcome: 'refused', reason: 'MEMPOOL_FULL', message: 'try again' };
    },
  };
  const { heard } = executorOver(t, world, { submitter: full });
  const [placed] = await asked([alice], asset, 1);
  assert(placed !== undefined);
  await world.mine();
  await until('refused', () => heard.rejected.length === 1);
  await world.mine();
  await world.spent(placed.id);
  assert.equal(world.order(placed.id).state, 'executed');
});

/** One order a transaction. */
function oneByOne({ builder }: DevnetWorld['kit']['txContext']): Builder {
  const tooLarge = {
    outcome: 'refused',
    reason: 'TOO_LARGE',
    message: 'one order',
    log: [],
  } as const;
  return {
    async build(plan, options) {
      const spent = plan.inputs.filter(({ redeemer }) => redeemer !== null);
      return spent.length > 2 ? tooLarge : builder.build(plan, options);
    },
  };
}

test('ten transactions of a pool wait at most, whatever else the mempool shows', async (t) => {
  const world = await someWorld();
  const alice = await world.funded('alice', 500, 6);
  const bob = await world.funded('bob', 500, 4);
  const { asset } = await world.launch(alice);
  const placed = await asked([alice], asset, 12);
  const { heard } = executorOver(t, world, { builder: oneByOne(world.kit.txContext) });
  await world.mine();
  await until('a chain of ten', () => heard.submitted.length >= 10);
  // Entries without a block.
  for (const { id } of await asked([bob], asset, 3)) {
    await until('it is shown', () => world.rows('mempool').some(([tx]) => id.startsWith(tx)));
  }
  assert.equal(heard.submitted.length, 10);
  await world.mine();
  for (const { id } of placed) await world.wanted(id);
  assert.equal(world.rows('open_orders').length, 12 + 3 - 10);
  await settled(world);
  assert.deepEqual(heard.failed, []);
});

test('a new executor finds open orders and a due graduation', async (t) => {
  const world = await someWorld();
  const alice = await world.funded('alice', 500, 4);
  const carol = await world.funded('carol', 9_999, 4);
  const { asset: token } = await world.launch(alice, { initialLovelace: 50n * ADA });
  const first = executorOver(t, world);
  const big = await carol.order(buyOf(token, 2_000n));
  // Its price is gone when the one before it is filled.
  const late = await alice.order({ ...buyOf(token, 5n), slippage: '15' });
  const behind = await alice.order(buyOf(token, 4n));
  await world.mine();
  await world.wanted(big.id);
  await world.spent(behind.id);
  assert.equal(world.order(late.id).state, 'open', 'passed over, without blocking others');
  await first.executor.stop();

  const sale = { assetId: token, side: 'SELL', slippage: 'infinity' } as const;
  const back = await carol.order({ ...sale, amount: big.outputAmount });
  await world.mine();
  const second = executorOver(t, world);
  await world.mine();
  await world.spent(back.id);
  await world.spent(late.id);
  assert.equal(world.order(late.id).state, 'executed', 'tried again when the pool changed');
  const { reserves, thresholdLovelace } = world.pool(token);
  const missing = BigInt(thresholdLovelace) - BigInt(reserves.x);
  const amount = (missing * 100n) / 99n + 2n;
  const last = await carol.order({ ...buyOf(token, 1n), amount });
  await world.mine();
  await world.wanted(last.id);
  await second.executor.stop();
  await world.mine();
  const isCurve = world.pool(token).reserves.venue === 'CURVE';
  if (isCurve) {
    const { ref } = world.pool(token);
    const state = await world.chain.byAsset(world.pool(token).nft, 'newest');
    assert.equal(state.length, 1);
    executorOver(t, world);
    await world.spent(ref);
  }
  assert.equal(world.pool(token).reserves.venue, 'AMM');
});
