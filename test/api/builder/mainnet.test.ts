/**
 * Quotes on mainnet follow the pool's own curve. After a pool has left the curve, the answer says
 * so.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { orderRoutes } from '../../../src/api/builder/order.ts';
import { quoteRoutes } from '../../../src/api/builder/quote.ts';
import type { TxBuildContext } from '../../../src/api/builder/txBuildContext.ts';
import { vestingBuildRoutes } from '../../../src/api/vesting/routes.ts';
import { formatAddress, parseAddress } from '../../../src/cardano/codec/address.ts';
import { encodeOutput } from '../../../src/cardano/codec/encode.ts';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import {
  datumOf,
  decodeOutput,
  type Output,
  type Utxo,
} from '../../../src/cardano/codec/output.ts';
import { decodePlutusData } from '../../../src/cardano/codec/plutusData.ts';
import { decodeTransaction, type Transaction } from '../../../src/cardano/codec/transaction.ts';
import { asValue, coins } from '../../../src/cardano/codec/value.ts';
import { readPoolData } from '../../../src/cardano/datums/datums.ts';
import type { PartialDeployment } from '../../../src/cardano/datums/deployment.ts';
import type { UtxoLookup } from '../../../src/cardano/ledger/port.ts';
import type { TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import { recogniseBlock } from '../../../src/chain/recognise/block.ts';
import { knownState } from '../../../src/chain/recognise/knownState.ts';
import { rulesOf } from '../../../src/chain/recognise/rules.ts';
import { buyTokens } from '../../../src/engine/market/curve.ts';
import { curveProgress } from '../../../src/engine/market/poolView.ts';
import { splashOut } from '../../../src/engine/market/splash.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { type PoolRecord, readRecord } from '../../../src/engine/store/records.ts';
import { readDeployment } from '../../../src/server/settings/deployments.ts';
import { ALICE, outcomeOf, utxo } from '../../cardano/transactions/world.ts';
import { appendBlock } from '../../chain/foldChain.ts';
import { hashOf, START_MS } from '../../chain/foldState.ts';
import { GRADUATION, HAT_POOL, LAST_TRADE, RIDDLE_DATUM } from '../../chain/mainnetSamples.ts';
import { eventOf, transaction } from '../../chain/recogniseWorld.ts';
import { askRoute } from '../../support/askRoute.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { dataText } from '../../support/testData.ts';

const { partial } = readDeployment('mainnet');
assert.ok(partial);
const MAINNET = partial;
const rules = rulesOf(MAINNET);

/** The market after these blocks of one transaction each. */
async function followed(t: TestContext, ...blocks: readonly Transaction[]): Promise<FoldWorld> {
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  for (const [index, tx] of blocks.entries()) {
    const [slot, height] = [100 + index, 1 + index];
    const events = recogniseBlock(slot, [tx], knownState(world.fold.store), rules);
    const atMs = START_MS + height * 20_000;
    await appendBlock(world, { slot, hash: hashOf(`block ${height}`), height, atMs, events });
  }
  assert.deepEqual(world.said.foldFailures, []);
  return world;
}

/** Routes over these unspent outputs, and a wallet of them. */
function contextOf(
  world: FoldWorld,
  unspent: readonly Output[],
  partialDeployment: PartialDeployment,
  wallet: readonly Utxo[] = [],
): TxBuildContext {
  const withAsset = (asset: string) =>
    unspent
      .filter(({ value }) => value.assets.has(asset))
      .map((output, index) => ({ ref: { txHash: 'ab'.repeat(32), index }, output }));
  const utxos: UtxoLookup = {
    byPaymentKey: async () => wallet,
    byRefs: async (refs) => refs.map(() => ({ state: 'unknown' })),
    byAsset: async (asset) => withAsset(asset),
    newestOf: async (_, asset) => withAsset(asset)[0] ?? null,
  };
  const store = () => world.fold.store;
  // trust: quotes and orders ask a txContext for no more
  return {
    ...{ partialDeployment, utxos, store },
    builder: { build: async (plan: TransactionPlan) => outcomeOf(plan) },
    clock: { nowMs: () => 5 },
    cannotRunScripts: () => null,
    slots: { zeroTimeMs: 0, zeroSlot: 0, slotLengthMs: 1000 },
  } as unknown as TxBuildContext;
}

/** The answer of `/quote` when these outputs are unspent. */
async function quoteOf(
  world: FoldWorld,
  unspent: readonly Output[],
  assetId: string,
  partialDeployment: PartialDeployment = MAINNET,
) {
  const txContext = contextOf(world, unspent, partialDeployment);
  const route = quoteRoutes(txContext).find(({ path }) => path === '/quote') ?? assert.fail();
  const query = { assetId, amount: '8000000', side: 'BUY', slippage: '15' };
  return askRoute(route, query);
}

function poolRecord({ fold }: FoldWorld, token: string): PoolRecord {
  return readRecord<PoolRecord>(fold.store.get('pools', token) ?? assert.fail());
}

