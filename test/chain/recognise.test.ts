/** Hostile look-alikes are ignored: only outputs of the market's own scripts count. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatAddress } from '../../src/cardano/codec/address.ts';
import { type OutputRef, refText } from '../../src/cardano/codec/output.ts';
import { Constr } from '../../src/cardano/codec/plutusData.ts';
import { asValue, coins } from '../../src/cardano/codec/value.ts';
import {
  ammData,
  lockData,
  orderData,
  type PoolDatum,
  poolData,
} from '../../src/cardano/datums/datums.ts';
import { dataHex } from '../../src/cardano/transactions/plan.ts';
import type { MarketEvent } from '../../src/engine/market/events.ts';
import {
  ADA,
  ALICE,
  aliceText,
  atScript,
  deployment,
  eventOf,
  failing,
  kindsOf,
  type LaunchChange,
  launchOf,
  longer,
  meaningOf,
  someRef,
  transaction,
} from './recogniseWorld.ts';

const OTHER = '5c'.repeat(28);

describe('launches', () => {
  test('an honest one is reported with its metadata, its initial buy and its place', () => {
    const { tx, token, nft, pool } = launchOf('Honest');
    const events = meaningOf(tx);
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['launched', 'filled', 'moved', 'made', 'made'],
    );
    const { pool: told } = eventOf(events, 'launched');
    assert.deepEqual(
      [told.token, told.nft, told.name, told.ticker],
      [token, nft, 'Honest', 'TICK'],
    );
    assert.equal(told.author.address, aliceText);
    const { tokens, lovelace, side } = eventOf(events, 'filled');
    assert.deepEqual([side, tokens, lovelace], ['buy', '1000', String(2n * ADA)]);
    assert.equal(eventOf(events, 'moved').ref, refText(pool));
  });

  const bad: [string, LaunchChange][] = [
    ['a forged NFT policy', { nftPolicy: OTHER }],
    ['two NFTs of one name', { nftMinted: 2n }],
    ['an NFT that is burned', { nftMinted: -1n }],
    ['an NFT that is not minted', { mint: new Map([[`${OTHER}.00`, 1n]]) }],
    ['a pool without its NFT', { nftInPool: 0n }],
    ['a forged token policy', { tokenPolicy: OTHER }],
    ['a token more', { supply: 1_000_000_001n }],
    ['a token less', { supply: 999_999_999n }],
    ['the datum of another pool', { datum: { nft: `${deployment.launchPolicyId}.00` } }],
    ['the datum of another token', { datum: { token: `${OTHER}.00` } }],
    ['a flatter curve', { datum: { aNum: deployment.curve.aNum - 1n } }],
    ['a cheaper curve', { datum: { bNum: deployment.curve.bNum - 1n } }],
    ['another cap', { datum: { capLovelace: 1n } }],
    ['another AMM', { datum: { witness1: OTHER } }],
    ['other settings', { datum: { witness2: OTHER } }],
    ['no datum', { data: null }],
    ['a datum that is something else', { data: dataHex(lockData({ unlockMs: 1n, owner: OTHER })) }],
    ['a pool at a key', { address: aliceText }],
    ['a pool at the order script', { address: atScript('order') }],
    ['a pool at the AMM', { address: atScript('ammPool') }],
    ['a pool with somebody’s stake part', { address: atScript('curvePool', ALICE.stake) }],
  ];
  for (const [what, change] of bad) {
    test(`${what} is no launch`, () =>
      assert.deepEqual(kindsOf(launchOf('Forged', change).tx), []));
  }

  test('the executor of a launch is the one of its day', () => {
    const { tx } = launchOf('Rotated', { datum: { executor: OTHER } });
    assert.ok(kindsOf(tx).includes('launched'));
  });

  test('a datum with a field more is no launch', () => {
    const { token, nft } = launchOf('Longer');
    const { curve, executorKeyHash: executor, settings } = deployment;
    const witness2 = settings.policyId;
    const datum: PoolDatum = {
      nft,
      token,
      ...curve,
      executor,
      capLovelace: 1n,
      witness1: '',
      witness2,
    };
    assert.deepEqual(kindsOf(launchOf('Longer', { data: longer(poolData(datum)) }).tx), []);
  });

  test('metadata of another place or of another token are not believed', () => {
    for (const change of [{ metadataAt: aliceText }, { metadataOf: `${OTHER}.00` }]) {
      const { pool } = eventOf(meaningOf(launchOf('Silent', change).tx), 'launched');
      assert.deepEqual([pool.ticker, pool.description, pool.metadataRef], ['', '', null]);
    }
  });

  test('a token of somebody else means nothing', () => {
    const value = asValue(2n * ADA, [[`${OTHER}.00`, 5n]]);
    assert.deepEqual(kindsOf(transaction({ outputs: [{ address: aliceText, value }] })), []);
  });
});

describe('pools', () => {
  const launched = launchOf('Pooled');
  const { tx: launch, token, nft, pool } = launched;
  const spend = (outputs: { address: string; value: ReturnType<typeof coins>; datum?: string }[]) =>
    meaningOf(launch, transaction({ inputs: [pool], outputs, spends: { 0: new Constr(0, [0n]) } }));
  const all = asValue(5n * ADA, [
    [nft, 1n],
    [token, 999_999_000n],
  ]);
  const curve: PoolDatum = {
    nft,
    token,
    aNum: 1n,
    bNum: 1n,
    executor: OTHER,
    capLovelace: 1n,
    witness1: '',
    witness2: '',
  };
  const moves = (events: readonly MarketEvent[]) =>
    events.filter(({ kind }) => !/spent|made/.test(kind)).map(({ kind }) => kind);

  test('one that is spent without a successor trades nothing', () => {
    assert.deepEqual(moves(spend([])), []);
    assert.deepEqual(moves(spend([{ address: aliceText, value: all }])), []);
    const lone = asValue(2n * ADA, [[token, 7n]]);
    assert.deepEqual(moves(spend([{ address: aliceText, value: lone }])), []);
  });
  test('a successor with the datum of another pool is none', () => {
    const datum = dataHex(poolData({ ...curve, nft: `${OTHER}.00` }));
    assert.deepEqual(moves(spend([{ address: atScript('curvePool'), value: all, datum }])), []);
    const amm = { nft: `${OTHER}.00`, token, lpFeePer10k: 15n, executor: OTHER };
    const creator = { creatorPkh: OTHER, creatorSkh: '', settings: deployment.settings.policyId };
    const data = ammData({ ...amm, ...creator, owedLovelace: 0n });
    const output = { address: atScript('ammPool'), value: all, datum: dataHex(data) };
    assert.deepEqual(moves(spend([output])), []);
  });
  test('a successor without the NFT is none', () => {
    const datum = dataHex(poolData(curve));
    const value = asValue(5n * ADA, [[token, 999_999_000n]]);
    assert.deepEqual(moves(spend([{ address: atScript('curvePool'), value, datum }])), []);
  });
  test('a second output that looks like the pool moves nothing', () => {
    const datum = dataHex(poolData(curve));
    const value = asValue(5n * ADA, [[token, 7n]]);
    const outputs = [{ address: atScript('curvePool'), value, datum }];
    const kinds = kindsOf(launch, transaction({ outputs }));
    assert.deepEqual(kinds, ['made']);
  });
  test('one that moves whole trades nothing, but has a new place', () => {
    const datum = dataHex(poolData(curve));
    const events = spend([{ address: atScript('curvePool'), value: all, datum }]);
    assert.deepEqual(moves(events), ['moved']);
  });
});

describe('scripts that fail', () => {
  const { tx: launch, token } = launchOf('Lost');
  const held = transaction({
    outputs: [{ address: aliceText, value: asValue(9n * ADA, [[token, 9n]]) }],
  });
  const collateral: OutputRef = { txHash: held.id, index: 0 };
  const bob = formatAddress({ ...ALICE, payment: { kind: 'key', hash: OTHER } });

  test('move tokens as collateral, and nothing else', () => {
    const back = { address: bob, value: asValue(8n * ADA, [[token, 9n]]) };
    const outputs = [{ address: bob, value: asValue(2n * ADA, [[token, 5n]]) }];
    const events = meaningOf(launch, held, failing([collateral], back, outputs));
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['spent', 'made'],
    );
    const { ref, address, assets } = eventOf(events, 'made');
    assert.deepEqual([address, assets], [bob, { [token]: '9' }]);
    assert.match(ref, /:1$/, 'the return stands behind the outputs');
  });
  test('place no order, launch nothing, lock nothing', () => {
    const back = { address: bob, value: coins(8n * ADA) };
    const { fees, executorKeyHash: executor } = deployment;
    const data = orderData({
      redeemer: ALICE,
      input: '.',
      output: token,
      worstPrice: { numerator: 1n, denominator: 1n },
      feeLovelace: fees.executorFeeLovelace,
      depositLovelace: fees.orderDepositLovelace,
      executor,
      refundAfterMs: 1n,
      owner: OTHER,
      poolNft: launchOf('Placed').nft,
    });
    const order = { address: atScript('order'), value: coins(7_600_000n), datum: dataHex(data) };
    assert.deepEqual(kindsOf(launch, failing([someRef()], back, [order])), []);
    const { tx } = launchOf('Failed');
    assert.deepEqual(kindsOf({ ...tx, isValid: false }), []);
  });
});
