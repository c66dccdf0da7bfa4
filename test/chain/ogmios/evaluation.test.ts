/** The node's evaluation, asked of a devnet: units, failures, and outputs that only we know. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { encodeAssets } from '../../../src/cardano/codec/encode.ts';
import { scriptHash } from '../../../src/cardano/codec/hash.ts';
import type { Utxo } from '../../../src/cardano/codec/output.ts';
import { asValue, coins } from '../../../src/cardano/codec/value.ts';
import { evaluate } from '../../../src/cardano/ledger/scalus.ts';
import { NodeConnection } from '../../../src/chain/ogmios/connection.ts';
import { NodeFault, NodeRefusal } from '../../../src/chain/ogmios/fault.ts';
import { DEFAULT_LIMITS } from '../../../src/chain/ogmios/messages.ts';
import { evaluateByNode } from '../../../src/chain/ogmios/nodeQueries.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { ADA, minting, pay } from '../../devnet/judged.ts';
import { genesisOutputs, startDevnet } from '../../support/devnetNode.ts';
import { addressOf } from '../../support/ledgerWorld.ts';
import { NEVER, rawTransaction } from '../../support/rawTransaction.ts';

const ALICES = genesisOutputs().filter(({ output }) => output.address === addressOf('alice'));
const here = { mine: ALICES.map(({ ref }) => ref) };
const bytes = rawTransaction(minting(here)).bytes;
const used = ALICES.slice(0, 2);

async function open(t: TestContext) {
  const devnet = await startDevnet(t);
  const deps = { url: devnet.ogmiosUrl, limits: DEFAULT_LIMITS, clock: systemClock };
  const connection = await NodeConnection.open(deps);
  t.after(() => connection.end(new NodeFault('closed', 'the test is over')));
  return { devnet, connection };
}

test('the units are those of the node, at its parameters', async (t) => {
  const { devnet, connection } = await open(t);
  const found = await evaluateByNode(connection, bytes, used);
  const { terms } = devnet.node;
  assert.deepEqual(found, evaluate(bytes, used, terms));
  assert.ok(found.outcome === 'succeeded' && found.budgets.length === 1);
});

test('an output that the node does not have is given to it, with amounts above 2^53', async (t) => {
  const { connection } = await open(t);
  const [first, second] = used;
  assert.ok(first && second);
  const large = 2n ** 60n + 1n;
  const asset = `${'ab'.repeat(28)}.00ff`;
  const value = asValue(first.output.value.lovelace, [[asset, large]]);
  const unknown: Utxo = {
    ref: { txHash: 'ee'.repeat(32), index: 7 },
    output: { ...first.output, value },
  };
  const spending = rawTransaction(minting({ mine: [unknown.ref, second.ref] })).bytes;
  const found = await evaluateByNode(connection, spending, [unknown, second]);
  assert.equal(found.outcome, 'succeeded');
});

test('what the node has otherwise than we know it is left to the node', async (t) => {
  const { connection } = await open(t);
  const other = used.map((utxo) => ({
    ...utxo,
    output: { ...utxo.output, value: coins(7n * ADA) },
  }));
  const found = await evaluateByNode(connection, bytes, other);
  assert.equal(found.outcome, 'succeeded');
});

test('a script that fails is a failed evaluation, a refused question is none', async (t) => {
  const { connection } = await open(t);
  const token = `${scriptHash(NEVER)}.746f6b`;
  const failing = minting(here, {
    scripts: [NEVER],
    outputs: [
      { address: addressOf('bob'), value: asValue(10n * ADA, [[token, 5n]]) },
      pay('alice', 988n * ADA),
    ],
    fields: { 9: encodeAssets(new Map([[token, 5n]])) },
  });
  const found = await evaluateByNode(connection, rawTransaction(failing).bytes, used);
  assert.ok(found.outcome === 'failed');
  assert.match(found.message, /error/i);
  await assert.rejects(evaluateByNode(connection, Uint8Array.of(0), []), NodeRefusal);
});