/** RIDDLE's pool as it stood; its tokens follow from its curve. */
function riddle(): { readonly output: Output; readonly token: string } {
  const datum = readPoolData(decodePlutusData(fromHex(RIDDLE_DATUM))) ?? assert.fail();
  const { aNum, bNum, token, nft } = datum;
  const supply = 1_000_000_000n;
  const left = supply - buyTokens({ aNum, bNum, supply }, 0n, 15_000_001n);
  const value = asValue(18_000_001n, [
    [nft, 1n],
    [token, left],
  ]);
  return { output: { ...decodeOutput(fromHex(HAT_POOL)), value, datum: RIDDLE_DATUM }, token };
}

test('a quote goes by the curve of the pool, and progress by its cap', async (t) => {
  const { output, token } = riddle();
  const placing = { ...transaction({ outputs: [] }), outputs: [output] };
  const world = await followed(t, placing);
  const answer = await quoteOf(world, [output], token);
  assert.ok(!(answer instanceof Failure) && answer !== null && 'body' in answer);
  const {
    outputAmount,
    inputAmount,
    fees: told,
    venue,
    expiresAt,
  } = JSON.parse(String(answer.body));
  const { aNum, bNum } = readPoolData(datumOf(output)) ?? assert.fail();
  const curve = { aNum, bNum, supply: 1_000_000_000n };
  const sold = curve.supply - (output.value.assets.get(token) ?? 0n);
  assert.equal(outputAmount, String(buyTokens(curve, sold, 7_920_000n)));
  assert.notEqual(outputAmount, String(buyTokens(MAINNET.curve, sold, 7_920_000n)));
  assert.deepEqual([inputAmount, told.percentFee, venue], ['8000000', '80000', 'CURVE']);
  assert.equal(expiresAt, 5 + 1_200_000);
  // 15 of 11,000 ADA: both without the three that keep the output alive.
  assert.equal(curveProgress(poolRecord(world, token)), '0.13');
});

test('after graduation a quote goes by the pool of Splash, and names its fees', async (t) => {
  const [last, left] = [LAST_TRADE, GRADUATION].map((hex) => decodeTransaction(fromHex(hex)));
  assert.ok(last && left);
  const pool = last.outputs[1] ?? assert.fail();
  const { token } = readPoolData(datumOf(pool)) ?? assert.fail();
  const world = await followed(t, last, left);
  assert.notEqual(poolRecord(world, token).graduatedMs, null);
  const answer = await quoteOf(world, left.outputs, token);
  assert.ok(!(answer instanceof Failure) && answer !== null && 'body' in answer);
  const told = JSON.parse(String(answer.body));
  const { x, y } = poolRecord(world, token).reserves;
  const fees = { feeNum: 99_100n, treasuryFee: 50n, royaltyFee: 50n };
  const out = splashOut(8_000_000n, BigInt(x), BigInt(y), fees);
  assert.deepEqual([told.outputAmount, told.venue, told.expiresAt], [String(out), 'AMM', 0]);
  assert.deepEqual(told.fees, {
    ...{ percentFee: '0', platform: '4000', creator: '4000' },
    ...{ executorFee: '2000000', deposit: '1500000' },
  });
  const { splashOrder: _, ...less } = MAINNET;
  const refused = await quoteOf(world, left.outputs, token, less);
  assert.ok(refused instanceof Failure);
  assert.equal(refused.cause, 'PROTOCOL_CONFIG');
  assert.match(refused.message, /pool of Splash.*lacks splashOrder/);
  const unknown = await quoteOf(world, left.outputs, `${'ab'.repeat(28)}.00`);
  assert.ok(unknown instanceof Failure && unknown.cause === 'ASSET_NOT_FOUND');
  const full = await quoteOf(await followed(t, last), [pool], token);
  assert.ok(full instanceof Failure && full.cause === 'MAX_TRADE_AMOUNT', 'about to graduate');
});

test('an order after graduation is built as quoted, and read as one of Splash', async (t) => {
  const [last, left] = [LAST_TRADE, GRADUATION].map((hex) => decodeTransaction(fromHex(hex)));
  assert.ok(last && left);
  const { token } = readPoolData(datumOf(last.outputs[1] ?? assert.fail())) ?? assert.fail();
  const world = await followed(t, last, left);
  const changeAddress = formatAddress({ ...ALICE.address, network: 'mainnet' });
  const held = utxo({ address: changeAddress, value: coins(100_000_000n) });
  const txContext = contextOf(world, left.outputs, MAINNET, [held]);
  const [route = assert.fail()] = orderRoutes(txContext);
  const terms = { assetId: token, amount: '8000000', side: 'BUY', slippage: '15' };
  const cannot = new Failure('PROTOCOL_CONFIG', 'the node reports protocol version 12');
  const [closed = assert.fail()] = orderRoutes({ ...txContext, cannotRunScripts: () => cannot });
  assert.equal(await askRoute(closed, {}, { ...terms, changeAddress }), cannot);
  const answer = await askRoute(route, {}, { ...terms, changeAddress });
  assert.ok(!(answer instanceof Failure) && 'body' in answer, JSON.stringify(answer));
  const told = JSON.parse(String(answer.body));
  const quoted = await quoteOf(world, left.outputs, token);
  assert.ok(!(quoted instanceof Failure) && 'body' in quoted);
  const { outputAmount, expiresAt, fees } = JSON.parse(String(quoted.body));
  assert.deepEqual([told.outputAmount, told.expiresAt, told.fees], [outputAmount, expiresAt, fees]);
  const placing = decodeTransaction(fromHex(told.cbor));
  const events = recogniseBlock(200, [placing], knownState(world.fold.store), rules);
  const { order } = eventOf(events, 'placed');
  assert.deepEqual(
    [order.ref, order.beacon, order.amount, order.pkh, order.inParts],
    [told.entityId, told.beacon, '8000000', ALICE.key.hash, true],
  );
});

