/** A pool whose transactions the ledger refuses: paused, reported, its due orders refunded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlannedOutput } from '../../../src/cardano/transactions/plan.ts';
import type { Builder } from '../../../src/cardano/transactions/port.ts';
import { ADA, DevnetWorld } from '../../e2e/devnet/world.ts';
import { until } from '../../support/until.ts';
import { executorOver, stopOwn } from './poolExecutorWorld.ts';

const REFUND_AFTER_MS = 60_000;
const BUY = { side: 'BUY', amount: 5n * ADA, slippage: 'infinity' } as const;

/** Its transactions of the pool of `asset` end in the first slot, so the ledger refuses them. */
function endingEarly({ builder }: DevnetWorld['kit']['txContext'], asset: string): Builder {
  const isOfPool = ({ value }: PlannedOutput) => value.assets.size === 2 && value.assets.has(asset);
  return {
    build(plan, options) {
      const ends = plan.outputs.some(isOfPool) ? { validFromSlot: null, validToSlot: 1 } : {};
      return builder.build({ ...plan, ...ends }, options);
    },
  };
}

test('it is tried more and more rarely, and its orders are refunded when due', async (t) => {
  const env = { ORDER_REFUND_AFTER_MS: String(REFUND_AFTER_MS) };
  const world = await DevnetWorld.start(t, { env });
  await stopOwn(world);
  const alice = await world.funded('alice', 500, 4);
  const { asset: odd } = await world.launch(alice, { name: 'Odd' });
  const { asset: fine } = await world.launch(alice, { name: 'Fine' });
  let nowMs = 0;
  const pacer = { monotonicMs: () => nowMs };
  const builder = endingEarly(world.kit.txContext, odd);
  const { heard, backoff } = executorOver(t, world, { pacer, builder });
  const stuck = await alice.order({ ...BUY, assetId: odd });
  const other = await alice.order({ ...BUY, assetId: fine });
  await world.mine();
  await world.wanted(other.id);
  await until('refused once', () => heard.rejected.length === 1);
  assert.deepEqual(backoff.stuck(), [], 'one refusal may be a race');
  // Entries come, time does not pass: nothing is tried.
  for (let blocks = 0; blocks < 3; blocks += 1) await world.mine();
  assert.equal(heard.rejected.length, 1);
  nowMs += 10_000;
  await world.mine();
  await until('refused again', () => heard.rejected.length === 2);
  const stuckTokens = () => backoff.stuck().map(({ token }) => token);
  assert.deepEqual([stuckTokens(), heard.stuck], [[odd], [odd]]);
  nowMs += 1_999;
  await world.mine(2);
  assert.equal(heard.rejected.length, 2, 'the pause has doubled');
  assert.equal(world.order(stuck.id).state, 'open');
  await world.client.devnet.mine({ blocks: 1 });
  while (world.nowMs < world.order(stuck.id).refundAfterMs) await world.mine(20);
  await world.spent(stuck.id);
  assert.equal(world.order(stuck.id).state, 'refunded');
  assert.equal(world.order(other.id).state, 'executed');
  assert.deepEqual(heard.failed, []);
});
