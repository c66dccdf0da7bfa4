/**
 * People trade on a real network: wallets from Kupo, transactions built here by the node's own
 * parameters, submitted through Ogmios, orders filled by this node's executor. The network is a
 * ledger that has no knowledge of the market.
 */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ApiError } from '../../src/client/index.ts';
import { type OrderRecord, readRecord } from '../../src/engine/store/records.ts';
import { refusalOf } from '../support/apiError.ts';
import { ADA, launchOf } from './devnet/world.ts';
import { answered, built, KEYS, type NodeOptions, RealLedger } from './realTradeWorld.ts';

async function open(t: TestContext, options: NodeOptions = {}) {
  const ledger = await RealLedger.open(t);
  return { ledger, mine: () => ledger.mine(), ...(await ledger.follow(options)) };
}

test('a launch, an order and its fill, from here to the network and back', async (t) => {
  const { ledger, real, mine, trader } = await open(t, { secrets: KEYS });
  const request = launchOf({ initialLovelace: 30n * ADA });
  const { asset: token } = await built('the launch is built', () => trader.launch(request));
  await mine();
  const feed = await real.get(`/v1/pools-feed/initial/state?asset=${token}`);
  assert.equal(feed.status, 200);
  const order = { assetId: token, side: 'BUY', amount: 8n * ADA, slippage: '50' } as const;
  const placed = await trader.order(order);
  // The mempool is overlaid on the wallet: the next order does not spend the same.
  const second = await trader.order({ ...order, amount: 5n * ADA });
  await mine();
  for (const { id } of [placed, second]) {
    await ledger.untilSpent(id);
    await mine();
  }
  const { store } = real.app.app.node.fold;
  for (const { id } of [placed, second]) {
    const record = readRecord<OrderRecord>(store.get('orders', id) ?? assert.fail());
    assert.equal(record.state, 'executed');
  }
  const sold = await trader.order({ ...order, side: 'SELL', amount: 1_000_000n });
  await mine();
  await ledger.untilSpent(sold.id);
  await mine();
  const trades = await real.get(`/v1/trades?asset=${token}`);
  assert(Array.isArray(trades.body) && trades.body.length === 4);
});

test('without keys it follows and builds; the collateral is the wallet’s own', async (t) => {
  const { ledger, real, mine, trader } = await open(t);
  const launched = await built('the launch is built', () => trader.launch(launchOf()));
  await mine();
  const feed = await real.get(`/v1/pools-feed/initial/state?asset=${launched.asset}`);
  assert.equal(feed.status, 200);
  const order = { assetId: launched.asset, side: 'BUY', amount: 8n * ADA, slippage: '50' } as const;
  const { id } = await trader.order(order);
  await mine();
  await trader.cancel(id);
  await mine();
  await ledger.untilSpent(id);
  const record = real.app.app.node.fold.store.get('orders', id) ?? assert.fail();
  assert.equal(readRecord<OrderRecord>(record).state, 'cancelled');
  assert.equal((await real.get('/parameters')).status, 200);
});

test('without Kupo it follows; whatever needs a wallet says what is missing', async (t) => {
  const { real, trader } = await open(t, { withKupo: false });
  const found = await refusalOf(trader.utxos());
  assert.deepEqual([found.status, found.cause], [503, 'NOT_READY']);
  assert.match(found.message, /set KUPO_URL/);
  assert.equal((await real.get('/v1/pools-main-page/initial/state?filter=New')).status, 200);
});

test('what is not known of a launchpad is refused by name', async (t) => {
  const missing = ['metadataAddress', 'scripts.ammPool.hash'];
  const { real, trader } = await open(t, { some: { complete: null, missing } });
  const found = await answered('a launch is refused', () => trader.launch(launchOf()));
  assert(found instanceof ApiError);
  assert.equal(found.cause, 'PROTOCOL_CONFIG');
  assert.match(found.message, /not enough is known of the launchpad on preprod/);
  assert.match(found.message, /scripts\.ammPool\.hash/);
  const config = await real.get('/snekfun-front/protocol-config.json');
  assert.equal(config.status, 500);
});
