/** Our transactions as Ogmios writes them: every field, by the schema, with nothing lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base58 } from '@scure/base';
import {
  array,
  byteString,
  encodeAssets,
  encodeOutput,
  encodeRefs,
  map,
  tagged,
  uint,
} from '../../src/cardano/codec/encode.ts';
import { blake2b224, blake2b256 } from '../../src/cardano/codec/hash.ts';
import { fromHex, toHex } from '../../src/cardano/codec/hex.ts';
import { outputJson } from '../../src/cardano/codec/outputJson.ts';
import { decodeTransaction, type Transaction } from '../../src/cardano/codec/transaction.ts';
import { asValue, coins } from '../../src/cardano/codec/value.ts';
import { servedTransaction, transactionJson } from '../../src/devnet/ogmios/transactionJson.ts';
import { jsonText } from '../../src/engine/runtime/exactJson.ts';
import { DevnetWorld } from '../e2e/devnet/world.ts';
import { addressOf, keyNamed } from '../support/ledgerWorld.ts';
import { praosBlock } from '../support/ogmios/blocks.ts';
import { Bridge, type BridgeOptions } from '../support/ogmios/bridge.ts';
import { checkedMessages, Follower } from '../support/ogmios/scene.ts';
import { schemaCheck } from '../support/ogmios/schema.ts';
import { ALWAYS, ALWAYS_HASH, rawTransaction } from '../support/rawTransaction.ts';

const REF = { txHash: 'ab'.repeat(32), index: 1 };
const TOKEN = `${'cd'.repeat(28)}.746f6b`;
const KEY_HASH = keyNamed('alice').hash;
const NATIVE = array([
  uint(3),
  uint(1),
  array([
    array([uint(0), byteString(fromHex(KEY_HASH))]),
    array([uint(4), uint(50)]),
    array([uint(1), array([array([uint(5), uint(90)])])]),
  ]),
]);

/** Everything that a transaction of ours may hold, and more. */
function everything(): Transaction {
  const datumHash = byteString(fromHex('12'.repeat(32)));
  const value = asValue(2_000_000n, [[TOKEN, 2n ** 63n - 1n]]);
  const address = byteString(fromHex(`60${KEY_HASH}`));
  const hashed = map([
    [uint(0), address],
    [uint(1), uint(1_500_000)],
    [uint(2), array([uint(0), datumHash])],
  ]);
  const legacy = array([address, uint(1_400_000), datumHash]);
  const native = map([
    [uint(0), address],
    [uint(1), uint(1_300_000)],
    [uint(3), tagged(24, byteString(array([uint(0), NATIVE])))],
  ]);
  const outputs = [
    encodeOutput({ address: addressOf('bob'), value, datum: 'd87980', script: ALWAYS }),
    hashed,
    legacy,
    native,
  ];
  const labels = map([[uint(674), array([uint(1)])]]);
  const { bytes } = rawTransaction({
    inputs: [REF, { ...REF, index: 0 }],
    feeLovelace: 170_000n,
    scripts: [ALWAYS],
    redeemers: [{ tag: 1, index: 0, memory: 1_000n, cpu: 2n ** 60n }],
    keys: [keyNamed('alice')],
    isValid: false,
    auxiliary: tagged(259, map([[uint(0), labels]])),
    fields: {
      1: array(outputs),
      3: uint(900),
      5: map([[byteString(fromHex(`e0${KEY_HASH}`)), uint(77)]]),
      7: byteString(fromHex('34'.repeat(32))),
      8: uint(100),
      9: encodeAssets(new Map([[TOKEN, -5n]])),
      13: encodeRefs([{ ...REF, index: 7 }]),
      14: array([byteString(fromHex(KEY_HASH))]),
      16: encodeOutput({ address: addressOf('alice'), value: coins(4_000_000n) }),
      17: uint(1_000_000),
      18: encodeRefs([{ ...REF, index: 9 }]),
    },
  });
  return decodeTransaction(bytes);
}

test('a transaction with every field is as the schema says', () => {
  const fits = schemaCheck();
  const tx = everything();
  for (const includeCbor of [false, true]) {
    const { text } = praosBlock(null, { transactions: [servedTransaction(tx, { includeCbor })] });
    const tip = jsonText({ slot: 20, id: '00'.repeat(32), height: 0 });
    const result = `{"direction":"forward","tip":${tip},"block":${text}}`;
    const message = `{"jsonrpc":"2.0","method":"nextBlock","result":${result}}`;
    assert.equal(fits(message), null);
    assert.equal(message.includes(toHex(tx.bytes)), includeCbor);
  }
});

