/**
 * A launchpad of which as much is known as of mainnet's: hashes, and where the curve's and the
 * order's scripts lie; no executor, no template, no AMM, no key of ours. Somebody else launches and
 * fills orders; this node follows, quotes, and builds orders and cancels.
 */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import { datumOf, parseRef } from '../../src/cardano/codec/output.ts';
import { Constr } from '../../src/cardano/codec/plutusData.ts';
import { decodeTransaction } from '../../src/cardano/codec/transaction.ts';
import { readOrderData } from '../../src/cardano/datums/datums.ts';
import type { NetworkDeployment } from '../../src/cardano/datums/deployment.ts';
import { ApiError } from '../../src/client/index.ts';
import { type OrderRecord, readRecord } from '../../src/engine/store/records.ts';
import { readDeployment } from '../../src/server/settings/deployments.ts';
import { NO_SECRETS } from '../../src/server/settings/keyFiles.ts';
import { outcomeOf, refusalOf } from '../support/apiError.ts';
import { untilAsked } from '../support/until.ts';
import { ADA, launchOf } from './devnet/world.ts';
import { answered, built, KEYS, RealLedger } from './realTradeWorld.ts';

const SHIPPED = readDeployment('mainnet');

/** The ledger's deployment, reduced to the fields that mainnet's file has. */
function asShipped(ledger: RealLedger, refundAfterMs: number): NetworkDeployment {
  const { partial } = SHIPPED;
  assert.ok(partial);
  const { deployment: ours } = ledger.ledger;
  const known = (name: 'curvePool' | 'order' | 'ammPool' | 'vesting') => {
    const shipped = partial.scripts[name];
    const { hash, ref } = ours.scripts[name];
    return shipped === null ? null : { hash, ref: shipped.ref === null ? null : ref };
  };
  const [curvePool, order] = [known('curvePool'), known('order')];
  assert.ok(curvePool !== null && order !== null);
  const { addressNetwork, launchPolicyId, orderLayout } = ours;
  const scripts = { curvePool, order, ammPool: known('ammPool'), vesting: known('vesting') };
  // Orders have the layout that this ledger's validators read; mainnet's have another.
  const same = { addressNetwork, launchPolicyId, orderLayout, scripts, refundAfterMs };
  return { ...SHIPPED, start: null, partial: { ...partial, ...same } };
}

/** A launched token, and Alice's trader at a node that knows no more than that. */
async function open(t: TestContext, refundAfterMs: number, launcherKeys = NO_SECRETS) {
  const ledger = await RealLedger.open(t);
  const launcher = await ledger.follow({ secrets: launcherKeys });
  const request = launchOf({ initialLovelace: 30n * ADA });
  const { asset } = await built('the launch is built', () => launcher.trader.launch(request));
  await ledger.mine();
  const { real, trader } = await ledger.follow({ some: asShipped(ledger, refundAfterMs) });
  const recordOf = (id: string) => {
    const record = real.app.app.node.fold.store.get('orders', id) ?? assert.fail(`order ${id}`);
    return readRecord<OrderRecord>(record);
  };
  return { ledger, real, trader, asset, recordOf };
}

test('an order names the executor of its pool, who fills it', async (t) => {
  const { ledger, real, trader, asset, recordOf } = await open(t, 1_200_000, KEYS);
  const quoted = await untilAsked(
    'a quote',
    () => real.get(`/quote?assetId=${asset}&side=BUY&amount=8000000&slippage=50`),
    ({ status }) => status === 200,
  );
  const request = { assetId: asset, side: 'BUY', amount: 8n * ADA, slippage: '50' } as const;
  const { built: plain } = await built('an order', () => trader.prepareOrder(request));
  const { outputs, redeemers } = decodeTransaction(fromHex(plain.cbor));
  assert.equal(redeemers.length, 0, 'no script runs');
  const { executorKeyHash } = ledger.ledger.deployment;
  const datum = readOrderData(datumOf(outputs[0] ?? assert.fail()), 'testnet');
  assert.equal(datum?.executor, executorKeyHash);
  assert.deepEqual([datum.feeLovelace, datum.depositLovelace], [1_100_000n, 1_500_000n]);
  const { id } = await trader.order(request);
  await ledger.mine();
  await ledger.untilSpent(id);
  await ledger.mine();
  assert.equal(recordOf(id).state, 'executed');
  const { outputAmount } = Object(quoted.body);
  assert.equal(recordOf(id).received, outputAmount, 'exactly what was quoted');
});

