/** More orders than a snapshot holds: older ones come page by page, new ones meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../../src/client/index.ts';
import { DevnetWorld } from '../e2e/devnet/world.ts';
import { until, untilAsked } from '../support/until.ts';
import { Person } from './person.ts';

const DEADLINE_MS = 60_000;
const OUTPUTS = 26;
const ROUNDS = 4;
/** Of a snapshot. */
const FIRST_PAGE = 100;

test('orders beyond the newest hundred', async (t) => {
  const world = await DevnetWorld.start(t);
  const client = new Client({ url: world.url });
  t.after(() => client.close());
  const person = new Person(client);
  await person.fund(60, OUTPUTS, () => world.mine());
  const assetId = await person.launch('Rocket', 20);
  await world.mine();
  const ids: string[] = [];
  const buy = async () => {
    const wish = { assetId, side: 'BUY', amount: '4000000', slippage: 'infinity' } as const;
    ids.push(await person.order(wish));
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let made = 0; made < OUTPUTS - 1; made += 1) await buy();
    await world.mine();
  }
  await buy();
  const placed = async () => {
    await world.mine();
    return (await client.orders.feed({ asset: assetId })).data.ledger.count;
  };
  await untilAsked('in blocks', placed, (count) => count === ids.length, DEADLINE_MS);

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
    await buy();
    await untilAsked('in a block', placed, (count) => count === ids.length, DEADLINE_MS);
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
});
