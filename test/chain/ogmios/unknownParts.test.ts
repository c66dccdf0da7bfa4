/**
 * Parts of a transaction that this program does not know, as eras to come bring them (Ogmios 7.0's
 * schema names `guard`, `plutus:v4` and `subTransactions`): they never stop the follower, and what
 * inputs, outputs, datums and mints say stays the same.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { languageScriptHash } from '../../../src/cardano/codec/hash.ts';
import { parseJson } from '../../../src/cardano/codec/json.ts';
import type { Transaction } from '../../../src/cardano/codec/transaction.ts';
import { readTransaction } from '../../../src/chain/ogmios/transactionJson.ts';
import { servedTransaction } from '../../../src/devnet/ogmios/transactionJson.ts';
import { emptyBlocks, praosBlock } from '../../support/ogmios/blocks.ts';
import type { FakeTransaction } from '../../support/ogmios/chain.ts';
import { startFakeOgmios } from '../../support/ogmios/scene.ts';
import { until } from '../../support/until.ts';
import { aliceText, orderOf, someRef } from '../recogniseWorld.ts';
import { anyTransaction } from './anyTransaction.ts';
import { remembering, startOgmios } from './ogmiosWorld.ts';
import { StreamModel } from './streamModel.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000);
const HASH = 'ab'.repeat(28);

type Json = Record<string, unknown>;

const GUARD = {
  redeemer: '00',
  executionUnits: { memory: 1, cpu: 1 },
  validator: { purpose: 'guard', index: 0 },
};
const V4 = { language: 'plutus:v4', cbor: '4e4d01000033222220051200120011' };
const GUARD_CLAUSE = {
  language: 'native',
  json: { clause: 'all', from: [{ clause: 'guard', from: HASH }] },
};
const UNKNOWNS: readonly unknown[] = [
  null,
  7,
  'text',
  [],
  {},
  { kind: 'other', from: [{ deep: 1 }] },
];

/** Fields whose content decides nothing, and which therefore may hold anything. */
const ASIDE = [
  ...['redeemers', 'signatories', 'certificates', 'withdrawals', 'requiredExtraSignatories'],
  ...['validityInterval', 'totalCollateral', 'fee', 'references', 'metadata', 'scripts', 'datums'],
  ...['votes', 'proposals', 'network', 'treasury', 'guards', 'credits', 'spends', 'whatever'],
];

const anyChange = fc.record({
  aside: fc.dictionary(fc.constantFrom(...ASIDE), fc.constantFrom(...UNKNOWNS), { maxKeys: 4 }),
  listed: fc.array(fc.constantFrom('redeemers', 'signatories', 'certificates'), { maxLength: 3 }),
  listedItem: fc.constantFrom(...UNKNOWNS, GUARD),
  script: fc.constantFrom(
    undefined,
    V4,
    GUARD_CLAUSE,
    { language: 'riscv', elf: '00' },
    ...UNKNOWNS,
  ),
  extra: fc.boolean(),
});
type Change = typeof anyChange extends fc.Arbitrary<infer One> ? One : never;

function changed(whole: Json, { aside, listed, listedItem, script, extra }: Change): Json {
  const result: Json = { ...whole, ...aside };
  // Whether scripts failed decides which outputs count.
  if (whole.spends === 'collaterals') result.spends = whole.spends;
  for (const name of listed) {
    const list = result[name];
    result[name] = Array.isArray(list) ? [listedItem, ...list] : [listedItem];
  }
  const grown = (output: unknown) => {
    const { script: own, ...fields } = output as Json;
    const value = { ...(fields.value as Json), ...(extra ? { later: { x: 1 } } : {}) };
    const scripted = script === undefined ? own : script;
    return { ...fields, value, ...(scripted === undefined ? {} : { script: scripted }), later: 1 };
  };
  if (Array.isArray(whole.outputs)) result.outputs = whole.outputs.map(grown);
  if (extra && Array.isArray(whole.inputs)) {
    result.inputs = whole.inputs.map((input) => ({ ...(input as Json), later: [1] }));
  }
  return result;
}

