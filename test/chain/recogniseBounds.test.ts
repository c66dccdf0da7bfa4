/**
 * Bounds of the integers in datums: numbers within them count, and an output with a number beyond
 * them is not listed.
 * Source: onchain.md, "Bounds in datums".
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import { datumOf, decodeOutput, type Output } from '../../src/cardano/codec/output.ts';
import { Constr, decodePlutusData, type PlutusData } from '../../src/cardano/codec/plutusData.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import {
  type AmmDatum,
  ammData,
  lockData,
  type OrderDatum,
  readAmmData,
  readPoolData,
  readSplashPool,
} from '../../src/cardano/datums/datums.ts';
import { metadataData, readMetadata } from '../../src/cardano/datums/metadata.ts';
import { dataHex } from '../../src/cardano/transactions/plan.ts';
import { readOrderOutput } from '../../src/chain/recognise/orderOutput.ts';
import { dataText } from '../support/testData.ts';
import { RIDDLE_DATUM } from './mainnetSamples.ts';
import { MAINNET_RULES } from './mainnetWorld.ts';
import {
  ADA,
  ALICE,
  atScript,
  deployment,
  kindsOf,
  launchOf,
  orderOf,
  transaction,
} from './recogniseWorld.ts';

const RATIO = 1n << 128n;
const AMOUNT = 1n << 64n;
const TIME = 1n << 53n;
/** As long as an integer of 5.6 kB is, which was once shown in each list of orders. */
const ENDLESS = 1n << 44_800n;

describe('orders', () => {
  const { tx: launch, token } = launchOf('Bounded');
  const isListed = (datum: Partial<OrderDatum>) =>
    kindsOf(launch, orderOf(token, 'buy', { datum }).tx).includes('placed');
  const worst = (numerator: bigint, denominator: bigint) => ({
    worstPrice: { numerator, denominator },
  });

  test('up to their bounds they are listed', () => {
    assert.ok(isListed(worst(RATIO - 1n, RATIO - 1n)));
    assert.ok(isListed({ refundAfterMs: TIME - 1n }));
    assert.ok(isListed({ refundAfterMs: 0n }));
  });

  const beyond: [string, Partial<OrderDatum>][] = [
    ['a numerator of 2^128', worst(RATIO, 1n)],
    ['a denominator of 2^128', worst(1n, RATIO)],
    ['both', worst(RATIO, RATIO)],
    ['endless integers', worst(ENDLESS, ENDLESS + 1n)],
    ['a time of 2^53', { refundAfterMs: TIME }],
    ['a time before 1970', { refundAfterMs: -1n }],
    ['a fee of 2^64', { feeLovelace: AMOUNT }],
    ['a deposit of 2^64', { depositLovelace: AMOUNT }],
    [
      'a fee and a deposit that add up',
      { feeLovelace: AMOUNT, depositLovelace: 5n * ADA - AMOUNT },
    ],
  ];
  for (const [what, datum] of beyond) {
    test(`${what}: not listed`, () => assert.ok(!isListed(datum)));
  }
});

describe('locks', () => {
  const { tx: launch, token } = launchOf('Locked');
  const address = atScript('vesting', ALICE.stake);
  const value = asValue(2n * ADA, [[token, 5n]]);
  const isListed = (unlockMs: bigint) => {
    const datum = dataHex(lockData({ unlockMs, owner: ALICE.payment.hash }));
    const tx = transaction({ outputs: [{ address, value, datum }] });
    return kindsOf(launch, tx).includes('locked');
  };

  test('a time is below 2^53 and not negative', () => {
    const found = [-1n, 0n, TIME - 1n, TIME, ENDLESS].map(isListed);
    assert.deepEqual(found, [false, true, true, false, false]);
  });
});

describe('partial orders', () => {
  /** A limit order of mainnet with another field; the name of the order is no matter here. */
  const listed = (at: number, field: PlutusData) => {
    const output = decodeOutput(fromHex(dataText('mainnet/output-limit-partly-filled.hex').trim()));
    const data = datumOf(output);
    assert.ok(data instanceof Constr);
    const datum = dataHex(new Constr(0, data.fields.with(at, field)));
    return readOrderOutput({ ...output, datum }, MAINNET_RULES) !== null;
  };
  const price = (numerator: bigint, denominator: bigint) =>
    listed(7, new Constr(0, [numerator, denominator]));

  test('up to their bounds they are listed, and not beyond', () => {
    assert.deepEqual([price(RATIO - 1n, RATIO - 1n), price(0n, 1n)], [true, true]);
    assert.deepEqual([price(RATIO, 1n), price(1n, RATIO), price(1n, 0n)], [false, false, false]);
    // The least amount of a step is in the datum, but no answer shows it.
    const least = [-1n, 0n, AMOUNT - 1n, AMOUNT, ENDLESS, 'ab'].map((field) => listed(5, field));
    assert.deepEqual(least, [false, true, true, false, false, false]);
    for (const at of [3, 4, 8]) {
      assert.deepEqual([listed(at, AMOUNT), listed(at, -1n)], [false, false], `field ${at}`);
    }
  });
});

