/**
 * A node's JSON of a transaction and the transaction's bytes decode to the same value.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { blake2b224 } from '../../../src/cardano/codec/hash.ts';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import { parseJson } from '../../../src/cardano/codec/json.ts';
import { decodeTransaction, type Transaction } from '../../../src/cardano/codec/transaction.ts';
import { coins } from '../../../src/cardano/codec/value.ts';
import {
  deserializeTransaction,
  serializeTransaction,
} from '../../../src/chain/ogmios/messages.ts';
import { readOutput, readTransaction } from '../../../src/chain/ogmios/transactionJson.ts';
import { servedTransaction } from '../../../src/devnet/ogmios/transactionJson.ts';
import { isFault } from '../../../src/engine/runtime/assert.ts';
import { ADA, aliceText, failing, launchOf, orderOf, someRef } from '../recogniseWorld.ts';
import { anyTransaction } from './anyTransaction.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000);

/** In what today's nodes write nothing is unknown. */
function refusePassing(part: string): void {
  assert.fail(`passed over: ${part}`);
}

function told(tx: Transaction, includeCbor = false): Transaction {
  const { text } = servedTransaction(tx, { includeCbor });
  const read = readTransaction(parseJson(text), 'it', refusePassing);
  return deserializeTransaction(structuredClone(serializeTransaction(read)));
}

test('any transaction is read as it was told, without loss, and crosses threads', (t) => {
  t.diagnostic(`seed ${SEED}; again: SEED=${SEED} node --test ${import.meta.filename}`);
  fc.assert(
    fc.property(anyTransaction, (tx) => assert.deepEqual(told(tx), tx)),
    { seed: SEED, numRuns: 300 },
  );
});

test('what the JSON says and what the bytes say is the same', () => {
  const launch = launchOf('Token');
  const collateral = { address: aliceText, value: coins(3n * ADA) };
  const failed = failing([someRef()], collateral, [collateral, collateral]);
  for (const made of [launch.tx, orderOf(launch.token, 'sell').tx, failed]) {
    const tx = decodeTransaction(new Uint8Array(made.bytes));
    const none = new Uint8Array(0);
    const json = told(tx);
    assert.deepEqual(json, { ...tx, bytes: none, body: none, witnessSet: none });
    assert.deepEqual(told(tx, true), tx);
  }
});

test('bytes of another transaction are refused', () => {
  const [one, other] = [orderOf('.', 'buy').tx, orderOf('.', 'buy').tx];
  const text = servedTransaction(one, { includeCbor: true }).text.replaceAll(one.id, other.id);
  assert.throws(() => readTransaction(parseJson(text), 'it', refusePassing), /cbor is that of/);
});

test('a bound that never comes is none; an unreadable datum stops nothing', () => {
  const { text } = servedTransaction(orderOf('.', 'buy').tx);
  const changed = text
    .replace('"outputs"', '"validityInterval":{"invalidAfter":18446744073709551615},"outputs"')
    .replace(
      '"signatories"',
      '"redeemers":[{"redeemer":"d9ffff80","executionUnits":{"memory":1,"cpu":1},' +
        '"validator":{"purpose":"spend","index":0}}],"signatories"',
    );
  const tx = readTransaction(parseJson(changed), 'it', refusePassing);
  assert.equal(tx.validToSlot, null);
  assert.deepEqual(tx.redeemers[0]?.data, []);
});

test('native scripts are hashed over what their clauses mean', () => {
  const from = 'e7eabf0367fe570e5723079b06c3a6623b205909162058103e5a74e3';
  const json = { clause: 'signature', from };
  const value = { ada: { lovelace: 1_000_000 } };
  const told = { address: aliceText, value, script: { language: 'native', json } };
  const { scriptHash } = readOutput(told, 'it', refusePassing);
  assert.equal(scriptHash, blake2b224(fromHex(`008200581c${from}`)));
});

test('numbers beyond 2^53 keep all digits, wherever they stand', () => {
  const text = '{"a":[9007199254740993,-18446744073709551615],"b":"x:[9007199254740993","c":1}';
  assert.deepEqual(parseJson(text), {
    a: ['9007199254740993', '-18446744073709551615'],
    b: 'x:[9007199254740993',
    c: 1,
  });
});

test('an invalid transaction is reported with its location', () => {
  const { text } = servedTransaction(launchOf('Token').tx);
  const whole = parseJson(text) as Record<string, unknown>;
  for (const [name, value] of [
    ['id', 'abc'],
    ['inputs', [{ transaction: { id: 7 }, index: 0 }]],
    ['outputs', [{ address: '?', value: {} }]],
    ['mint', { ['ab'.repeat(28)]: { '00': 1.5 } }],
  ] as const) {
    assert.throws(
      () => readTransaction({ ...whole, [name]: value }, 'transaction', refusePassing),
      (error) => isFault(error, 'unreadableMessage') && error.message.includes(name),
    );
  }
  assert.throws(() => parseJson('{"jsonrpc":'), { kind: 'unreadableMessage' });
});
