/**
 * Trades on the AMM: each order is executed to the unit, and the amount owed to the creator is
 * exact.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attack } from '../cases.ts';
import { changed, launched } from '../layouts.ts';
import { AMM, ammVenue, type OrderCase, trade } from '../trades.ts';
import { ADA, BOB, type World } from '../world.ts';
import { trading } from './trading.ts';

const BUY: OrderCase = { side: 'buy', amount: 5n * ADA };
const SELL: OrderCase = { side: 'sell', amount: 50_000n, owner: BOB };

test('the examples of onchain.md are what is traded here', () => {
  assert.equal(ammVenue().fill('buy', BUY.amount), 71_486n);
  assert.equal(ammVenue().fill('sell', SELL.amount), 3_405_383n);
});

trading('amm', ammVenue, 'not what the pool gives');

const owing = (world: World, order: OrderCase, more: bigint, moreLovelace = 0n) => {
  const share = (order.side === 'buy' ? order.amount : 3_444_999n) / 100n;
  const datum1 = (datum: ReturnType<typeof changed>) => changed(datum, 7, AMM.owed + share + more);
  return trade(world, launched(world), ammVenue(), [order], { datum1, moreLovelace });
};
for (const [what, order] of [
  ['a buy', BUY],
  ['a sell', SELL],
] as const) {
  attack(`amm: ${what} owes the creator a lovelace less`, 'datum changed', (world) =>
    owing(world, order, -1n),
  );
  attack(`amm: ${what} owes the creator a lovelace more`, 'datum changed', (world) =>
    owing(world, order, 1n, 1n),
  );
}
attack('amm: reserve declared as owed', 'datum changed', (world) =>
  trade(world, launched(world), ammVenue(), [], {
    datum1: (datum) => changed(datum, 7, AMM.owed + ADA),
  }),
);
attack('amm: owed to the creator shrinks', 'datum changed', (world) =>
  trade(world, launched(world), ammVenue(), [], {
    datum1: (datum) => changed(datum, 7, AMM.owed - 1n),
  }),
);
attack('amm: a buy of less than nothing', 'not what the pool gives', (world) => {
  const venue = { ...ammVenue(), fill: () => 0n };
  return trade(world, launched(world), venue, [{ side: 'buy', amount: -1n }]);
});
