/** Quotes on mainnet: by the pool's own curve, and what is said once a pool has left it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { quoteRoutes } from '../../../src/api/builder/quote.ts';
import type { TxBuildContext } from '../../../src/api/building/txBuildContext.ts';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import { datumOf, decodeOutput, type Output } from '../../../src/cardano/codec/output.ts';
import { decodePlutusData } from '../../../src/cardano/codec/plutusData.ts';
import { decodeTransaction, type Transaction } from '../../../src/cardano/codec/transaction.ts';
import { asValue } from '../../../src/cardano/codec/value.ts';
import { readPoolData } from '../../../src/cardano/datums/datums.ts';
import type { UtxoLookup } from '../../../src/cardano/ledger/port.ts';
import { recogniseBlock } from '../../../src/chain/recognise/block.ts';
import { foldMarket } from '../../../src/chain/recognise/knownMarket.ts';
import { rulesOf } from '../../../src/chain/recognise/rules.ts';
import { buyTokens } from '../../../src/engine/market/curve.ts';
import { curveProgress } from '../../../src/engine/market/poolView.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { type PoolRecord, readRecord } from '../../../src/engine/store/records.ts';
import { readDeployment } from '../../../src/server/settings/deployments.ts';
import { appendBlock } from '../../chain/foldChain.ts';
import { hashOf, START_MS } from '../../chain/foldState.ts';
import { GRADUATION, HAT_POOL, LAST_TRADE, RIDDLE_DATUM } from '../../chain/mainnetSamples.ts';
import { transaction } from '../../chain/recogniseWorld.ts';
import { askRoute } from '../../support/askRoute.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';

const { partial: partialDeployment } = readDeployment('mainnet');
assert.ok(partialDeployment);
const rules = rulesOf(partialDeployment);

/** The market after these blocks of one transaction each. */
async function followed(t: TestContext, ...blocks: readonly Transaction[]): Promise<FoldWorld> {
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  for (const [index, tx] of blocks.entries()) {
    const [slot, height] = [100 + index, 1 + index];
    const events = recogniseBlock(slot, [tx], foldMarket(world.fold.store), rules);
    const atMs = START_MS + height * 20_000;
    await appendBlock(world, { slot, hash: hashOf(`block ${height}`), height, atMs, events });
  }
  assert.deepEqual(world.said.foldFailures, []);
  return world;
}

/** What `/quote` answers where these outputs are unspent. */
async function quoteOf(world: FoldWorld, unspent: readonly Output[], assetId: string) {
  const withAsset = (asset: string) =>
    unspent
      .filter(({ value }) => value.assets.has(asset))
      .map((output, index) => ({ ref: { txHash: 'ab'.repeat(32), index }, output }));
  const utxos: UtxoLookup = {
    byPaymentKey: async () => [],
    byRefs: async (refs) => refs.map(() => ({ state: 'unknown' })),
    byAsset: async (asset) => withAsset(asset),
    newestOf: async (_, asset) => withAsset(asset)[0] ?? null,
  };
  const store = () => world.fold.store;
  // trust: a quote asks a txContext for no more
  const txContext = {
    partialDeployment,
    utxos,
    store,
    clock: { nowMs: () => 5 },
    slots: { zeroTimeMs: 0, zeroSlot: 0, slotLengthMs: 1000 },
  } as unknown as TxBuildContext;
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
  assert.notEqual(
    outputAmount,
    String(buyTokens(partialDeployment?.curve ?? curve, sold, 7_920_000n)),
  );
  assert.deepEqual([inputAmount, told.percentFee, venue], ['8000000', '80000', 'CURVE']);
  assert.equal(expiresAt, 5 + 1_200_000);
  // 15 of 11,000 ADA: both without the three that keep the output alive.
  assert.equal(curveProgress(poolRecord(world, token)), '0.13');
});

test('a pool that has left for an AMM that is not followed is not an unknown token', async (t) => {
  const [last, left] = [LAST_TRADE, GRADUATION].map((hex) => decodeTransaction(fromHex(hex)));
  assert.ok(last && left);
  const pool = last.outputs[1] ?? assert.fail();
  const { token } = readPoolData(datumOf(pool)) ?? assert.fail();
  const world = await followed(t, last, left);
  assert.notEqual(poolRecord(world, token).graduatedMs, null);
  const answer = await quoteOf(world, left.outputs, token);
  assert.ok(answer instanceof Failure);
  assert.equal(answer.cause, 'PROTOCOL_CONFIG');
  assert.match(answer.message, /has left the curve for an AMM that this node cannot read/);
  const unknown = await quoteOf(world, left.outputs, `${'ab'.repeat(28)}.00`);
  assert.ok(unknown instanceof Failure && unknown.cause === 'ASSET_NOT_FOUND');
  const full = await quoteOf(await followed(t, last), [pool], token);
  assert.ok(full instanceof Failure && full.cause === 'MAX_TRADE_AMOUNT', 'about to graduate');
});
