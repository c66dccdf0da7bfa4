/** A world that follows a chain made elsewhere, looked at from outside. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Transaction } from '../../src/cardano/codec/transaction.ts';
import { chainTip } from '../../src/chain/chainPoints.ts';
import type { KeyedTable } from '../../src/engine/store/rows.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { until } from '../support/until.ts';
import type { MadeElsewhere } from './distantChain.ts';
import { rowsOf } from './foldChain.ts';
import { launchOf, orderOf } from './recogniseWorld.ts';

/** Rows that no seq stands in: how blocks were cut into entries does not show. */
const MARKET: readonly KeyedTable[] = [
  ...(['pools', 'orders', 'open_orders', 'outputs', 'trades'] as const),
  ...(['holdings', 'holders', 'balances', 'traders', 'counts'] as const),
];

export async function openWorld(t: TestContext): Promise<FoldWorld> {
  return FoldWorld.open(t, join(temporaryDirectory(), 'data'));
}

export async function caughtUp(
  world: FoldWorld,
  chain: MadeElsewhere,
  height?: number,
): Promise<void> {
  const wanted = height ?? chain.tip?.height;
  const block = chain.blocks.find((each) => each.height === wanted) ?? assert.fail();
  const tip = () => chainTip(world.fold.store);
  const what = () => `the log has block ${wanted}; it has ${tip()?.height}`;
  await until(what, () => tip()?.hash === block.point.hash);
}

export async function assertRebuilt(world: FoldWorld): Promise<void> {
  const { stateHash } = await world.rebuilt();
  assert.equal(world.node.stateHash(), stateHash, 'the state is what the log says');
}

export function marketOf(world: FoldWorld) {
  return MARKET.map((table) => [table, rowsOf(world, table)]);
}

/** Transactions of a block: launches and orders of tokens launched before it. */
export function transactionsOf(actions: readonly number[], tokens: string[]): Transaction[] {
  return actions.map((action) => {
    const token = tokens[action % (tokens.length + 1)];
    if (token !== undefined) return orderOf(token, action % 2 === 0 ? 'buy' : 'sell').tx;
    const launch = launchOf(`T${tokens.length}`);
    tokens.push(launch.token);
    return launch.tx;
  });
}
