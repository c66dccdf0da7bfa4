/** Hostile transactions on /sign, /sign-and-submit and /submit: refused with the reason. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptAddress } from '../../../src/cardano/codec/address.ts';
import { encodeRefs, uint } from '../../../src/cardano/codec/encode.ts';
import { scriptHash } from '../../../src/cardano/codec/hash.ts';
import { fromHex, toHex } from '../../../src/cardano/codec/hex.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { coins } from '../../../src/cardano/codec/value.ts';
import type { Key } from '../../../src/cardano/keys/keys.ts';
import type { WalletUtxo } from '../../../src/client/trade/utxo.ts';
import { ADA, DevnetWorld, textField } from '../../e2e/devnet/world.ts';
import { keyNamed } from '../../support/ledgerWorld.ts';
import { NEVER, type RawPlan, rawTransaction } from '../../support/rawTransaction.ts';
import { assertRefused, type Refused, wrongAddresses } from './table.ts';

const FEE = 200_000n;
const BAD_PARAMS = { status: 400, cause: 'INVALID_PARAMS' } as const;
const refused = (reason: string) => ({ status: 500, cause: 'SERVER_ERROR', reason }) as const;

/** CBOR hex of a witness set: `key` on a body's hash. */
function witnessOf(key: Key, id: string): string {
  return `a10081825820${key.publicKey}5840${toHex(key.sign(fromHex(id)))}`;
}

/** Pays everything of `source` back, but for what `change` says. */
function planOf({ ref, address, value }: WalletUtxo, change: Partial<RawPlan> = {}): RawPlan {
  const outputs = [{ address, value: coins(value.lovelace - FEE) }];
  return { inputs: [ref], outputs, feeLovelace: FEE, keys: [keyNamed('alice')], ...change };
}

const hexOf = (plan: RawPlan) => toHex(rawTransaction(plan).bytes);

function submitRows(world: DevnetWorld, source: WalletUtxo, spentHex: string): Refused[] {
  const { address, value, ref } = source;
  const row = (what: string, cbor: unknown, reason: string): Refused => {
    return { what: `/submit ${what}`, path: '/submit', body: { cbor }, ...refused(reason) };
  };
  const paying = (lovelace: bigint) => [{ address, value: coins(lovelace) }];
  const slot = world.tip?.slot ?? 0;
  const [alice, bob] = [keyNamed('alice'), keyNamed('bob')];
  const signed = hexOf(planOf(source));
  const signature = signed.slice(-132, -4);
  const flipped = signed.replace(
    signature,
    signature.replace(/^../, (x) => (x === '00' ? '01' : '00')),
  );
  const heavy = { tag: 1, index: 0, memory: 1n, cpu: 10_000_000_001n };
  const many = Array.from({ length: 300 }, () => ({ address, value: coins(ADA) }));
  const unknown = { txHash: 'ee'.repeat(32), index: 0 };
  return [
    row(
      'more than there is',
      hexOf(planOf(source, { outputs: paying(value.lovelace) })),
      'VALUE_NOT_CONSERVED',
    ),
    row(
      'less than there is',
      hexOf(planOf(source, { outputs: paying(ADA) })),
      'VALUE_NOT_CONSERVED',
    ),
    row('a signature of another body', flipped, 'BAD_SIGNATURE'),
    row('no signature', hexOf(planOf(source, { keys: [] })), 'SIGNATURE_MISSING'),
    row('a stranger’s signature', hexOf(planOf(source, { keys: [bob] })), 'SIGNATURE_MISSING'),
    row('a spent input', spentHex, 'INPUT_SPENT'),
    row('an unknown input', hexOf(planOf(source, { inputs: [ref, unknown] })), 'INPUT_SPENT'),
    row(
      'too small a fee',
      hexOf(
        planOf(source, {
          feeLovelace: 1000n,
          outputs: paying(value.lovelace - 1000n),
        }),
      ),
      'FEE_TOO_SMALL',
    ),
    row(
      'dust',
      hexOf(
        planOf(source, {
          outputs: [...paying(value.lovelace - FEE - 1000n), ...paying(1000n)],
        }),
      ),
      'OUTPUT_TOO_SMALL',
    ),
    row('expired', hexOf(planOf(source, { fields: { 3: uint(slot) } })), 'EXPIRED'),
    row('too early', hexOf(planOf(source, { fields: { 8: uint(slot + 99) } })), 'NOT_YET_VALID'),
    row('a redeemer for nothing', hexOf(planOf(source, { redeemers: [heavy] })), 'REFUSED'),
    row('too many bytes', hexOf(planOf(source, { outputs: many })), 'LIMITS_EXCEEDED'),
    row('garbage', 'ff00ff', 'MALFORMED'),
    row('half a transaction', signed.slice(0, 40), 'MALFORMED'),
    row('CBOR that is no transaction', '83010203', 'MALFORMED'),
    row(
      'an input twice',
      hexOf(
        planOf(source, {
          keys: [alice],
          fields: {
            0: Buffer.concat([
              Uint8Array.of(0x82),
              ...[1, 2].map(() => encodeRefs([ref]).subarray(1)),
            ]),
          },
        }),
      ),
      'MALFORMED',
    ),
    { what: 'no hex', path: '/submit', body: { cbor: 'zz' }, ...BAD_PARAMS },
    { what: 'half a byte', path: '/submit', body: { cbor: 'abc' }, ...BAD_PARAMS },
    { what: 'nothing', path: '/submit', body: {}, ...BAD_PARAMS },
    { what: 'empty', path: '/submit', body: { cbor: '' }, ...BAD_PARAMS },
  ];
}