describe('pools', () => {
  const riddle = decodePlutusData(fromHex(RIDDLE_DATUM));
  const fieldsOf = (data: PlutusData) => (data instanceof Constr ? data.fields : assert.fail());
  const curve = (at: number, field: PlutusData) =>
    readPoolData(new Constr(0, fieldsOf(riddle).with(at, field))) !== null;

  test('of a curve: parameters, the cap and the executor', () => {
    for (const [at, bound] of [
      [3, RATIO],
      [4, RATIO],
      [6, AMOUNT],
    ] as const) {
      const found = [-1n, 0n, bound - 1n, bound, ENDLESS].map((field) => curve(at, field));
      assert.deepEqual(found, [false, true, true, false, false], `field ${at}`);
    }
    assert.deepEqual([curve(5, 'ab'.repeat(32)), curve(5, 'ab'.repeat(33))], [true, false]);
  });

  test('a curve on which tokens cost nothing is none', () => {
    const free = fieldsOf(riddle).with(3, 0n).with(4, 0n);
    assert.equal(readPoolData(new Constr(0, free)), null);
  });

  const { nft, token } = launchOf('Graduated');
  const amm: AmmDatum = {
    ...{ nft, token, lpFeePer10k: 15n, owedLovelace: 0n, settings: null },
    ...{ executor: deployment.executorKeyHash, creatorPkh: ALICE.payment.hash, creatorSkh: '' },
  };
  const isAmm = (change: Partial<AmmDatum>) => readAmmData(ammData({ ...amm, ...change })) !== null;

  test('of an AMM: what it owes, its fee, and who made it', () => {
    for (const name of ['owedLovelace', 'lpFeePer10k'] as const) {
      const found = [-1n, 0n, AMOUNT - 1n, AMOUNT].map((field) => isAmm({ [name]: field }));
      assert.deepEqual(found, [false, true, true, false], name);
    }
    const long = 'ab'.repeat(33);
    for (const name of ['executor', 'creatorPkh', 'creatorSkh'] as const) {
      assert.ok(!isAmm({ [name]: long }), name);
    }
  });

  test('of Splash: fees and what was earned', () => {
    const fields = fieldsOf(ammData(amm)).slice(0, 3);
    const whole = [...fields, 0n, ...Array<bigint>(11).fill(7n)];
    assert.ok(readSplashPool(new Constr(0, whole)) !== null);
    for (const at of [4, 5, 6, 7, 8, 9, 10]) {
      for (const field of [AMOUNT, -1n]) {
        assert.equal(readSplashPool(new Constr(0, whole.with(at, field))), null, `field ${at}`);
      }
    }
  });
});

describe('launches', () => {
  test('a redeemer with an index that no output has is passed over', () => {
    const launch = launchOf('Indexed');
    const seed = (index: bigint) => new Constr(0, [new Constr(0, ['ab'.repeat(32)]), index]);
    const odd = [1n << 16n, ENDLESS, -1n].map((index) => ({
      ...{ purpose: 'mint' as const, index: 0, memory: 0n, cpu: 0n },
      data: new Constr(0, [new Constr(0, [seed(index), '', '']), 0n]),
    }));
    const tx = { ...launch.tx, redeemers: [...odd, ...launch.tx.redeemers] };
    assert.ok(kindsOf(tx).includes('launched'));
  });

  test('an author in metadata is a key hash or nothing', () => {
    const socials = { twitter: '', discord: '', telegram: '', website: '' };
    const texts = { ticker: 'T', logoCID: 'bafkrei', description: '', launchType: 0, socials };
    const asset = `${'ab'.repeat(28)}.00`;
    const read = (pkh: string, skh: string) =>
      readMetadata(metadataData({ ...texts, asset, author: { pkh, skh } }))?.author;
    const key = 'ab'.repeat(28);
    assert.deepEqual(read(key, key), { pkh: key, skh: key });
    assert.deepEqual(read('ab'.repeat(5_000), 'ab'), { pkh: '', skh: '' });
  });
});

/** A pool's successor beyond the bounds is as unreadable as any other datum. */
test('an output of a known pool with an endless cap moves nothing', () => {
  const { tx, pool, token, nft } = launchOf('Known');
  const output: Output = tx.outputs[0] ?? assert.fail();
  const data = datumOf(output);
  assert.ok(data instanceof Constr);
  const datum = dataHex(new Constr(0, data.fields.with(6, ENDLESS)));
  const value = asValue(5n * ADA, [
    [nft, 1n],
    [token, 999_999_000n],
  ]);
  const outputs = [{ address: output.address, value, datum }];
  const kinds = kindsOf(tx, transaction({ inputs: [pool], outputs }));
  assert.ok(!kinds.includes('moved') && !kinds.includes('filled'), kinds.join());
});
