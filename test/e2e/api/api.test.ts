/** Every row of api.md, over real HTTP and WebSocket, is what a naive reader of the chain says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryDirectory } from '../../support/server.ts';
import { DevnetWorld } from '../devnet/world.ts';
import { compareAll } from './compare.ts';
import { naiveMarket } from './model.ts';
import { REFUND_AFTER_MS, Scene } from './scene.ts';

async function compare(what: string, world: DevnetWorld, walletPkhs: readonly string[]) {
  const market = naiveMarket(await world.blocks(), world.kit.workshop.deployment);
  assert(market.chain.trades.length > 40, 'there is something to compare');
  return compareAll(what, { url: world.url, market, walletPkhs });
}

test('every answer is what the chain says: at rest, after a fork, after a restart', async (t) => {
  const directory = temporaryDirectory();
  const env = { ORDER_REFUND_AFTER_MS: String(REFUND_AFTER_MS) };
  const world = await DevnetWorld.start(t, { directory, env });
  const scene = await Scene.play(world);
  const { pkhs } = scene;
  t.diagnostic(`${await compare('at rest', world, pkhs)} answers at height ${world.tip?.height}`);
  await world.fork(3, 'all');
  await scene.settle();
  await compare('after a fork', world, pkhs);
  await world.app.stop();
  const again = await DevnetWorld.start(t, { directory, env });
  await compare('after a restart', again, pkhs);
});
