/** Transactions that break one rule of the ledger each, with the code that Ogmios gives. */
import { bech32 } from '@scure/base';
import {
  array,
  byteString,
  encodeAssets,
  encodeOutput,
  encodeRef,
  encodeRefs,
  map,
  tagged,
  uint,
} from '../../src/cardano/codec/encode.ts';
import { blake2b256, scriptHash } from '../../src/cardano/codec/hash.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { addressOf } from '../support/ledgerWorld.ts';
import { ALWAYS, ALWAYS_HASH, NEVER, type RawPlan } from '../support/rawTransaction.ts';
import { ADA, alice, bob, FEE, minting, pay, plain, TOKEN } from './judged.ts';
import {
  HELD,
  lockedByHash,
  MINT,
  NATIVE,
  NATIVE_HASH,
  type Place,
  SPEND,
  UNIT,
  unlocking,
} from './refusalPlace.ts';

const mintOf = (asset: string, amount = 5n) => encodeAssets(new Map([[asset, amount]]));
const account = (head: number, hash = alice.hash) =>
  byteString(fromHex(`${head.toString(16)}${hash}`));
const key = (hash: string) => array([uint(0), byteString(fromHex(hash))]);
const certificate = (...parts: Uint8Array[]) => ({ fields: { 4: array([array(parts)]) } });
const METADATA = map([[uint(1), uint(2)]]);
const METADATA_HASH = byteString(fromHex(blake2b256(METADATA)));
const NO_HASH = byteString(new Uint8Array(32));
const POOL = byteString(fromHex(bob.hash));
/** A mainnet address of Bob. */
const FOREIGN = bech32.encode('addr', bech32.toWords(fromHex(`61${bob.hash}`)), 200);

function foreignOutput(): Uint8Array {
  const address = bech32.fromWords(bech32.decode(FOREIGN, 200).words);
  return map([
    [uint(0), byteString(address)],
    [uint(1), uint(10n * ADA)],
  ]);
}

function scriptOutput(code: string): Uint8Array {
  const address = bech32.fromWords(bech32.decode(addressOf('bob'), 200).words);
  const script = array([uint(2), byteString(fromHex(code))]);
  return map([
    [uint(0), byteString(address)],
    [uint(1), uint(10n * ADA)],
    [uint(3), tagged(24, byteString(script))],
  ]);
}

const RETURN = encodeOutput(pay('alice', 990n * ADA - FEE));
const manyTokens = Array.from({ length: 200 }, (_, n) => {
  return [`${ALWAYS_HASH}.${n.toString(16).padStart(64, '0')}`, 1n] as const;
});
const FAILING = `${scriptHash(NEVER)}.746f6b`;

type Case = readonly [what: string, code: number, plan: RawPlan];

export function bodyCases(here: Place): Case[] {
  const { mine, bobs } = here;
  const unknown = { txHash: 'cc'.repeat(32), index: 0 };
  return [
    ['no input', 3121, plain(here, { inputs: [] })],
    [
      'an address of mainnet',
      3124,
      plain(here, { fields: { 1: array([foreignOutput(), RETURN]) } }),
    ],
    ['the network id of mainnet', 3124, plain(here, { fields: { 15: uint(1) } })],
    ['an end in the past', 3118, plain(here, { fields: { 3: uint(0) } })],
    ['a begin in the future', 3118, plain(here, { fields: { 8: uint(1_000) } })],
    ['one unknown input', 3117, plain(here, { inputs: [mine[0] ?? unknown, unknown] })],
    ['an unknown reference', 3117, plain(here, { fields: { 18: encodeRefs([unknown]) } })],
    ['unknown collateral', 3117, minting(here, { fields: { 13: encodeRefs([unknown]) } })],
    ['inputs that are all unknown', 3997, plain(here, { inputs: [unknown] })],
    [
      'a lovelace too much in outputs',
      3123,
      plain(here, { outputs: [pay('bob', 1_000n * ADA - FEE + 1n)] }),
    ],
    [
      'a lovelace too little in outputs',
      3123,
      plain(here, { outputs: [pay('bob', 1_000n * ADA - FEE - 1n)] }),
    ],
    [
      'tokens from nowhere',
      3123,
      plain(here, {
        outputs: [{ address: addressOf('bob'), value: asValue(1_000n * ADA - FEE, [[HELD, 1n]]) }],
      }),
    ],
    [
      'tokens that are lost',
      3123,
      plain(here, { inputs: [here.tokens], outputs: [pay('bob', 23n * ADA - FEE)] }),
    ],
    ['no fee', 3122, plain(here, { feeLovelace: 0n, outputs: [pay('bob', 1_000n * ADA)] })],
    [
      'a fee that is too small by far',
      3122,
      plain(here, { feeLovelace: 100_000n, outputs: [pay('bob', 1_000n * ADA - 100_000n)] }),
    ],
    [
      'an output of half an ADA',
      3125,
      plain(here, { outputs: [pay('bob', 500_000n), pay('alice', 1_000n * ADA - FEE - 500_000n)] }),
    ],
    [
      'an output of nothing',
      3125,
      plain(here, { outputs: [pay('bob', 0n), pay('alice', 1_000n * ADA - FEE)] }),
    ],
    [
      'a value of many tokens',
      3120,
      minting(here, {
        outputs: [
          { address: addressOf('bob'), value: asValue(90n * ADA, manyTokens) },
          pay('alice', 908n * ADA),
        ],
        fields: { 9: encodeAssets(new Map(manyTokens)) },
      }),
    ],
    [
      'a transaction of 20,000 bytes',
      3119,
      plain(here, {
        outputs: [{ ...pay('bob', 990n * ADA), datum: `5a00004e20${'00'.repeat(20_000)}` }],
        feeLovelace: 10n * ADA,
      }),
    ],
    ['no signature', 3101, plain(here, { keys: [] })],
    ['another signs', 3101, plain(here, { keys: [bob] })],
    [
      'a required signer is missing',
      3101,
      plain(here, { fields: { 14: array([byteString(fromHex(bob.hash))]) } }),
    ],
    [
      "somebody else's input beside one's own",
      3101,
      plain(here, {
        inputs: [mine[0] ?? unknown, bobs[0] ?? unknown],
        outputs: [pay('alice', 2_000n * ADA - FEE)],
      }),
    ],
    [
      'a signature of other bytes',
      3100,
      plain(here, { keys: [{ ...alice, sign: () => alice.sign(Uint8Array.of(1)) }] }),
    ],
    [
      'a right and a wrong signature',
      3100,
      plain(here, { keys: [alice, { ...bob, sign: () => bob.sign(Uint8Array.of(1)) }] }),
    ],
    ['a field that is none', -32602, plain(here, { fields: { 99: uint(1) } })],
    ['a negative amount', -32602, plain(here, { fields: { 2: Uint8Array.of(0x20) } })],
    ['metadata without their hash', 3105, plain(here, { auxiliary: METADATA })],
    ['the hash of no metadata', 3106, plain(here, { fields: { 7: METADATA_HASH } })],
    [
      'the hash of other metadata',
      3107,
      plain(here, { auxiliary: METADATA, fields: { 7: NO_HASH } }),
    ],
  ];
}

