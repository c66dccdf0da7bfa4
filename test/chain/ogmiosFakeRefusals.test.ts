/** Every reason of the devnet's ledger in the words of a node: by the schema, and read back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeOutput, encodeRefs, uint } from '../../src/cardano/codec/encode.ts';
import { decodeTransaction } from '../../src/cardano/codec/transaction.ts';
import { coins } from '../../src/cardano/codec/value.ts';
import { REFUSALS, type RefusalReason } from '../../src/cardano/ledger/port.ts';
import { refusalOf } from '../../src/chain/ogmios/fault.ts';
import { jsonText } from '../../src/devnet/ogmios/json.ts';
import { type RefusalContext, refusalError } from '../../src/devnet/ogmios/refusals.ts';
import { addressOf, keyNamed } from '../support/ledgerWorld.ts';
import { schemaCheck } from '../support/ogmios/schema.ts';
import { PARAMETERS } from '../support/parameters.ts';
import { rawTransaction } from '../support/rawTransaction.ts';

const refs = [0, 1].map((index) => ({ txHash: 'ab'.repeat(32), index }));
const output = { address: addressOf('bob'), value: coins(2_000_000n) };
const collateral = { 13: encodeRefs(refs), 17: uint(1_000_000) };

function transactionOf(fields: Readonly<Record<number, Uint8Array>> = {}) {
  const { bytes } = rawTransaction({
    inputs: refs,
    outputs: [output],
    feeLovelace: 170_000n,
    redeemers: [{ tag: 0, index: 0, memory: 2n ** 40n, cpu: 1n }],
    keys: [keyNamed('alice')],
    fields: { 3: uint(900), 8: uint(100), ...fields },
  });
  return decodeTransaction(bytes);
}

const [ref] = refs;
assert.ok(ref);
const cbor = Buffer.from(encodeOutput(output)).toString('hex');
const known = { ref, output: { ...output, datum: null, scriptHash: null, cbor } };

function circumstances(reason: RefusalReason): RefusalContext {
  return {
    spent: [known],
    slot: reason === 'NOT_YET_VALID' ? 99 : 900,
    parameters: PARAMETERS,
  };
}

for (const reason of REFUSALS) {
  test(`${reason} is reported as by a node`, () => {
    const message = reason === 'MEMPOOL_FULL' ? 'the mempool is full' : 'in its own words';
    for (const tx of [transactionOf(), transactionOf(collateral)]) {
      const error = refusalError({ reason, message }, tx, circumstances(reason));
      const text = jsonText({ jsonrpc: '2.0', method: 'submitTransaction', error, id: null });
      assert.equal(schemaCheck()(text), null);
      assert.equal(refusalOf(JSON.parse(text).error).reason, reason);
    }
  });
}

test('nothing known of the inputs is what the mempool itself refuses', () => {
  const spent = { spent: [], slot: 1, parameters: PARAMETERS };
  const error = refusalError({ reason: 'INPUT_SPENT', message: '' }, transactionOf(), spent);
  assert.equal(error.code, 3997);
  assert.equal(refusalOf(JSON.parse(jsonText(error))).reason, 'INPUT_SPENT');
});

test('a transaction that is too long is refused for its length, others for their units', () => {
  const long = { 16: encodeOutput({ ...output, datum: `5a00005000${'00'.repeat(0x5000)}` }) };
  const codeOf = (fields: Readonly<Record<number, Uint8Array>>) => {
    const refused = { reason: 'LIMITS_EXCEEDED', message: '' } as const;
    return refusalError(refused, transactionOf(fields), circumstances('LIMITS_EXCEEDED')).code;
  };
  assert.deepEqual([codeOf(long), codeOf({})], [3119, 3134]);
});