function signRows(source: WalletUtxo, path: string): Refused[] {
  const unsigned = rawTransaction(planOf(source, { keys: [] }));
  const other = rawTransaction(planOf(source, { keys: [], feeLovelace: FEE + 1n }));
  const [alice, bob] = [keyNamed('alice'), keyNamed('bob')];
  const good = {
    cbor: toHex(unsigned.bytes),
    witness: witnessOf(alice, unsigned.id),
    changeAddress: source.address,
  };
  const row = (what: string, change: object, expected: Omit<Refused, 'what' | 'path'>): Refused => {
    return { what: `${path} ${what}`, path, body: { ...good, ...change }, ...expected };
  };
  const mixed = `a10082${[bob, alice]
    .map((key, at) => witnessOf(key, at === 0 ? unsigned.id : other.id).slice(6))
    .join('')}`;
  return [
    ...wrongAddresses().map(([what, changeAddress]) =>
      row(`for ${what}`, { changeAddress, cbor: 'ff' }, BAD_PARAMS),
    ),
    row('no hex', { cbor: 'x' }, BAD_PARAMS),
    row('no witness', { witness: undefined }, BAD_PARAMS),
    row('witness that is no hex', { witness: 'x' }, BAD_PARAMS),
    row('garbage', { cbor: 'ff00ff' }, refused('MALFORMED')),
    row('garbage as witness', { witness: 'ff00ff' }, refused('MALFORMED')),
    row('an empty witness set', { witness: 'a0' }, refused('MALFORMED')),
    row('a script as witness', { witness: 'a1068141aa' }, refused('MALFORMED')),
    row(
      'a signature of another body',
      { witness: witnessOf(alice, other.id) },
      refused('BAD_SIGNATURE'),
    ),
    row('one good, one bad signature', { witness: mixed }, refused('BAD_SIGNATURE')),
    row('a tampered body', { cbor: toHex(other.bytes) }, refused('BAD_SIGNATURE')),
  ];
}

async function assertNotSignedAgain(world: DevnetWorld): Promise<void> {
  const alice = await world.funded('alice', 200, 3);
  const { asset } = await world.launch(alice, { initialLovelace: 10n * ADA });
  const request = { assetId: asset, side: 'BUY', amount: 5n * ADA, slippage: '15' } as const;
  const { id } = await alice.order(request);
  const [txHash = '', index = ''] = id.split(':');
  const { address } = alice.wallet;
  const built = await world.post('/cancel', { txHash, index, changeAddress: address });
  const cbor = textField(built.body, 'cbor') ?? assert.fail(built.message);
  const honest = decodeTransaction(fromHex(cbor));
  const [ours] = honest.keyWitnesses;
  assert.equal(honest.keyWitnesses.length, 1, 'the server signed for its collateral only');

  // The owner's change goes to somebody else: the body's first mention of the key.
  const tampered = cbor.replace(alice.wallet.keyHash, keyNamed('bob').hash);
  const bad = decodeTransaction(fromHex(tampered));
  assert.notEqual(bad.id, honest.id);
  const witness = witnessOf(keyNamed('alice'), bad.id);
  const signed = await world.post('/sign', { cbor: tampered, witness, changeAddress: address });
  const answered = decodeTransaction(fromHex(textField(signed.body, 'cbor') ?? ''));
  assert.deepEqual(toHex(answered.body), toHex(bad.body), 'the body as received');
  assert.deepEqual(
    answered.keyWitnesses.map(({ publicKey }) => publicKey),
    [ours?.publicKey, keyNamed('alice').publicKey],
  );
  assert.deepEqual(answered.keyWitnesses[0]?.signature, ours?.signature, 'no new one of ours');
  const rows = ['/sign-and-submit', '/submit'].map((path): Refused => {
    const body = { cbor: path === '/submit' ? toHex(answered.bytes) : tampered, witness };
    return {
      what: path,
      path,
      body: { ...body, changeAddress: address },
      ...refused('BAD_SIGNATURE'),
    };
  });
  await assertRefused(world, rows);

  // Without the server's signature in the request, the server adds no signature to a transaction
  // that it did not build.
  const stripped = rawTransaction({
    inputs: honest.inputs,
    outputs: [{ address, value: coins(7n * ADA) }],
    feeLovelace: 600_000n,
    fields: { 13: encodeRefs(honest.collateralInputs) },
  });
  const own = witnessOf(keyNamed('alice'), stripped.id);
  const body = { cbor: toHex(stripped.bytes), witness: own, changeAddress: address };
  const merged = await world.post('/sign', body);
  const after = decodeTransaction(fromHex(textField(merged.body, 'cbor') ?? ''));
  assert.equal(after.keyWitnesses.length, 1);
  assert.notEqual(after.keyWitnesses[0]?.publicKey, ours?.publicKey, 'no signature of ours');
}

