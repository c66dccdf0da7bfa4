/** Transactions and outputs as CML reads them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CML } from '@lucid-evolution/lucid';
import fc from 'fast-check';
import {
  array,
  byteString,
  encodeAssets,
  encodeOutput,
  encodeRefs,
  map,
  type NewOutput,
  tagged,
  uint,
} from '../../src/cardano/codec/encode.ts';
import { fromHex, toHex } from '../../src/cardano/codec/hex.ts';
import { datumOf, decodeOutput, refText } from '../../src/cardano/codec/output.ts';
import { Constr, encodePlutusData } from '../../src/cardano/codec/plutusData.ts';
import { decodeTransaction, type Transaction } from '../../src/cardano/codec/transaction.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { Key } from '../../src/cardano/keys/keys.ts';
import { isSignedBy } from '../../src/cardano/transactions/witness.ts';
import { isFault } from '../../src/engine/runtime/assert.ts';
import { addressOf, keyNamed, secretOf } from '../support/ledgerWorld.ts';
import { ALWAYS, ALWAYS_HASH, type RawPlan, rawTransaction } from '../support/rawTransaction.ts';

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex);
const refs = fc.uniqueArray(fc.record({ txHash: hash, index: fc.nat(65_535) }), {
  maxLength: 6,
  minLength: 1,
  selector: refText,
});
const policy = fc.uint8Array({ minLength: 28, maxLength: 28 }).map(toHex);
const name = fc.uint8Array({ maxLength: 32 }).map(toHex);
const assets = fc.uniqueArray(
  fc.tuple(
    fc.tuple(policy, name).map(([id, each]) => `${id}.${each}`),
    fc.bigInt({ min: 1n, max: (1n << 63n) - 1n }),
  ),
  { maxLength: 5, selector: ([asset]) => asset },
);
const datum = fc.bigInt().map((each) => toHex(encodePlutusData(new Constr(0, [each, 'ab']))));
const output: fc.Arbitrary<NewOutput> = fc
  .record({
    address: fc.constantFrom('a', 'b').map(addressOf),
    lovelace: fc.bigInt({ min: 0n, max: 1n << 60n }),
    assets,
    datum: fc.option(datum),
    script: fc.option(fc.constant(ALWAYS)),
  })
  .map((each) => ({
    address: each.address,
    value: asValue(each.lovelace, each.assets),
    ...(each.datum === null ? {} : { datum: each.datum }),
    ...(each.script === null ? {} : { script: each.script }),
  }));

const plan: fc.Arbitrary<RawPlan> = fc
  .record({
    inputs: refs,
    outputs: fc.array(output, { maxLength: 4 }),
    feeLovelace: fc.bigInt({ min: 0n, max: 1n << 40n }),
    isValid: fc.boolean(),
    until: fc.option(fc.nat()),
    since: fc.option(fc.nat()),
    mint: assets,
    collateral: refs,
    isTagged: fc.boolean(),
    redeemers: fc.array(
      fc.record({
        tag: fc.nat(1),
        index: fc.nat(20),
        memory: fc.bigInt({ min: 0n, max: 1n << 40n }),
        cpu: fc.bigInt({ min: 0n, max: 1n << 40n }),
      }),
      { maxLength: 3 },
    ),
  })
  .map(({ inputs, until, since, mint, collateral, isTagged, ...rest }) => ({
    ...rest,
    inputs,
    keys: [keyNamed('alice')],
    fields: {
      3: until === null ? null : uint(until),
      8: since === null ? null : uint(since),
      9: mint.length === 0 ? null : encodeAssets(new Map(mint)),
      13: isTagged ? tagged(258, encodeRefs(collateral)) : encodeRefs(collateral),
      14: array([byteString(fromHex(keyNamed('bob').hash))]),
      16: encodeOutput({ address: addressOf('a'), value: asValue(5n, []) }),
      17: uint(7),
      18: encodeRefs([{ txHash: 'ee'.repeat(32), index: 3 }]),
    },
  }));

function inputsOf(list: CML.TransactionInputList | undefined): string[] {
  return Array.from({ length: list?.len() ?? 0 }, (_, at) => {
    const input = list?.get(at);
    return `${input?.transaction_id().to_hex()}:${input?.index()}`;
  });
}

function compare(tx: Transaction, bytes: Uint8Array): void {
  const theirs = CML.Transaction.from_cbor_bytes(bytes);
  const body = theirs.body();
  assert.equal(tx.id, CML.hash_transaction(body).to_hex());
  assert.equal(tx.isValid, theirs.is_valid());
  assert.deepEqual(tx.inputs.map(refText).sort(), inputsOf(body.inputs()).sort());
  assert.deepEqual(tx.collateralInputs.map(refText), inputsOf(body.collateral_inputs()));
  assert.deepEqual(tx.referenceInputs.map(refText), inputsOf(body.reference_inputs()));
  assert.equal(tx.feeLovelace, body.fee());
  assert.equal(tx.totalCollateralLovelace, body.total_collateral());
  assert.equal(tx.validToSlot, body.ttl() === undefined ? null : Number(body.ttl()));
  const since = body.validity_interval_start();
  assert.equal(tx.validFromSlot, since === undefined ? null : Number(since));
  assert.deepEqual(tx.requiredSigners, [body.required_signers()?.get(0).to_hex()]);
  assert.equal(tx.collateralReturn?.cbor, body.collateral_return()?.to_cbor_hex());
  const outputs = body.outputs();
  assert.equal(tx.outputs.length, outputs.len());
  for (const [at, each] of tx.outputs.entries()) {
    const their = outputs.get(at);
    assert.equal(each.cbor, their.to_cbor_hex());
    assert.equal(each.address, their.address().to_bech32());
    assert.equal(each.value.lovelace, their.amount().coin());
    for (const [asset, amount] of each.value.assets) {
      const [policyId = '', assetName = ''] = asset.split('.');
      const id = CML.ScriptHash.from_hex(policyId);
      const held = their.amount().multi_asset();
      assert.equal(held.get(id, CML.AssetName.from_raw_bytes(fromHex(assetName))), amount);
    }
    assert.equal(each.datum, their.datum()?.as_datum()?.to_cbor_hex() ?? null);
    assert.equal(each.scriptHash, their.script_ref()?.hash().to_hex() ?? null);
  }
  const [witness] = tx.keyWitnesses;
  const theirKey = theirs.witness_set().vkeywitnesses()?.get(0);
  assert.equal(witness?.publicKey, toHex(theirKey?.vkey().to_raw_bytes() ?? new Uint8Array(0)));
  assert.ok(witness && isSignedBy(witness.publicKey, fromHex(tx.id), witness.signature));
}

test('reads transactions as CML does', () => {
  fc.assert(
    fc.property(plan, (each) => {
      const { bytes, id } = rawTransaction(each);
      const tx = decodeTransaction(bytes);
      assert.equal(tx.id, id);
      compare(tx, bytes);
      assert.deepEqual([...tx.mint], [...decodeTransaction(bytes).mint]);
      const redeemers = each.redeemers ?? [];
      assert.deepEqual(
        tx.redeemers.map(({ index, memory, cpu, purpose }) => [purpose, index, memory, cpu]),
        redeemers.map(({ tag, index, memory, cpu }) => [
          ['spend', 'mint'][tag],
          index,
          memory,
          cpu,
        ]),
      );
    }),
  );
});

test('reads legacy outputs: an array, with a hash of a datum or without', () => {
  const address = byteString(fromHex(`60${keyNamed('a').hash}`));
  for (const more of [[], [byteString(new Uint8Array(32))]]) {
    const found = decodeOutput(array([address, uint(5), ...more]));
    assert.deepEqual(
      [found.address, found.value, found.datum],
      [addressOf('a'), asValue(5n, []), null],
    );
  }
});

test('reads redeemers in the form of a map', () => {
  const { bytes } = rawTransaction({ feeLovelace: 1n });
  const key = array([uint(1), uint(4)]);
  const content = array([uint(9), array([uint(10), uint(11)])]);
  const witnesses = map([[uint(5), map([[key, content]])]]);
  const body = decodeTransaction(bytes).body;
  const tx = decodeTransaction(array([body, witnesses, Uint8Array.of(0xf5), Uint8Array.of(0xf6)]));
  assert.deepEqual(tx.redeemers, [{ purpose: 'mint', index: 4, data: 9n, memory: 10n, cpu: 11n }]);
});

test('a datum that is no Plutus data is none', () => {
  const plain = { address: addressOf('a'), value: asValue(5n, []) };
  assert.equal(datumOf(decodeOutput(encodeOutput({ ...plain, datum: 'f5' }))), null);
  assert.equal(datumOf(decodeOutput(encodeOutput({ ...plain, datum: '07' }))), 7n);
  assert.equal(datumOf(decodeOutput(encodeOutput(plain))), null);
});

test('knows the hash of a reference script', () => {
  const plain = { address: addressOf('a'), value: asValue(5n, []) };
  assert.equal(decodeOutput(encodeOutput({ ...plain, script: ALWAYS })).scriptHash, ALWAYS_HASH);
});

test('refuses or reads any change of a transaction, without throwing anything else', () => {
  const { bytes } = rawTransaction({
    inputs: [{ txHash: 'ab'.repeat(32), index: 1 }],
    outputs: [{ address: addressOf('a'), value: asValue(5n, [[`${ALWAYS_HASH}.61`, 5n]]) }],
    feeLovelace: 7n,
    redeemers: [{ tag: 1, index: 0, memory: 1n, cpu: 1n }],
    keys: [keyNamed('alice')],
  });
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.nat(255), fc.nat(3), (at, byte, cut) => {
      const changed = Uint8Array.from(bytes);
      changed[at] = byte;
      try {
        decodeTransaction(changed.subarray(0, changed.length - cut));
      } catch (error) {
        assert.ok(isFault(error, 'malformedCbor'), String(error));
      }
    }),
    { numRuns: 5_000 },
  );
});

test('signs as CML does', () => {
  for (const owner of ['alice', 'bob']) {
    const key = new Key(secretOf(owner));
    const theirs = CML.PrivateKey.from_normal_bytes(fromHex(secretOf(owner)));
    assert.equal(key.publicKey, toHex(theirs.to_public().to_raw_bytes()));
    assert.equal(key.hash, theirs.to_public().hash().to_hex());
    const message = Buffer.from('a message');
    assert.equal(toHex(key.sign(message)), theirs.sign(message).to_hex());
    assert.ok(isSignedBy(key.publicKey, message, key.sign(message)));
    assert.ok(!isSignedBy(key.publicKey, Buffer.from('another'), key.sign(message)));
    assert.ok(!isSignedBy('00', message, key.sign(message)));
    assert.ok(!isSignedBy('ff'.repeat(32), message, key.sign(message)), 'no point of the curve');
  }
});
