/** More orders and trades than a snapshot holds: older ones come by pages, new ones meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../../src/client/index.ts';
import { DevnetWorld } from '../e2e/devnet/world.ts';
import { until } from '../support/until.ts';
import { manyOrders } from './manyOrders.ts';

const DEADLINE_MS = 60_000;
/** Orders in a snapshot. */
const FIRST_PAGE = 100;

test('orders and trades beyond the newest hundred', async (t) => {
  const world = await DevnetWorld.start(t);
  const client = new Client({ url: world.url });
  t.after(() => client.close());
  const many = await manyOrders(world, client);
  const { assetId, ids, person } = many;

  for (const open of [
    () => client.orders(assetId),
    () => client.userOrders(person.address, { asset: assetId }),
  ]) {
    const orders = open();
    const known = () => orders.state.ledger.map(({ entityId }) => entityId);
    await orders.ready();
    await until('all are counted', () => orders.state.count === ids.length, DEADLINE_MS);
    assert.equal(orders.state.ledger.length, FIRST_PAGE);
    assert.equal(orders.hasOlder, true);
    assert.equal(await orders.loadOlder(), true);
    assert.deepEqual(known().toSorted(), ids.toSorted(), 'each once');
    assert.equal(orders.hasOlder, false);
    assert.equal(await orders.loadOlder(), false);
    await many.buy();
    await many.placed();
    const newest = ids.at(-1);
    await until('the new one comes first', () => known()[0] === newest, DEADLINE_MS);
    assert.equal(known().length, ids.length);
    const seconds = orders.state.ledger.map(({ timestamp }) => timestamp);
    assert.deepEqual(
      seconds,
      seconds.toSorted((a, b) => b - a),
      'newest first',
    );
  }

  await many.filled();
  const listed = async () => (await client.trades.list({ asset: assetId, limit: 500 })).data;
  const trades = client.trades(assetId);
  await trades.ready();
  assert.deepEqual(trades.state.trades, (await listed()).slice(0, FIRST_PAGE));
  assert.equal(trades.hasOlder, true);
  assert.equal(await trades.loadOlder(), true);
  assert.deepEqual(trades.state.trades, await listed(), 'all, newest first');
  assert.equal(trades.hasOlder, false);
  assert.equal(await trades.loadOlder(), false);
  await many.buy();
  await many.filled();
  const all = await listed();
  await until('the new one comes', () => trades.state.trades[0]?.id === all[0]?.id, DEADLINE_MS);
  assert.deepEqual(trades.state.trades, all, 'and the older ones stay');
});