test('signing and submitting are refused as the contract says', async (t) => {
  const world = await DevnetWorld.start(t);
  const alice = await world.funded('alice', 100, 5);
  const { address } = alice.wallet;
  const [first, second, third, fourth, fifth] = await alice.utxos();
  assert.ok(first && second && third && fourth && fifth);
  const payment = rawTransaction(planOf(first));
  assert.equal((await world.post('/submit', { cbor: toHex(payment.bytes) })).status, 200);
  const rival = hexOf(
    planOf(first, {
      feeLovelace: FEE,
      outputs: [
        { address, value: coins(first.value.lovelace - FEE - ADA) },
        { address, value: coins(ADA) },
      ],
    }),
  );

  await t.test('/submit, the double spend in the mempool', () =>
    assertRefused(world, submitRows(world, second, rival)),
  );
  await world.mine();
  await t.test('/submit, the double spend in a block', () =>
    assertRefused(world, submitRows(world, second, rival)),
  );
  await t.test('a pending or included transaction gets the same answer again', async () => {
    const again = await world.post('/submit', { cbor: toHex(payment.bytes) });
    assert.deepEqual([again.status, again.body], [200, { txHash: payment.id }]);
  });
  await t.test('/submit, scripts that fail and collateral', async () => {
    const script = scriptAddress('testnet', scriptHash(NEVER), null);
    const paid = rawTransaction(
      planOf(third, {
        outputs: [
          { address: script, value: coins(5n * ADA), datum: 'd87980' },
          { address, value: coins(third.value.lovelace - 5n * ADA - FEE) },
        ],
      }),
    );
    assert.equal((await world.post('/submit', { cbor: toHex(paid.bytes) })).status, 200);
    const spend = (isValid: boolean, collateral: WalletUtxo | null): RawPlan => ({
      inputs: [{ txHash: paid.id, index: 0 }],
      outputs: [{ address, value: coins(4n * ADA) }],
      feeLovelace: ADA,
      redeemers: [{ tag: 0, index: 0, memory: 1_000_000n, cpu: 500_000_000n }],
      scripts: [NEVER],
      keys: [keyNamed('alice')],
      isValid,
      fields: collateral === null ? {} : { 13: encodeRefs([collateral.ref]) },
    });
    const row = (what: string, plan: RawPlan, reason: string): Refused => {
      return { what, path: '/submit', body: { cbor: hexOf(plan) }, ...refused(reason) };
    };
    await assertRefused(world, [
      row('a failing script', spend(true, fourth), 'SCRIPT_FAILED'),
      row('no collateral', spend(true, null), 'COLLATERAL'),
    ]);
  });
  await t.test('/sign', () => assertRefused(world, signRows(fifth, '/sign')));
  await t.test('/sign-and-submit', () => assertRefused(world, signRows(fifth, '/sign-and-submit')));
  await t.test('a valid signature of a stranger does not make it spendable', async () => {
    const unsigned = rawTransaction(planOf(fifth, { keys: [] }));
    const witness = witnessOf(keyNamed('bob'), unsigned.id);
    const body = { cbor: toHex(unsigned.bytes), witness, changeAddress: address };
    const row = { what: 'bob for alice', path: '/sign-and-submit', body };
    await assertRefused(world, [{ ...row, ...refused('SIGNATURE_MISSING') }]);
  });
  await t.test('a tampered body gets no signature of the server', () =>
    assertNotSignedAgain(world),
  );
});