test('a graduated token whose pool is not known is no unknown token', async (t) => {
  const [last, left] = [LAST_TRADE, GRADUATION].map((hex) => decodeTransaction(fromHex(hex)));
  assert.ok(last && left);
  const { token } = readPoolData(datumOf(last.outputs[1] ?? assert.fail())) ?? assert.fail();
  // The transaction mints no token of the new pool, so the new output is not a pool that this node
  // can follow.
  const world = await followed(t, last, { ...left, mint: new Map() });
  const answer = await quoteOf(world, left.outputs, token);
  assert.ok(answer instanceof Failure);
  assert.equal(answer.cause, 'PROTOCOL_CONFIG');
  assert.match(answer.message, /has left the curve for an AMM that this node cannot read/);
});

test('tokens are locked where the script lies that opens the lock, and nowhere else', async (t) => {
  const { output: pool, token } = riddle();
  const world = await followed(t, { ...transaction({ outputs: [] }), outputs: [pool] });
  const address = formatAddress({ ...ALICE.address, network: 'mainnet' });
  const held = utxo({ address, value: asValue(100_000_000n, [[token, 9n]]) });
  const lock = async (deployment: PartialDeployment, on: readonly Utxo[] = []) => {
    const txContext = contextOf(world, [], deployment, [held]);
    const byRefs: UtxoLookup['byRefs'] = async () =>
      on.map((script) => ({ state: 'unspent', utxo: script }));
    const there = { ...txContext, utxos: { ...txContext.utxos, byRefs } };
    const route = vestingBuildRoutes(there).find(({ path }) => path === '/create-lock');
    const body = { address, assetId: token, amount: '9', lockEnd: 6_000_000, stagesCount: 1 };
    return askRoute(route ?? assert.fail(), {}, body);
  };
  const { vesting } = MAINNET.scripts;
  assert.ok(vesting?.ref);
  const nowhere = { ...vesting, ref: null };
  const scripts = { ...MAINNET.scripts, vesting: nowhere };
  const unknown = await lock({ ...MAINNET, scripts });
  assert.ok(unknown instanceof Failure && unknown.cause === 'PROTOCOL_CONFIG');
  assert.match(unknown.message, /where the vesting script lies on mainnet is not known/);
  const gone = await lock(MAINNET);
  assert.ok(gone instanceof Failure && gone.cause === 'SERVER_ERROR');
  assert.match(gone.message, /are not on the chain: 27cd7f14/);
  const script = dataText('mainnet/script-vesting.hex').trim();
  const bytes = encodeOutput({ address, value: coins(10_000_000n), script });
  const holds = { ref: vesting.ref, output: decodeOutput(bytes) };
  const answer = await lock(MAINNET, [holds]);
  assert.ok(!(answer instanceof Failure) && 'body' in answer, JSON.stringify(answer));
  const [output] = decodeTransaction(fromHex(JSON.parse(String(answer.body)).cbor)).outputs;
  assert.equal(parseAddress(output?.address ?? '')?.payment.hash, vesting.hash);
  assert.deepEqual(output?.value, asValue(2_000_000n, [[token, 9n]]));
});

test('on a deployment of an earlier version no order is built that none would fill', async (t) => {
  const { output, token } = riddle();
  const world = await followed(t, { ...transaction({ outputs: [] }), outputs: [output] });
  const { executors: _, ...own } = MAINNET;
  const refusal = async (deployment: PartialDeployment) => {
    const quoted = await quoteOf(world, [output], token, deployment);
    const [route = assert.fail()] = orderRoutes(contextOf(world, [output], deployment));
    const changeAddress = formatAddress({ ...ALICE.address, network: 'mainnet' });
    const terms = { assetId: token, amount: '8000000', side: 'BUY', slippage: '15' };
    const ordered = await askRoute(route, {}, { ...terms, changeAddress });
    assert.ok(ordered instanceof Failure && quoted instanceof Failure);
    assert.deepEqual([ordered.cause, ordered.message], [quoted.cause, quoted.message]);
    assert.equal(quoted.cause, 'PROTOCOL_CONFIG');
    return quoted.message;
  };
  assert.match(await refusal(own), /lacks orderLayout and settings\): deploy again/);
  assert.match(await refusal({ ...own, orderLayout: '02' }), /lacks settings\): deploy again/);
});