export function scriptCases(here: Place): Case[] {
  const { mine, bobs } = here;
  const failingOutputs = [
    { address: addressOf('bob'), value: asValue(10n * ADA, [[FAILING, 5n]]) },
    pay('alice', 988n * ADA),
  ];
  const nativeAsset = `${NATIVE_HASH}.01`;
  const nativeMint = {
    outputs: [
      { address: addressOf('bob'), value: asValue(1_000n * ADA - FEE, [[nativeAsset, 5n]]) },
    ],
    fields: { 9: mintOf(nativeAsset) },
  };
  const byHash = lockedByHash(here);
  const malformed = '4401020304';
  return [
    ['a script that is missing for a mint', 3102, minting(here, { scripts: [] })],
    [
      'a script that is missing for an input',
      3102,
      unlocking(here, here.locked, 20n, { scripts: [] }),
    ],
    ['a native script that is missing', 3102, plain(here, nativeMint)],
    [
      'a native script whose key does not sign',
      3103,
      plain(here, {
        ...nativeMint,
        fields: { ...nativeMint.fields, 3: uint(1_000) },
        witnesses: { 1: array([NATIVE]) },
      }),
    ],
    [
      'a native script whose time is not bounded',
      3103,
      plain(here, { ...nativeMint, keys: [alice, bob], witnesses: { 1: array([NATIVE]) } }),
    ],
    [
      'a native script of an input',
      3103,
      plain(here, {
        inputs: [here.native],
        outputs: [pay('bob', 22n * ADA - FEE)],
        witnesses: { 1: array([NATIVE]) },
      }),
    ],
    ['a script that nothing needs', 3104, minting(here, { scripts: [ALWAYS, NEVER] })],
    [
      'a native script that nothing needs',
      3104,
      plain(here, { witnesses: { 1: array([NATIVE]) } }),
    ],
    ['no redeemer for a mint', 3109, minting(here, { redeemers: [], fields: { 11: null } })],
    ['no redeemer for an input', 3109, unlocking(here, here.locked, 20n, { redeemers: [] })],
    ['a redeemer for a key', 3110, minting(here, { redeemers: [MINT, { ...SPEND, index: 0 }] })],
    [
      'a redeemer for a policy that is none',
      3110,
      minting(here, { redeemers: [MINT, { ...MINT, index: 1 }] }),
    ],
    ['no datum for a hash', 3111, unlocking(here, byHash.output, 30n, {})],
    ['a datum that is none of the hashes', 3112, minting(here, { datums: [UNIT] })],
    [
      'a datum beside an inline one',
      3112,
      unlocking(here, here.locked, 20n, { datums: [uint(8)] }),
    ],
    ['another integrity hash', 3113, minting(here, { fields: { 11: NO_HASH } })],
    ['no integrity hash', 3113, minting(here, { fields: { 11: null } })],
    ['an integrity hash of nothing', 3113, plain(here, { fields: { 11: NO_HASH } })],
    ['a script input without a datum', 3114, unlocking(here, here.orphan, 21n, {})],
    [
      'a malformed script in the witness set',
      3116,
      minting(here, {
        scripts: [malformed],
        outputs: [
          {
            address: addressOf('bob'),
            value: asValue(10n * ADA, [[`${scriptHash(malformed)}.01`, 5n]]),
          },
          pay('alice', 988n * ADA),
        ],
        fields: { 9: mintOf(`${scriptHash(malformed)}.01`) },
      }),
    ],
    [
      'a malformed script in an output',
      3116,
      plain(here, { fields: { 1: array([scriptOutput(malformed), RETURN]) } }),
    ],
    ['collateral of a script', 3129, minting(here, { fields: { 13: encodeRefs([here.locked]) } })],
    ['no collateral', 3132, minting(here, { fields: { 13: null } })],
    [
      'four collateral inputs',
      3131,
      minting(here, { fields: { 13: encodeRefs(mine.slice(0, 4)) } }),
    ],
    ['tokens as collateral', 3133, minting(here, { fields: { 13: encodeRefs([here.tokens]) } })],
    ['another total collateral', 3135, minting(here, { fields: { 17: uint(5n * ADA) } })],
    [
      'a collateral return of nearly everything',
      3128,
      minting(here, { fields: { 16: encodeOutput(pay('alice', 999n * ADA)) } }),
    ],
    [
      "somebody else's collateral",
      3101,
      minting(here, { fields: { 13: encodeRefs(bobs.slice(0, 1)) } }),
    ],
    [
      'too much memory',
      3134,
      minting(here, {
        redeemers: [{ ...MINT, memory: 100_000_000n }],
        feeLovelace: 20n * ADA,
        outputs: [{ address: addressOf('bob'), value: asValue(980n * ADA, [[TOKEN, 5n]]) }],
      }),
    ],
    [
      'too much CPU',
      3134,
      minting(here, {
        redeemers: [{ ...MINT, cpu: 100_000_000_000n }],
        feeLovelace: 20n * ADA,
        outputs: [{ address: addressOf('bob'), value: asValue(980n * ADA, [[TOKEN, 5n]]) }],
      }),
    ],
    [
      'a fee without the units',
      3122,
      minting(here, {
        redeemers: [{ ...MINT, cpu: 9_000_000_000n }],
        feeLovelace: FEE,
        outputs: [{ address: addressOf('bob'), value: asValue(1_000n * ADA - FEE, [[TOKEN, 5n]]) }],
      }),
    ],
    [
      'a script that fails',
      3136,
      minting(here, { scripts: [NEVER], outputs: failingOutputs, fields: { 9: mintOf(FAILING) } }),
    ],
    [
      'a script with too few units',
      3136,
      minting(here, { redeemers: [{ ...MINT, memory: 100n, cpu: 100n }] }),
    ],
    ['a script that succeeds, said to fail', 3136, minting(here, { isValid: false })],
    ['fewer tokens minted than made', 3123, minting(here, { fields: { 9: mintOf(TOKEN, 4n) } })],
  ];
}