test('every field says what the bytes say', () => {
  const tx = everything();
  const ref = (index: number) => ({ transaction: { id: REF.txHash }, index });
  const enterprise = addressOf('alice');
  const signature = toHex(tx.keyWitnesses[0]?.signature ?? assert.fail());
  const { scriptIntegrityHash, ...fields } = JSON.parse(jsonText(transactionJson(tx)));
  assert.match(scriptIntegrityHash, /^[0-9a-f]{64}$/);
  assert.deepEqual(fields, {
    id: tx.id,
    spends: 'collaterals',
    inputs: [ref(0), ref(1)],
    references: [ref(9)],
    collaterals: [ref(7)],
    totalCollateral: { ada: { lovelace: 1_000_000 } },
    collateralReturn: { address: enterprise, value: { ada: { lovelace: 4_000_000 } } },
    outputs: [
      {
        address: addressOf('bob'),
        value: { ada: { lovelace: 2_000_000 }, ['cd'.repeat(28)]: { '746f6b': 2 ** 63 } },
        datum: 'd87980',
        script: { language: 'plutus:v2', cbor: ALWAYS },
      },
      {
        address: enterprise,
        value: { ada: { lovelace: 1_500_000 } },
        datumHash: '12'.repeat(32),
      },
      {
        address: enterprise,
        value: { ada: { lovelace: 1_400_000 } },
        datumHash: '12'.repeat(32),
      },
      {
        address: enterprise,
        value: { ada: { lovelace: 1_300_000 } },
        script: {
          language: 'native',
          json: {
            clause: 'some',
            atLeast: 1,
            from: [
              { clause: 'signature', from: KEY_HASH },
              { clause: 'after', slot: 50 },
              { clause: 'all', from: [{ clause: 'before', slot: 90 }] },
            ],
          },
        },
      },
    ],
    fee: { ada: { lovelace: 170_000 } },
    validityInterval: { invalidBefore: 100, invalidAfter: 900 },
    mint: { ['cd'.repeat(28)]: { '746f6b': -5 } },
    requiredExtraSignatories: [KEY_HASH],
    redeemers: [
      {
        validator: { purpose: 'mint', index: 0 },
        redeemer: toHex(array([uint(121)])),
        executionUnits: { memory: 1_000, cpu: 2 ** 60 },
      },
    ],
    signatories: [{ key: keyNamed('alice').publicKey, signature }],
    withdrawals: { [stakeText(fields)]: { ada: { lovelace: 77 } } },
    scripts: { [ALWAYS_HASH]: { language: 'plutus:v2', cbor: ALWAYS } },
    metadata: { hash: '34'.repeat(32), labels: { 674: { cbor: '8101' } } },
  });
  assert.match(stakeText(fields), /^stake_test1/);
  assert.ok(jsonText(transactionJson(tx)).includes('9223372036854775807'), 'to the last digit');
});

test('an address of Byron is base58, as Ogmios has it', () => {
  // An example of the schema.
  const text = [
    'DdzFFzCqrht8mbSTZHqpM2u4HeND2mdspsaBhdQ1BowPJBMzbDeBMeKgqd',
    'oKqo1D4sdPusEdZJVrFJRBBxX1jUEofNDYCJSZLg8MkyCE',
  ].join('');
  const address = toHex(base58.decode(text));
  assert.ok(address.startsWith('82d818'), 'a pair of bytes that are CBOR, and their checksum');
  const held = { address, value: coins(1n), datum: null, scriptHash: null, cbor: '' };
  assert.equal(outputJson(held).address, text);
});

test('hashes are those of the ledger', () => {
  const datum = array([uint(1)]);
  const native = array([uint(0), byteString(fromHex(KEY_HASH))]);
  const { body } = decodeTransaction(rawTransaction({ feeLovelace: 1n, inputs: [REF] }).bytes);
  const witnessSet = map([
    [uint(1), array([native])],
    [uint(4), array([datum])],
  ]);
  const bytes = array([body, witnessSet, Uint8Array.of(0xf5), Uint8Array.of(0xf6)]);
  const { scripts, datums } = JSON.parse(jsonText(transactionJson(decodeTransaction(bytes))));
  const hash = blake2b224(Buffer.concat([Uint8Array.of(0), native]));
  assert.deepEqual(Object.keys(scripts), [hash]);
  assert.deepEqual(datums, { [blake2b256(datum)]: toHex(datum) });
});

function stakeText({ withdrawals }: { readonly withdrawals: object }): string {
  return Object.keys(withdrawals)[0] ?? '';
}

test('a whole market: launch, orders and fills, as they are on the chain', async (scope) => {
  const world = await DevnetWorld.start(scope);
  const options: BridgeOptions = {
    includeCbor: true,
    ogmios: { sent: checkedMessages(scope) },
  };
  const bridge = new Bridge(world.chain, options);
  await bridge.start();
  scope.after(() => bridge.stop());
  const alice = await world.funded('alice', 500, 4);
  const { asset } = await world.launch(alice, { name: 'Rocket' });
  await world.filled(alice, { assetId: asset, side: 'BUY', amount: 5_000_000n, slippage: '15' });
  await world.mine();
  await bridge.settled();
  const follower = new Follower();
  await follower.start(bridge.ogmios);
  await follower.saw(`+${bridge.ogmios.chain.tip?.id}`);
  // trust: the client gives blocks as the schema has them
  const blocks = follower.blocks as { transactions: Told[] }[];
  const told = blocks.flatMap(({ transactions }) => transactions);
  assert.ok(told.length >= 4, 'a faucet, a launch, an order, its execution');
  for (const each of told) {
    const tx = decodeTransaction(fromHex(each.cbor));
    assert.equal(tx.id, each.id);
    assert.deepEqual(
      each.outputs.map(({ address, datum }) => [address, datum ?? null]),
      tx.outputs.map(({ address, datum }) => [address, datum]),
    );
    for (const [at, { value }] of each.outputs.entries()) {
      assert.deepEqual(flat(value), tx.outputs[at]?.value);
    }
    assert.deepEqual(each.redeemers?.length ?? 0, tx.redeemers.length);
  }
  assert.ok(
    told.some(({ mint }) => mint !== undefined),
    'the launch mints',
  );
});

interface Told {
  readonly id: string;
  readonly cbor: string;
  readonly outputs: readonly {
    readonly address: string;
    readonly datum?: string;
    readonly value: Readonly<Record<string, Readonly<Record<string, bigint>>>>;
  }[];
  readonly mint?: object;
  readonly redeemers?: readonly unknown[];
}

function flat({ ada, ...policies }: Told['outputs'][number]['value']) {
  const assets = Object.entries(policies).flatMap(([policy, names]) =>
    Object.entries(names).map(([name, amount]) => [`${policy}.${name}`, amount] as const),
  );
  return asValue(ada?.lovelace ?? 0n, assets);
}
