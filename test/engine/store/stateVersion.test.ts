/** The rows of a small market are pinned beside the version of the state. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { KEYED_TABLES } from '../../../src/engine/store/rows.ts';
import { STATE_VERSION } from '../../../src/engine/store/schema.ts';
import { appendBlock, appendMempool, passTo, rollBackTo } from '../../chain/foldChain.ts';
import { type Action, BlockMaker } from '../../chain/foldMarket.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';

const PINNED = 'test/engine/store/stateVersion.json';

const buyOf = (amount: number): Action => ({ do: 'place', user: 1, pool: 0, side: 'buy', amount });
const BLOCKS: readonly (readonly Action[])[] = [
  [{ do: 'launch', user: 0, buy: 60 }, buyOf(13), buyOf(9), buyOf(7)],
  [
    { do: 'execute', pool: 0 },
    { do: 'refund', index: 2 },
    { do: 'cancel', index: 1 },
    { do: 'transfer', user: 0, pool: 0, to: 2 },
  ],
  [
    { do: 'lock', user: 0, pool: 0, to: 3 },
    { do: 'place', user: 1, pool: 0, side: 'sell', amount: 40 },
  ],
  [
    { do: 'execute', pool: 0 },
    { do: 'withdraw', index: 0 },
  ],
  [buyOf(90), { do: 'launch', user: 2, buy: 3 }],
  [{ do: 'execute', pool: 0 }],
  [{ do: 'collect', pool: 0 }, buyOf(5)],
];

async function digestOfMarket(scope: { after(end: () => Promise<void>): void }) {
  const world = await FoldWorld.open(scope, join(temporaryDirectory(), 'data'));
  const maker = new BlockMaker();
  for (const actions of BLOCKS) await appendBlock(world, maker.block(actions, 20_000));
  await rollBackTo(world, maker.back(1));
  const pending = maker.block([buyOf(4)], 20_000);
  const transactions = [{ id: 'ab'.repeat(32), events: pending.events }];
  await appendMempool(world, {
    seenMs: world.fold.marketMs,
    whole: true,
    added: transactions,
    removed: [],
  });
  await passTo(world, world.fold.marketMs + 90_000);
  const digest = await world.fold.store.digest();
  const filled = KEYED_TABLES.filter((table) => {
    return world.fold.store.withPrefix(table, '', 1).length > 0;
  });
  assert.ok(filled.length > 15, `rows in ${filled}`);
  return { stateVersion: STATE_VERSION, digest };
}

test('rows that change need a higher STATE_VERSION than a release has', async (t) => {
  const made = await digestOfMarket(t);
  const pinned: typeof made = JSON.parse(readFileSync(PINNED, 'utf8'));
  const differing = Object.entries(made.digest).filter(([table, hash]) => {
    return new Map(Object.entries(pinned.digest)).get(table) !== hash;
  });
  assert.deepEqual(
    made,
    pinned,
    `the rows of ${differing.map(([table]) => table)} changed: raise STATE_VERSION in ` +
      `src/engine/store/schema.ts, unless no release has it; then ${PINNED} is\n` +
      `${JSON.stringify(made, null, 2)}`,
  );
});