export function stakingCases(here: Place): Case[] {
  const { hash } = bob;
  const withdrawn = (head: number) => ({ fields: { 5: map([[account(head), uint(0)]]) } });
  const voter = array([uint(2), byteString(fromHex(alice.hash))]);
  const votes = map([
    [
      voter,
      map([
        [encodeRef({ txHash: 'dd'.repeat(32), index: 0 }), array([uint(1), Uint8Array.of(0xf6)])],
      ]),
    ],
  ]);
  return [
    ['a withdrawal', 3141, plain(here, withdrawn(0xe0))],
    ['a withdrawal of mainnet', 3124, plain(here, withdrawn(0xe1))],
    [
      'the end of a key that is not registered',
      3146,
      plain(here, certificate(uint(1), key(alice.hash))),
    ],
    [
      'a delegation of a key that is not registered',
      3146,
      plain(here, certificate(uint(2), key(alice.hash), POOL)),
    ],
    ['a pool that retires and is none', 3140, plain(here, certificate(uint(4), POOL, uint(10)))],
    [
      'a registration with another deposit',
      3151,
      plain(here, certificate(uint(7), key(alice.hash), uint(1_000_000))),
    ],
    [
      'a registration that nothing pays for',
      3123,
      plain(here, certificate(uint(7), key(alice.hash), uint(2_000_000))),
    ],
    [
      'the end of a representative that is none',
      3153,
      plain(here, certificate(uint(17), key(hash), uint(500_000_000))),
    ],
    [
      'a committee member that is none',
      3154,
      plain(here, certificate(uint(14), key(hash), key(alice.hash))),
    ],
    ['a vote on a proposal that is none', 3138, plain(here, { fields: { 19: votes } })],
    [
      'a registration, which this devnet does not know',
      3997,
      plain(here, {
        ...certificate(uint(7), key(alice.hash), uint(2_000_000)),
        outputs: [pay('bob', 998n * ADA - FEE)],
      }),
    ],
  ];
}
