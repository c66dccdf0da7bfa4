/**
 * A transaction that fails in phase 2 loses its collateral. `is_valid` is no part of the body, so
 * the caller of a transaction with our signature can set it to false: the ledger refuses it while
 * the scripts succeed. No action of a caller puts the executor's collateral at risk.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { elementsOf, readCbor } from '../../src/cardano/codec/cbor.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import { type OutputRef, refText } from '../../src/cardano/codec/output.ts';
import { decodeTransaction } from '../../src/cardano/codec/transaction.ts';
import { callersCollateralAddress } from '../../src/cardano/datums/deployment.ts';
import type { Submitter } from '../../src/cardano/ledger/port.ts';
import { mergeWitnesses } from '../../src/cardano/transactions/witness.ts';
import type { PreparedTx } from '../../src/client/trade/tradingClient.ts';
import { executorOver, stopOwn } from '../chain/executor/poolExecutorWorld.ts';
import { until } from '../support/until.ts';
import { ADA, DevnetWorld, launchOf } from './devnet/world.ts';

const TRUE = 0xf5;
const FALSE = 0xf4;
const REFUND_AFTER_MS = 60_000;

const ends: (() => void | Promise<void>)[] = [];
after(async () => {
  for (const end of ends.toReversed()) await end();
});
const world = await DevnetWorld.start(
  { after: (end) => void ends.push(end) },
  { env: { ORDER_REFUND_AFTER_MS: String(REFUND_AFTER_MS) } },
);
await stopOwn(world);
const { deployment } = world.kit.txContext;
const { collateralKeyHash, addressNetwork } = deployment;
const callersAddress = callersCollateralAddress(collateralKeyHash, addressNetwork);
const alice = await world.funded('alice', 9_999, 4);

/** The same transaction, which says that a script of it fails. */
function flipped(transaction: Uint8Array): Uint8Array {
  const [, , isValid] = elementsOf(readCbor(transaction));
  assert.ok(isValid !== undefined && transaction[isValid.start] === TRUE);
  const bytes = Uint8Array.from(transaction);
  bytes[isValid.start] = FALSE;
  assert.equal(decodeTransaction(bytes).isValid, false);
  assert.equal(decodeTransaction(bytes).id, decodeTransaction(transaction).id);
  return bytes;
}

async function refuses(transaction: Uint8Array): Promise<void> {
  const outcome = await world.chain.submit(flipped(transaction));
  assert.equal(outcome.outcome, 'refused');
  assert.equal(
    outcome.outcome === 'refused' && outcome.reason,
    'SCRIPT_FAILED',
    JSON.stringify(outcome),
  );
}

async function addressOf(ref: OutputRef): Promise<string> {
  const [state] = await world.chain.byRefs([ref]);
  assert.ok(state?.state === 'unspent', refText(ref));
  return state.utxo.output.address;
}

/** With the caller's signature and ours. */
async function signed(prepared: PreparedTx<{ readonly cbor: string }>): Promise<Uint8Array> {
  const { cbor } = prepared.built;
  const bytes = mergeWitnesses(fromHex(cbor), await alice.wallet.sign(cbor));
  assert.ok(bytes instanceof Uint8Array);
  return bytes;
}

/** Its flag cannot be used against us, and it is accepted as it is. */
async function judged(prepared: PreparedTx<{ readonly cbor: string }>): Promise<void> {
  const bytes = await signed(prepared);
  const { collateralInputs, collateralReturn } = decodeTransaction(bytes);
  for (const ref of collateralInputs) assert.equal(await addressOf(ref), callersAddress);
  assert.equal(collateralInputs.length, 1);
  assert.equal(collateralReturn?.address, callersAddress);
  await refuses(bytes);
  await prepared.submit();
  await world.mine();
  for (const ref of collateralInputs) assert.equal(await addressOf(ref), callersAddress);
}

test('no transaction of a caller that we sign can be turned against our collateral', async (t) => {
  const launches = { Plain: {}, Bought: { initialLovelace: 500n * ADA } };
  for (const [name, more] of Object.entries(launches)) {
    await t.test(`a launch: ${name}`, async () => {
      await judged(await alice.prepareLaunch(launchOf({ name, ...more })));
    });
  }
  const { asset } = await world.launch(alice, { name: 'Held', initialLovelace: 100n * ADA });
  await t.test('a cancel of a buy and of a sale', async () => {
    const terms = { assetId: asset, slippage: '50' } as const;
    const buy = await alice.order({ ...terms, side: 'BUY', amount: 5n * ADA });
    const sale = await alice.order({ ...terms, side: 'SELL', amount: 1_000_000n });
    await world.mine();
    for (const { id } of [buy, sale]) await judged(await alice.prepareCancel(id));
  });
  await t.test('a withdrawal', async () => {
    const lockEndMs = world.nowMs + 20_000;
    const { txHash } = await alice.lock({ assetId: asset, stages: 1, lockEndMs, amount: 1_000n });
    await world.mine();
    while (world.nowMs < lockEndMs) await world.mine(10);
    await judged(await alice.prepareWithdraw(`${txHash}:0`));
  });
});

test('no transaction of the executor either, and it has collateral of its own', async (t) => {
  const { asset } = await world.launch(alice, { name: 'Grown', initialLovelace: 50n * ADA });
  const tried: string[] = [];
  const submitter: Submitter = {
    async submit(bytes) {
      const { collateralInputs, collateralReturn } = decodeTransaction(bytes);
      for (const ref of collateralInputs) assert.notEqual(await addressOf(ref), callersAddress);
      assert.notEqual(collateralReturn?.address, callersAddress);
      await refuses(bytes);
      tried.push(decodeTransaction(bytes).id);
      return world.chain.submit(bytes);
    },
  };
  const { heard } = executorOver(t, world, { submitter });
  const buy = { assetId: asset, side: 'BUY', amount: 5n * ADA, slippage: 'infinity' } as const;
  const { reserves, thresholdLovelace } = world.pool(asset);
  const missing = BigInt(thresholdLovelace) - BigInt(reserves.x);
  await alice.order({ ...buy, amount: (missing * 100n) / 99n + 2n });
  await world.mine();
  await until('it graduates', () => heard.kinds.includes('graduate'));
  await world.mine();
  const waiting = { minOutput: 1_000_000n, waitFor: 600 };
  const late = await alice.order({ ...buy, ...waiting });
  await alice.order({ ...buy, amount: 600n * ADA });
  await world.mine();
  await until('it pays the creator', () => heard.kinds.includes('collect'));
  await world.mine();
  while (world.nowMs < world.order(late.id).refundAfterMs) await world.mine(100);
  await world.spent(late.id);
  assert.equal(world.order(late.id).state, 'refunded');
  assert.deepEqual(tried, heard.submitted);
  assert.deepEqual([heard.failed, heard.rejected], [[], []]);
});
