/** Layouts of datums, slots and beacons. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../src/cardano/codec/address.ts';
import { blake2b224, blake2b256 } from '../../src/cardano/codec/hash.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import { Constr, encodePlutusData, type PlutusData } from '../../src/cardano/codec/plutusData.ts';
import { slotAt, slotFrom, slotStartMs } from '../../src/cardano/codec/slots.ts';
import * as datums from '../../src/cardano/datums/datums.ts';
import { beacon } from '../../src/cardano/datums/datums.ts';
import { metadataData, readMetadata } from '../../src/cardano/datums/metadata.ts';
import { addressOf } from '../support/ledgerWorld.ts';

const H = 'ab'.repeat(28);
const NFT = `${H}.${'cd'.repeat(32)}`;
const TOKEN = `${'ef'.repeat(28)}.746f6b`;
const enterprise = parseAddress(addressOf('alice'));
assert.ok(enterprise);
const base = { ...enterprise, stake: { kind: 'script', hash: H } } as const;

const pool = {
  nft: NFT,
  token: TOKEN,
  aNum: 122_525_779_519n,
  bNum: 2_545_182n,
  executor: H,
  capLovelace: 18_191_400_000n,
  witness1: H,
  witness2: '',
};
const amm = {
  nft: NFT,
  token: TOKEN,
  lpFeePer10k: 15n,
  executor: H,
  creatorPkh: H,
  creatorSkh: '',
  owedLovelace: 5n,
  settings: H,
};
const unset = { ...amm, settings: null };
const settings = { executor: H, fee: base };
const order = {
  redeemer: base,
  input: '.',
  output: TOKEN,
  worstPrice: { numerator: 3n, denominator: 100n },
  feeLovelace: 1_100_000n,
  depositLovelace: 1_500_000n,
  executor: H,
  refundAfterMs: 1_700_000_000_000n,
  owner: H,
  poolNft: NFT,
};
const unbound = { ...order, poolNft: null };
const lock = { unlockMs: 5n, owner: H };
const metadata = {
  asset: TOKEN,
  ticker: 'TOK',
  logoCID: 'bafkrei',
  description: 'ä long text 😀'.repeat(20),
  launchType: 0,
  author: { pkh: H, skh: '' },
  socials: { twitter: '', discord: '', telegram: 'https://t.me/x', website: '' },
};

interface Layout {
  readonly what: string;
  readonly fields: number;
  readonly written: Constr;
  readonly read: (data: PlutusData) => unknown;
  readonly value: unknown;
  /** Fields that an earlier layout lacks. */
  readonly optional?: number;
}

const LAYOUTS: readonly Layout[] = [
  {
    what: 'pool',
    fields: 9,
    written: datums.poolData(pool),
    read: datums.readPoolData,
    value: pool,
  },
  {
    what: 'AMM',
    fields: 9,
    written: datums.ammData(amm),
    read: datums.readAmmData,
    value: amm,
    optional: 1,
  },
  {
    what: 'AMM without settings',
    fields: 8,
    written: datums.ammData(unset),
    read: datums.readAmmData,
    value: unset,
  },
  {
    what: 'settings',
    fields: 2,
    written: datums.settingsData(settings),
    read: (data) => datums.readSettingsData(data, 'testnet'),
    value: settings,
  },
  {
    what: 'order',
    fields: 11,
    written: datums.orderData(order),
    read: (data) => datums.readOrderData(data, 'testnet'),
    value: order,
  },
  {
    what: 'order that names no market',
    fields: 10,
    written: datums.orderData(unbound),
    read: (data) => datums.readOrderData(data, 'testnet'),
    value: unbound,
  },
  {
    what: 'lock',
    fields: 2,
    written: datums.lockData(lock),
    read: datums.readLockData,
    value: lock,
  },
  {
    what: 'metadata',
    fields: 8,
    written: metadataData(metadata),
    read: readMetadata,
    value: metadata,
  },
];

for (const { what, fields, written, read, value, optional = 0 } of LAYOUTS) {
  test(`reads the datum of a ${what} that it writes, and no other`, () => {
    assert.equal(written.fields.length, fields);
    assert.deepEqual(read(written), value);
    const others: PlutusData[] = [
      new Constr(1, written.fields),
      new Constr(0, [...written.fields, 0n]),
      new Constr(0, written.fields.slice(0, -1 - optional)),
      written.fields,
      7n,
      '',
    ];
    for (const other of others) assert.equal(read(other), null);
    for (const at of written.fields.keys()) {
      const wrong = written.fields.map((field, index) =>
        index === at ? new Constr(5, []) : field,
      );
      assert.equal(read(new Constr(0, wrong)), null, `field ${at}`);
    }
  });
}

test('writes the absent stake part as `Constr 1 []`, and the asset ADA as empty strings', () => {
  const [, stake] = datums.addressData(enterprise).fields;
  assert.deepEqual(stake, new Constr(1, []));
  assert.deepEqual(datums.readAddressData(datums.addressData(enterprise), 'testnet'), enterprise);
  assert.deepEqual(datums.assetData('.'), new Constr(0, ['', '']));
});

test('names a pool by the hash of its launch id', () => {
  const seed = { txHash: 'ee'.repeat(32), index: 3 };
  const id = { seed, creatorPkh: H, creatorSkh: '' };
  assert.deepEqual(datums.readLaunchId(datums.launchIdData(id)), id);
  const encoded = encodePlutusData(datums.launchIdData(id));
  assert.equal(datums.poolNftName(id), blake2b256(encoded));
});

test('a beacon is a hash over the smallest input and the index of the output', () => {
  const [small, large] = ['0a', '0b'].map((byte) => byte.repeat(32));
  const inputs = [
    { txHash: large ?? '', index: 0 },
    { txHash: small ?? '', index: 10 },
    { txHash: small ?? '', index: 9 },
  ];
  const message = fromHex(`${small}${'0'.repeat(15)}9${'0'.repeat(15)}2`);
  assert.equal(beacon(inputs, 2), blake2b224(message));
  assert.throws(() => beacon([], 0));
});

test('slots: the one that a moment lies in, its start, the first from a moment on', () => {
  const slots = { zeroTimeMs: 10_000, zeroSlot: 5, slotLengthMs: 50 };
  assert.deepEqual([slotStartMs(slots, 5), slotStartMs(slots, 7)], [10_000, 10_100]);
  assert.deepEqual(
    [9_999, 10_000, 10_049, 10_050].map((ms) => slotAt(slots, ms)),
    [4, 5, 5, 6],
  );
  assert.deepEqual(
    [9_951, 10_000, 10_001, 10_050].map((ms) => slotFrom(slots, ms)),
    [5, 5, 6, 6],
  );
});
