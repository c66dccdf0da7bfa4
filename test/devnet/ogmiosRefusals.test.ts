/** Refusals of submission and evaluation by the devnet's Ogmios: codes, data, by the schema. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byteString, encodeAssets, encodeRefs, uint } from '../../src/cardano/codec/encode.ts';
import { scriptHash } from '../../src/cardano/codec/hash.ts';
import { toHex } from '../../src/cardano/codec/hex.ts';
import { decodeTransaction } from '../../src/cardano/codec/transaction.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { REFUSALS, type RefusalReason } from '../../src/cardano/ledger/port.ts';
import { NodeRefusal, refusalOf } from '../../src/chain/ogmios/fault.ts';
import { genesisOutputs, startDevnet } from '../support/devnetNode.ts';
import { addressOf } from '../support/ledgerWorld.ts';
import { NEVER, type RawPlan, rawTransaction } from '../support/rawTransaction.ts';
import { ADA, alice, FEE, first, minting, pay, plain } from './judged.ts';
import { asked, memberOf, type Told } from './ogmiosAsked.ts';

const here = {
  mine: genesisOutputs().flatMap(({ ref, output }) =>
    output.address === addressOf('alice') ? ref : [],
  ),
};
const UNKNOWN = { txHash: 'cc'.repeat(32), index: 0 };
const LONG = `9f${`5840${'ab'.repeat(64)}`.repeat(220)}ff`;
const FAILING = `${scriptHash(NEVER)}.746f6b`;

function failingMint(): RawPlan {
  return minting(here, {
    scripts: [NEVER],
    outputs: [
      { address: addressOf('bob'), value: asValue(10n * ADA, [[FAILING, 5n]]) },
      pay('alice', 988n * ADA),
    ],
    fields: { 9: encodeAssets(new Map([[FAILING, 5n]])) },
  });
}

const REFUSED: readonly (readonly [RefusalReason, number, RawPlan])[] = [
  ['MALFORMED', -32602, plain(here, { fields: { 99: uint(1) } })],
  ['INPUT_SPENT', 3997, plain(here, { inputs: [UNKNOWN] })],
  ['INPUT_SPENT', 3117, plain(here, { inputs: [first(here.mine), UNKNOWN] })],
  [
    'BAD_SIGNATURE',
    3100,
    plain(here, { keys: [{ ...alice, sign: () => alice.sign(Uint8Array.of(1)) }] }),
  ],
  ['SIGNATURE_MISSING', 3101, plain(here, { keys: [] })],
  ['SCRIPT_FAILED', 3136, failingMint()],
  ['EXPIRED', 3118, plain(here, { fields: { 3: uint(0) } })],
  ['NOT_YET_VALID', 3118, plain(here, { fields: { 8: uint(1) } })],
  ['VALUE_NOT_CONSERVED', 3123, plain(here, { outputs: [pay('bob', 11n * ADA)] })],
  [
    'FEE_TOO_SMALL',
    3122,
    plain(here, { feeLovelace: 0n, outputs: [pay('bob', 10n * ADA), pay('alice', 990n * ADA)] }),
  ],
  [
    'OUTPUT_TOO_SMALL',
    3125,
    plain(here, { outputs: [pay('bob', 800_000n), pay('alice', 1000n * ADA - FEE - 800_000n)] }),
  ],
  [
    'LIMITS_EXCEEDED',
    3119,
    plain(here, {
      feeLovelace: 10n * ADA,
      outputs: [pay('alice', 490n * ADA), ...Array.from({ length: 500 }, () => pay('bob', ADA))],
    }),
  ],
  [
    'LIMITS_EXCEEDED',
    3134,
    minting(here, { redeemers: [{ tag: 1, index: 0, memory: 1_000n, cpu: 10_000_000_001n }] }),
  ],
  ['COLLATERAL', 3132, minting(here, { fields: { 13: null } })],
  ['COLLATERAL', 3135, minting(here, { fields: { 17: uint(5n * ADA) } })],
  ['REFUSED', 3106, plain(here, { fields: { 7: byteString(new Uint8Array(32)) } })],
];

function reasonOf(error: NonNullable<Told['error']>): RefusalReason {
  const { code, message, data } = error;
  return refusalOf(new NodeRefusal(code, message, data)).reason;
}

test('each reason has the code and the data of a node', async (scope) => {
  const { ogmiosUrl } = await startDevnet(scope);
  const client = await asked(scope, ogmiosUrl);
  const submit = (bytes: Uint8Array) =>
    client.ask('submitTransaction', { transaction: { cbor: toHex(bytes) } });
  const seen = new Set<RefusalReason>();
  for (const [reason, code, plan] of REFUSED) {
    const { error } = await submit(rawTransaction(plan).bytes);
    assert.ok(error, reason);
    assert.equal(error.code, code, `${reason}: ${JSON.stringify(error)}`);
    assert.equal(reasonOf(error), reason, JSON.stringify(error));
    seen.add(reason);
  }
  const { bytes, id } = rawTransaction(plain(here));
  assert.deepEqual((await submit(bytes)).result, { transaction: { id } });
  const again = (await submit(bytes)).error ?? assert.fail('a node knows it as spent');
  assert.deepEqual([again.code, reasonOf(again)], [3997, 'INPUT_SPENT']);
  assert.deepEqual((await submit(Uint8Array.of(1, 2, 3))).error?.code, -32602);
  seen.add((await untilFull(submit)) ?? assert.fail('it is never full'));
  assert.deepEqual([...seen].sort(), [...REFUSALS].sort());
});

/** Alice pays with a long datum, again and again, until the mempool refuses. */
async function untilFull(submit: (bytes: Uint8Array) => Promise<Told>) {
  let source = { ref: here.mine[1] ?? assert.fail(), lovelace: 1000n * ADA };
  for (let left = 300; left > 0; left -= 1) {
    const lovelace = source.lovelace - 2n * ADA;
    const { bytes, id } = rawTransaction({
      inputs: [source.ref],
      outputs: [{ ...pay('alice', lovelace), datum: LONG }],
      feeLovelace: 2n * ADA,
      keys: [alice],
    });
    const { error } = await submit(bytes);
    if (error !== undefined) return reasonOf(error);
    source = { ref: { txHash: id, index: 0 }, lovelace };
    if (lovelace < 100n * ADA) source = { ref: here.mine[2] ?? source.ref, lovelace: 1000n * ADA };
  }
  return null;
}