function meaning({ id, isValid, inputs, outputs, mint }: Transaction) {
  const kept = outputs.map(({ address, value, datum }) => ({ address, value, datum }));
  return { id, isValid, inputs, mint, outputs: kept };
}

test('unknown keys and variants in every place change nothing of what a transaction means', (t) => {
  t.diagnostic(`seed ${SEED}; again: SEED=${SEED} node --test ${import.meta.filename}`);
  let passed = 0;
  fc.assert(
    fc.property(anyTransaction, anyChange, (tx, change) => {
      const whole = parseJson(servedTransaction(tx).text) as Json;
      const read = readTransaction(changed(whole, change), 'it', () => {
        passed += 1;
      });
      assert.deepEqual(meaning(read), meaning(readTransaction(whole, 'it', assert.fail)));
    }),
    { seed: SEED, numRuns: 500 },
  );
  assert.ok(passed > 200, `${passed} parts were passed over`);
});

test('a script of a language to come keeps its hash where it can be told', () => {
  const whole = parseJson(servedTransaction(orderOf('.', 'buy').tx).text) as Json;
  const first = (whole.outputs as Json[])[0];
  const hashOf = (script: unknown) => {
    const told: string[] = [];
    const outputs = [{ ...first, script }];
    const tx = readTransaction({ ...whole, outputs }, 'it', (part) => told.push(part));
    assert.equal(told.length, 1, 'it is said once');
    return tx.outputs[0]?.scriptHash;
  };
  assert.equal(hashOf(V4), languageScriptHash(4, Buffer.from(V4.cbor, 'hex')));
  assert.equal(hashOf(GUARD_CLAUSE), 'unknown');
  assert.equal(hashOf({ language: 'riscv', elf: '00' }), 'unknown');
});

/** As a node of the era after Conway may write it: nested transactions, a guard, new scripts. */
function ofDijkstra(served: FakeTransaction, nestedId: string): FakeTransaction {
  const whole = parseJson(served.text) as Json;
  const { txHash, index } = someRef();
  const value = { ada: { lovelace: 2_000_000 } };
  const nested = {
    id: nestedId,
    inputs: [{ transaction: { id: txHash }, index }],
    outputs: [
      { address: aliceText, value, script: V4 },
      { address: aliceText, value, script: GUARD_CLAUSE },
    ],
    signatories: [],
  };
  const text = JSON.stringify({
    ...whole,
    redeemers: [GUARD],
    guards: [HASH],
    subTransactions: [nested],
  });
  return { ...served, text };
}

test('blocks of the next era are followed, and what is unknown is said once', async (t) => {
  // Not checked against the schema of 6.14, which does not know this era.
  const fake = await startFakeOgmios(t, { sent: () => {} });
  const [first] = emptyBlocks(null, 1);
  assert.ok(first !== undefined);
  fake.chain.extend(first);
  const observer = remembering();
  const chain = await startOgmios(t, fake.url, { observer });
  const model = await StreamModel.open(t, chain);
  const [one, two] = ['1a'.repeat(32), '2b'.repeat(32)];
  const served = () => servedTransaction(orderOf('.', 'buy').tx);
  let parent = first;
  for (const id of [one, two]) {
    const transactions = [ofDijkstra(served(), id)];
    const block = praosBlock(parent, { transactions });
    parent = { ...block, text: block.text.replace('"conway"', '"dijkstra"') };
    fake.chain.extend(parent);
  }
  await until('the blocks', () => model.blocks.length === 3);
  for (const [at, id] of [one, two].entries()) {
    const { transactions } = model.blocks[at + 1] ?? assert.fail('no block');
    assert.deepEqual([transactions.length, transactions[0]?.id], [2, id]);
    assert.deepEqual(
      transactions[0]?.outputs.map(({ value }) => value.lovelace),
      [2_000_000n, 2_000_000n],
    );
    assert.equal(transactions[0]?.inputs.length, 1);
  }
  assert.deepEqual(observer.lost, []);
  assert.equal(new Set(observer.passed).size, observer.passed.length, 'each kind once');
  for (const part of [/guard/, /plutus:v4/, /clause/]) {
    assert.ok(
      observer.passed.some((told) => part.test(told)),
      String(part),
    );
  }
});
