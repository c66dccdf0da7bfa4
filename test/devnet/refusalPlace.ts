/** Outputs of all kinds on a devnet, for transactions that must not be. */
import assert from 'node:assert/strict';
import { bech32 } from '@scure/base';
import { scriptAddress } from '../../src/cardano/codec/address.ts';
import {
  array,
  byteString,
  encodeOutput,
  encodeRefs,
  map,
  uint,
} from '../../src/cardano/codec/encode.ts';
import { blake2b256, languageScriptHash } from '../../src/cardano/codec/hash.ts';
import { fromHex, toHex } from '../../src/cardano/codec/hex.ts';
import type { OutputRef } from '../../src/cardano/codec/output.ts';
import { asValue, coins } from '../../src/cardano/codec/value.ts';
import { genesisUtxos } from '../../src/devnet/chainFile.ts';
import { devnetOptions } from '../support/devnetNode.ts';
import { addressOf } from '../support/ledgerWorld.ts';
import {
  ALWAYS,
  ALWAYS_HASH,
  type RawPlan,
  type RawRedeemer,
  rawTransaction,
} from '../support/rawTransaction.ts';
import { ADA, alice, bob, FEE, pay, plain } from './judged.ts';

export const UNIT = uint(7);
const UNITS = { memory: 1_000n, cpu: 1_000_000n };
export const SPEND: RawRedeemer = { tag: 0, index: 0, ...UNITS };
export const MINT: RawRedeemer = { tag: 1, index: 0, ...UNITS };
const ALWAYS_ADDRESS = scriptAddress('testnet', ALWAYS_HASH, null);
/** A signature of Bob, and a time that has not come. */
export const NATIVE = array([
  uint(1),
  array([array([uint(0), byteString(fromHex(bob.hash))]), array([uint(5), uint(1_000_000_000)])]),
]);
export const NATIVE_HASH = languageScriptHash(0, NATIVE);
export const HELD = `${'ab'.repeat(28)}.01`;

export function place() {
  const options = devnetOptions();
  const held = [
    { address: ALWAYS_ADDRESS, value: coins(20n * ADA), datum: toHex(UNIT) },
    { address: ALWAYS_ADDRESS, value: coins(21n * ADA) },
    { address: scriptAddress('testnet', NATIVE_HASH, null), value: coins(22n * ADA) },
    { address: addressOf('alice'), value: asValue(23n * ADA, [[HELD, 5n]]) },
    { address: addressOf('carol'), value: coins(24n * ADA), script: ALWAYS },
  ];
  const genesis = [...held, ...options.genesis];
  const all = genesisUtxos({ ...options, genesis });
  const holding = (lovelace: bigint, name?: string) =>
    all
      .filter(({ output }) => output.value.lovelace === lovelace * ADA)
      .filter(({ output }) => name === undefined || output.address === addressOf(name))
      .map(({ ref }) => ref);
  const [locked, orphan, native, tokens, script] = [20n, 21n, 22n, 23n, 24n].map((lovelace) => {
    return holding(lovelace)[0] ?? assert.fail();
  });
  assert.ok(locked && orphan && native && tokens && script);
  const mine = holding(1_000n, 'alice');
  const bobs = holding(1_000n, 'bob');
  return { options: { ...options, genesis }, locked, orphan, native, tokens, script, mine, bobs };
}

export type Place = ReturnType<typeof place>;

/** Alice spends a script's output, with her own output as collateral. */
export function unlocking(
  { mine }: Place,
  ref: OutputRef,
  lovelace: bigint,
  change: Partial<RawPlan>,
) {
  const { fields, ...rest } = change;
  const plan: RawPlan = {
    inputs: [ref],
    outputs: [pay('alice', lovelace * ADA - 2n * ADA)],
    feeLovelace: 2n * ADA,
    keys: [alice],
    scripts: [ALWAYS],
    redeemers: [SPEND],
    ...rest,
    fields: { 13: encodeRefs(mine.slice(1, 2)), ...fields },
  };
  return plan;
}

/** Locks coins with the hash of a datum. */
export function lockedByHash({ mine }: Place): { plan: RawPlan; output: OutputRef } {
  const address = bech32.fromWords(bech32.decode(ALWAYS_ADDRESS, 200).words);
  const hash = byteString(fromHex(blake2b256(UNIT)));
  const output = map([
    [uint(0), byteString(address)],
    [uint(1), uint(30n * ADA)],
    [uint(2), array([uint(0), hash])],
  ]);
  const back = encodeOutput(pay('alice', 970n * ADA - FEE));
  const spent = { mine: mine.slice(4) };
  const plan = plain(spent, { fields: { 1: array([output, back]) } });
  return { plan, output: { txHash: rawTransaction(plan).id, index: 0 } };
}
