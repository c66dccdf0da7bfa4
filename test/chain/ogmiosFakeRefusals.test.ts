/** Refusals that no rule of the ledger explains, in the words of a node: by the schema. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeTransaction } from '../../src/cardano/codec/transaction.ts';
import { coins } from '../../src/cardano/codec/value.ts';
import { refusalOf } from '../../src/chain/ogmios/fault.ts';
import { refusalError } from '../../src/devnet/ogmios/refusals.ts';
import { jsonText } from '../../src/engine/runtime/exactJson.ts';
import { addressOf, keyNamed } from '../support/ledgerWorld.ts';
import { schemaCheck } from '../support/ogmios/schema.ts';
import { PARAMETERS } from '../support/parameters.ts';
import { rawTransaction } from '../support/rawTransaction.ts';

const transaction = decodeTransaction(
  rawTransaction({
    inputs: [{ txHash: 'ab'.repeat(32), index: 0 }],
    outputs: [{ address: addressOf('bob'), value: coins(2_000_000n) }],
    feeLovelace: 170_000n,
    keys: [keyNamed('alice')],
  }).bytes,
);
const context = { output: () => null, slot: 1, parameters: PARAMETERS };

for (const reason of ['MALFORMED', 'MEMPOOL_FULL', 'SCRIPT_FAILED', 'INPUT_SPENT'] as const) {
  test(`${reason} is reported as by a node`, () => {
    const message = reason === 'MEMPOOL_FULL' ? 'the mempool is full' : 'in its own words';
    const error = refusalError({ reason, message }, transaction, context);
    const text = jsonText({ jsonrpc: '2.0', method: 'submitTransaction', error, id: null });
    assert.equal(schemaCheck()(text), null);
    assert.equal(refusalOf(JSON.parse(text).error).reason, reason);
  });
}

test('nothing known of the inputs is what the mempool itself refuses', () => {
  const error = refusalError({ reason: 'INPUT_SPENT', message: '' }, transaction, context);
  assert.equal(error.code, 3997);
});
