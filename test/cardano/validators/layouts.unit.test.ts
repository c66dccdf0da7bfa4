/**
 * The server's data on the chain equals the data that the validators were tested with, byte for
 * byte.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Constr, Data } from '@lucid-evolution/lucid';
import { parseAddress } from '../../../src/cardano/codec/address.ts';
import { encodePlutusData, type PlutusData } from '../../../src/cardano/codec/plutusData.ts';
import * as ours from '../../../src/cardano/datums/datums.ts';
import { ammDatum, curveDatum, launched, orderDatum, REFUND_AFTER_MS } from './layouts.ts';
import { A_NUM, ALICE, B_NUM, CAP, CREATOR, DEPOSIT, EXECUTOR, ORDER_FEE, world } from './world.ts';

const of = world('release');
const ids = launched(of);
const split = (unit: string) => `${unit.slice(0, 56)}.${unit.slice(56)}`;
const asset = { nft: split(ids.nft), token: split(ids.token) };

function same(server: PlutusData, tried: Constr<Data>): void {
  assert.equal(Buffer.from(encodePlutusData(server)).toString('hex'), Data.to<Data>(tried));
}

test('a pool on the curve', () => {
  const witnesses = { witness1: of.hash('ammPool'), witness2: of.settingsId };
  const parties = { executor: EXECUTOR.pkh, ...witnesses };
  const terms = { aNum: A_NUM, bNum: B_NUM, capLovelace: CAP };
  same(ours.poolData({ ...asset, ...terms, ...parties }), curveDatum(of, ids));
});

test('a pool on the AMM', () => {
  const creator = { creatorPkh: CREATOR.pkh, creatorSkh: CREATOR.skh };
  const rest = {
    lpFeePer10k: 15n,
    executor: EXECUTOR.pkh,
    owedLovelace: 5n,
    settings: of.settingsId,
  };
  same(ours.ammData({ ...asset, ...creator, ...rest }), ammDatum(of, ids, { owed: 5n }));
});

test('an order, with and without stake part', () => {
  for (const to of [ALICE.address, ALICE.enterprise]) {
    const redeemer = parseAddress(to);
    assert.ok(redeemer);
    const server = ours.orderData({
      redeemer,
      input: '.',
      output: asset.token,
      worstPrice: { numerator: 3n, denominator: 100n },
      feeLovelace: ORDER_FEE,
      depositLovelace: DEPOSIT,
      executor: EXECUTOR.pkh,
      refundAfterMs: BigInt(REFUND_AFTER_MS),
      owner: ALICE.pkh,
      poolNft: asset.nft,
    });
    const sides = { input: '', output: ids.token, market: ids.nft } as const;
    const terms = { ...sides, worst: [3n, 100n], redeemer: to } as const;
    same(server, orderDatum(terms));
  }
});

test('a launch id and the name that follows from it', () => {
  const seed = { txHash: 'aa'.repeat(32), index: 0 };
  const id = { seed, creatorPkh: CREATOR.pkh, creatorSkh: CREATOR.skh };
  same(ours.launchIdData(id), ids.id);
  assert.equal(of.policyId + ours.poolNftName(id), ids.nft);
});