test('the owner takes an order back once its time has come', async (t) => {
  const { ledger, trader, asset, recordOf } = await open(t, 1_000);
  const request = { assetId: asset, side: 'BUY', amount: 8n * ADA, slippage: '50' } as const;
  const { id } = await built('an order', () => trader.order(request));
  await ledger.mine();
  assert.equal(recordOf(id).state, 'open');
  const { txHash, index } = parseRef(id) ?? assert.fail();
  const plain = await untilAsked(
    'the cancel is built',
    () => outcomeOf(trader.prepareCancel(id)),
    (found) => !(found instanceof ApiError),
  );
  assert.ok(!(plain instanceof ApiError));
  const transaction = decodeTransaction(fromHex(plain.built.cbor));
  const [spent] = await ledger.ledger.byRefs([{ txHash, index }]);
  assert.ok(spent?.state === 'unspent');
  const { output } = spent.utxo;
  const datum = readOrderData(datumOf(output), 'testnet') ?? assert.fail();
  assert.deepEqual(transaction.outputs[0]?.value, output.value, 'whole');
  assert.equal(transaction.outputs[0]?.address, trader.wallet.address);
  const spends = transaction.redeemers.map(({ data }) => data);
  assert.deepEqual(spends, [new Constr(0, [])]);
  assert.deepEqual(transaction.requiredSigners, [datum.owner]);
  const { zeroTimeMs, zeroSlot, slotLengthMs } = ledger.ledger.slotConfig;
  const validFromSlot = transaction.validFromSlot ?? assert.fail('it is valid from some slot on');
  const fromMs = zeroTimeMs + (validFromSlot - zeroSlot) * slotLengthMs;
  assert.ok(fromMs >= Number(datum.refundAfterMs));
  // The ledger's slot advances with its blocks, which come on demand.
  const { tip } = await ledger.ledger.tip();
  await ledger.mine(Math.max(1, validFromSlot - (tip?.slot ?? 0)));
  await trader.cancel(id);
  await ledger.mine();
  assert.equal(recordOf(id).state, 'cancelled');
});

test('without a block that was named it begins behind the one of its file', async (t) => {
  const ledger = await RealLedger.open(t);
  await ledger.mine(3);
  const { tip } = await ledger.ledger.tip();
  assert.ok(tip);
  const { slot, hash, height } = tip;
  const { real } = await ledger.follow({
    some: { ...asShipped(ledger, 1), start: { slot, hash } },
  });
  const points = real.app.app.node.fold.store.withPrefix('points', '', 100);
  assert.deepEqual(
    points.map(({ key }) => Number(key)),
    [height + 1],
  );
});

test('what is too early, or needs more than is known, is refused', async (t) => {
  const { ledger, real, trader, asset, recordOf } = await open(t, 1_200_000);
  const request = { assetId: asset, side: 'BUY', amount: 8n * ADA, slippage: '50' } as const;
  const { id } = await built('an order', () => trader.order(request));
  await ledger.mine();
  const early = await refusalOf(trader.cancel(id));
  assert.deepEqual([early.cause, early.status], ['SERVER_ERROR', 500]);
  const from = new Date(recordOf(id).refundAfterMs).toISOString();
  assert.ok(early.message.includes(`it can be cancelled from ${from} on`), early.message);
  const launched = await answered('a launch is refused', () => trader.launch(launchOf()));
  assert(launched instanceof ApiError);
  assert.equal(launched.cause, 'PROTOCOL_CONFIG');
  assert.match(launched.message, /tokenPolicyTemplate/);
  const config = await real.get('/snekfun-front/protocol-config.json');
  assert.equal(config.status, 500);
  assert.equal((await real.get('/parameters')).status, 200);
});