test('evaluation: budgets, and what it refuses', async (scope) => {
  const { ogmiosUrl } = await startDevnet(scope);
  const client = await asked(scope, ogmiosUrl);
  const evaluate = (plan: RawPlan, more: object = {}) =>
    client.ask('evaluateTransaction', {
      transaction: { cbor: toHex(rawTransaction(plan).bytes) },
      ...more,
    });
  const { result } = await evaluate(minting(here));
  assert.deepEqual(memberOf(result, 0, 'validator'), { purpose: 'mint', index: 0 });
  assert.ok(Number(memberOf(result, 0, 'budget', 'memory')) > 0);
  assert.ok(Number(memberOf(result, 0, 'budget', 'cpu')) > 0);
  assert.equal(memberOf(result, 1), undefined);
  assert.deepEqual((await evaluate(plain(here))).result, []);

  const output = decodeTransaction(rawTransaction(minting(here)).bytes).outputs[1];
  assert.ok(output);
  const additional = (txHash: string, lovelace: bigint) => [
    {
      transaction: { id: txHash },
      index: 0,
      address: addressOf('alice'),
      value: { ada: { lovelace: Number(lovelace) } },
    },
  ];
  const elsewhere = minting(here, { inputs: [UNKNOWN] });
  const given = { additionalUtxo: additional(UNKNOWN.txHash, 1000n * ADA) };
  assert.equal(memberOf((await evaluate(elsewhere, given)).result, 'length'), 1);

  const { error: failure } = await evaluate(failingMint());
  const said = memberOf(failure?.data, 0, 'error', 'data', 'validationError');
  assert.match(String(said), /Error evaluated/, "the evaluator's own words");

  for (const [plan, code] of [
    [minting(here, { scripts: [] }), 3011],
    [minting(here, { redeemers: [{ tag: 0, index: 0, memory: 1n, cpu: 1n }] }), 3110],
  ] as const) {
    const { error } = await evaluate(plan);
    assert.equal(memberOf(error?.data, 0, 'error', 'code'), code, JSON.stringify(error));
  }

  const codes: [string, Promise<Told>, number][] = [
    ['an unknown input', evaluate(elsewhere), 3004],
    ['a script that fails', evaluate(failingMint()), 3010],
    [
      'an output that the ledger has otherwise',
      evaluate(minting(here), { additionalUtxo: additional(first(here.mine).txHash, ADA) }),
      3002,
    ],
    ['outputs that cannot be read', evaluate(plain(here), { additionalUtxo: [1] }), -32602],
    [
      'bytes that are no transaction',
      client.ask('evaluateTransaction', { transaction: { cbor: '00' } }),
      -32602,
    ],
    [
      'several redeemers, one of which points at nothing',
      evaluate({
        ...failingMint(),
        redeemers: [0, 1].map((index) => ({ tag: 1, index, memory: 1_000n, cpu: 1_000_000n })),
        fields: {
          ...failingMint().fields,
          9: encodeAssets(new Map([[FAILING, 5n]])),
          13: encodeRefs(here.mine.slice(1, 2)),
        },
      }),
      3010,
    ],
  ];
  for (const [what, told, code] of codes) {
    const { error } = await told;
    assert.equal(error?.code, code, `${what}: ${JSON.stringify(error)}`);
  }
});
