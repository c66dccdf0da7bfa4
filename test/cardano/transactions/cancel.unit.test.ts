import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptAddress } from '../../../src/cardano/codec/address.ts';
import { encodeOutput } from '../../../src/cardano/codec/encode.ts';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import { datumOf, decodeOutput, type Utxo } from '../../../src/cardano/codec/output.ts';
import { Constr, type PlutusData } from '../../../src/cardano/codec/plutusData.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { addValues, asValue, coins } from '../../../src/cardano/codec/value.ts';
import {
  addressData,
  assetData,
  orderData,
  readOrderData,
} from '../../../src/cardano/datums/datums.ts';
import { heldOrder, planCancel, planOrder } from '../../../src/cardano/transactions/order.ts';
import { dataHex, type TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import { signCollateral } from '../../../src/cardano/transactions/signing.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { accepted } from './verdict.ts';
import {
  ADA,
  ALICE,
  ada,
  BOB,
  built,
  COLLATERAL,
  COLLATERAL_OWNER,
  DEPLOYMENT,
  GENESIS_OUTPUTS,
  NOW_MS,
  orderOf,
  outcomeOf,
  REFERENCES,
  RULES,
  refused,
  SLOTS,
  signedBy,
  TOKEN,
  utxo,
} from './world.ts';

const data = { wallet: [], references: [REFERENCES.order], collateral: COLLATERAL, slots: SLOTS };

function placed(kind: 'buy' | 'sell' = 'buy'): Utxo {
  const { plan } = planOrder(DEPLOYMENT, orderOf(ALICE, kind, 5n * ADA), [], NOW_MS);
  return utxo(plan.outputs[0] ?? assert.fail());
}

function cancelling(order: Utxo, wallet: readonly Utxo[] = []): TransactionPlan {
  const request = { order, changeAddress: ALICE.address };
  const plan = planCancel(DEPLOYMENT, request, { ...data, wallet }, NOW_MS);
  assert.ok(!(plan instanceof Failure));
  return plan;
}

test('an order pays its own cancellation, and the rest goes to the owner', () => {
  for (const kind of ['buy', 'sell'] as const) {
    const order = placed(kind);
    const plan = cancelling(order);
    const transaction = built(plan);
    const { outputs } = decodeTransaction(accepted(transaction, plan, [ALICE, COLLATERAL_OWNER]));
    const [back = assert.fail(), ...more] = outputs;
    assert.equal(more.length, 0);
    assert.deepEqual(addValues(back.value, coins(transaction.feeLovelace)), order.output.value);
  }
});

test('an order that carries a script of anybody is cancelled, and pays for its bytes', () => {
  const { address, value, datum } = placed().output;
  assert.ok(datum !== null);
  const { script = assert.fail() } = GENESIS_OUTPUTS.find((output) => output.script) ?? {};
  const more = { lovelace: value.lovelace + 20n * ADA, assets: value.assets };
  const bytes = encodeOutput({ address, value: more, datum, script });
  const order: Utxo = { ...placed(), output: decodeOutput(bytes) };
  assert.ok(order.output.scriptHash !== null);
  const plain = built(cancelling(placed()));
  const plan = cancelling(order);
  const transaction = built(plan);
  accepted(transaction, plan, [ALICE, COLLATERAL_OWNER]);
  const code = BigInt(fromHex(script).length);
  const difference = transaction.feeLovelace - plain.feeLovelace;
  assert.ok(difference > 15n * (code - 10n), `${difference} lovelace for ${code} bytes`);
});

test('an order whose numbers are too large to be listed is cancelled', () => {
  const order = placed();
  const datum = readOrderData(datumOf(order.output), 'testnet') ?? assert.fail();
  const endless = 1n << 44_800n;
  for (const change of [
    { worstPrice: { numerator: endless, denominator: endless + 1n } },
    { worstPrice: { numerator: -1n, denominator: 0n } },
    { refundAfterMs: endless },
    { feeLovelace: endless, depositLovelace: -endless },
  ]) {
    const data = orderData({ ...datum, ...change });
    const { address } = order.output;
    const bytes = encodeOutput({ address, value: coins(100n * ADA), datum: dataHex(data) });
    const plan = cancelling({ ...order, output: decodeOutput(bytes) });
    const [back] = decodeTransaction(
      accepted(built(plan), plan, [ALICE, COLLATERAL_OWNER]),
    ).outputs;
    assert.ok((back?.value.lovelace ?? 0n) > 98n * ADA);
  }
});

test('the server signs for its collateral, the owner for the rest', () => {
  const plan = cancelling(placed(), [ada(ALICE, 10n * ADA)]);
  const transaction = built(plan);
  const partial = signCollateral(transaction, RULES);
  assert.ok(partial instanceof Uint8Array);
  const utxos = [...transaction.inputs, ...transaction.collateral, ...plan.references];
  assert.match(refused(partial, utxos) ?? '', /Missing key hashes/);
  assert.equal(refused(signedBy(partial, [ALICE]), utxos), null);
});

test('with the signature of another the script refuses', () => {
  const order = placed();
  const outcome = outcomeOf({ ...cancelling(order), signers: [BOB.key.hash] });
  assert.ok(outcome.outcome === 'refused');
  assert.equal(outcome.reason, 'SCRIPT_FAILED');
});

test('the callers own collateral is returned to the caller', () => {
  const own = ada(ALICE, 7n * ADA);
  const collateral = { utxos: [own], returnAddress: ALICE.text };
  const request = { order: placed(), changeAddress: ALICE.address };
  const plan = planCancel(DEPLOYMENT, request, { ...data, collateral }, NOW_MS);
  assert.ok(!(plan instanceof Failure));
  const transaction = built(plan);
  accepted(transaction, plan, [ALICE]);
  assert.ok(signCollateral(transaction, RULES) instanceof Failure);
});

test('of more collateral than the ledger takes the best is used', () => {
  const held = [3n, 6n, 4n, 5n].map((amount) => ada(ALICE, amount * ADA));
  const collateral = { utxos: held, returnAddress: ALICE.text };
  const plan = { ...cancelling(placed()), collateral };
  const transaction = built(plan);
  assert.deepEqual(transaction.collateral, [held[1], held[3], held[2]]);
  accepted(transaction, plan, [ALICE]);
});

test('collateral that is too small is reported', () => {
  const plan = cancelling(placed());
  const held = utxo({
    address: ALICE.text,
    value: { lovelace: 1_200_000n, assets: new Map([[TOKEN, 1n]]) },
  });
  const outcome = outcomeOf({ ...plan, collateral: { utxos: [held], returnAddress: ALICE.text } });
  assert.ok(outcome.outcome === 'refused');
  assert.equal(outcome.reason, 'COLLATERAL');
});

test('what is no order of ours is not cancelled', () => {
  const elsewhere = utxo({ ...placed().output, address: ALICE.text });
  const bare = utxo({ ...placed().output, datum: null });
  for (const order of [elsewhere, bare]) {
    const outcome = planCancel(DEPLOYMENT, { order, changeAddress: ALICE.address }, data, NOW_MS);
    assert.ok(outcome instanceof Failure);
    assert.match(outcome.message, /is no order/);
  }
});

test('on mainnet the order returns whole, once its time has passed', () => {
  const mainnet = { ...DEPLOYMENT, network: 'mainnet' } as const;
  const order = placed();
  const request = { order, changeAddress: ALICE.address };
  const wallet = [ada(ALICE, 10n * ADA)];
  const early = planCancel(mainnet, request, { ...data, wallet }, NOW_MS);
  assert.ok(early instanceof Failure);
  assert.match(early.message, /from 2025-10-09T09:15:00\.500Z on/);
  const plan = planCancel(mainnet, request, { ...data, wallet }, NOW_MS + 1_201_000);
  assert.ok(!(plan instanceof Failure));
  const bytes = accepted(built(plan), plan, [ALICE, COLLATERAL_OWNER], 1301);
  const { outputs, validFromSlot } = decodeTransaction(bytes);
  assert.equal(validFromSlot, 1301);
  assert.deepEqual(outputs[0]?.value, order.output.value);
  assert.equal(outputs[0]?.address, ALICE.text);
});

test('an order whose time is no date is never ripe on mainnet', () => {
  const mainnet = { ...DEPLOYMENT, network: 'mainnet' } as const;
  const { output } = placed();
  const datum = readOrderData(datumOf(output), 'testnet') ?? assert.fail();
  const forever = dataHex(orderData({ ...datum, refundAfterMs: 10n ** 18n }));
  const request = { order: utxo({ ...output, datum: forever }), changeAddress: ALICE.address };
  const outcome = planCancel(mainnet, request, data, NOW_MS);
  assert.ok(outcome instanceof Failure);
  assert.match(outcome.message, /1000000000000000000 ms/);
});

test('an order of an earlier validator returns whole by its own script', () => {
  const limit = { hash: '46'.repeat(28), ref: { txHash: 'ab'.repeat(32), index: 0 } };
  const first = { hash: '9e'.repeat(28), ref: { txHash: 'ab'.repeat(32), index: 1 } };
  const scripts = { ...DEPLOYMENT.scripts, limitOrder: limit, firstInstantOrder: first };
  const mainnet = { ...DEPLOYMENT, network: 'mainnet', scripts } as const;
  const { redeemer } = readOrderData(datumOf(placed().output), 'testnet') ?? assert.fail();
  const [to, owner, beacon] = [addressData(redeemer), ALICE.key.hash, '5c'.repeat(28)];
  const [coin, token, price] = [assetData('.'), assetData(TOKEN), new Constr(0, [1n, 9n])];
  const left = [5n * ADA, 600_000n] as const;
  const datums: Record<string, PlutusData[]> = {
    limitOrder: ['00', beacon, coin, ...left, 1n, token, price, 500_000n, to, owner, []],
    firstInstantOrder: [
      ...['01', to, coin, ...left, token, price, 500_000n, '1e'.repeat(28)],
      ...[BigInt(NOW_MS + 1_000), owner, beacon],
    ],
  };
  for (const name of ['limitOrder', 'firstInstantOrder'] as const) {
    const output = {
      address: scriptAddress('testnet', scripts[name].hash, redeemer.stake),
      value: asValue(7_600_000n, [[TOKEN, 12n]]),
      datum: dataHex(new Constr(0, datums[name] ?? [])),
    };
    const order = utxo(output);
    const held = heldOrder(mainnet, order);
    assert.ok(!(held instanceof Failure));
    assert.deepEqual([held.script, held.owner], [name, owner]);
    const request = { order, changeAddress: ALICE.address };
    const plan = planCancel(mainnet, request, data, NOW_MS + 5_000);
    assert.ok(!(plan instanceof Failure));
    assert.deepEqual(plan.outputs, [{ address: ALICE.text, value: output.value, datum: null }]);
    assert.deepEqual(plan.signers, [owner]);
    const isTimed = name === 'firstInstantOrder';
    assert.equal(plan.validFromSlot != null, isTimed, 'a limit order may go at any time');
    const early = planCancel(mainnet, request, data, NOW_MS - 5_000);
    assert.equal(early instanceof Failure, isTimed);
  }
});
