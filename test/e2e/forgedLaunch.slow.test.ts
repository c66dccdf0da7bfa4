/**
 * Launches that the scripts let through, or never see, and that are none: the token or the NFT is
 * of a policy that mints for anybody. They lie at the real curve validator, with the right datum.
 * No list has them, no quote is given, no order of theirs is built or filled.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../src/cardano/codec/address.ts';
import { doubledScriptHash } from '../../src/cardano/codec/hash.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import { lookUpReferences } from '../../src/cardano/transactions/chainData.ts';
import { planLaunch } from '../../src/cardano/transactions/launch.ts';
import { planOrder } from '../../src/cardano/transactions/order.ts';
import type { TransactionPlan } from '../../src/cardano/transactions/plan.ts';
import { addWitnesses } from '../../src/cardano/transactions/witness.ts';
import { newestSettings } from '../../src/chain/settings.ts';
import { quoteLaunch } from '../../src/engine/market/quote.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { keyNamed } from '../support/ledgerWorld.ts';
import { ADA, DevnetWorld } from './devnet/world.ts';

/** PlutusV2 in two layers of CBOR; both succeed with any input. The first has a parameter. */
const ANY_TOKEN_TEMPLATE = '4746010000222499';
const ANY_LAUNCH = '4746010000220021';
const FORGED_LAUNCH = doubledScriptHash(ANY_LAUNCH);
const METADATA = {
  ...{ ticker: 'FAKE', logoCID: `bafkrei${'a'.repeat(52)}`, description: 'A forgery' },
  mediaType: 'image/png',
  launchType: 0,
  socials: { twitter: '', discord: '', telegram: '', website: '' },
};
const LISTS = ['New', 'Latest', 'Trending', 'MCapDesc', 'CompletedCreateOn', 'CompletedMCap'];

test('a forged launch is in no list, gets no quote, and no order of it is filled', async (t) => {
  const world = await DevnetWorld.start(t);
  const alice = await world.funded('alice', 3000, 6);
  const { asset: honest } = await world.launch(alice, { name: 'Honest' });
  const { txContext } = world.kit;
  const { deployment, utxos, builder } = txContext;
  const key = keyNamed('alice');
  const owner = parseAddress(alice.wallet.address) ?? assert.fail();
  const wallet = () => utxos.byPaymentKey(key.hash, 'spendable');

  const send = async (plan: TransactionPlan): Promise<string> => {
    const built = await builder.build(plan);
    assert.ok(
      'outcome' in built && built.outcome === 'built',
      'message' in built ? built.message : '',
    );
    const { publicKey } = key;
    const signature = key.sign(fromHex(built.id));
    const signed = addWitnesses(built.bytes, [{ publicKey, signature }]);
    const sent = await world.chain.submit(signed);
    assert.equal(sent.outcome, 'accepted', JSON.stringify(sent));
    await world.mine();
    return built.id;
  };

  /** By the real launch policy with a token of another, or with an NFT of another policy. */
  const forge = async (name: string, launchPolicyId: string) => {
    const { curve, thresholdLovelace, fees, scripts } = deployment;
    const quote = quoteLaunch(curve, thresholdLovelace, fees, 20n * ADA);
    assert.ok(quote.outcome === 'launch');
    const references = await lookUpReferences(utxos, [scripts.launchPolicy]);
    const settings = await newestSettings(txContext.store(), utxos, deployment);
    assert.ok(!(references instanceof Failure) && settings !== null);
    const held = await wallet();
    const pure = held.filter(({ output }) => output.value.assets.size === 0);
    const collateral = { utxos: pure.slice(0, 1), returnAddress: alice.wallet.address };
    const planned = planLaunch(
      { ...deployment, launchPolicyId, tokenPolicyTemplate: ANY_TOKEN_TEMPLATE },
      { creator: owner, name, metadata: METADATA, quote },
      {
        ...{ wallet: held, collateral, references: [...references, settings.utxo] },
        parameters: txContext.parameters(),
      },
    );
    assert.ok(!(planned instanceof Failure));
    const { plan, nft, token } = planned;
    const mints = plan.mints.map((mint) =>
      mint.policyId === FORGED_LAUNCH ? { ...mint, script: ANY_LAUNCH } : mint,
    );
    await send({ ...plan, mints });
    return { token, poolNft: nft };
  };

  const forgeries = [
    await forge('FakeToken', deployment.launchPolicyId),
    await forge('FakeLaunch', FORGED_LAUNCH),
  ];
  for (const { token, poolNft } of forgeries) {
    const [pool] = (await utxos.byAsset(poolNft, 'spendable')).map(({ output }) => output);
    assert.ok(pool && (pool.value.assets.get(token) ?? 0n) > 0n, 'it lies on the chain');
  }

  const orders = [];
  for (const { token, poolNft } of forgeries) {
    const quoted = await world.get(`/quote?assetId=${token}&side=BUY&amount=5000000&slippage=15`);
    assert.equal(quoted.cause, 'ASSET_NOT_FOUND');
    const terms = { assetId: token, side: 'BUY', amount: '5000000', slippage: '15' };
    const changeAddress = alice.wallet.address;
    const ordered = await world.post('/order', { ...terms, changeAddress });
    assert.equal(ordered.cause, 'ASSET_NOT_FOUND');
    const request = {
      ...{ owner, token, poolNft, executor: deployment.executorKeyHash, inputAmount: 9n * ADA },
      kind: 'buy',
      worstPrice: { numerator: 1n, denominator: 1_000_000_000n },
    } as const;
    const { plan } = planOrder(deployment, request, await wallet(), Date.now());
    orders.push(await send(plan));
  }
  for (const filter of LISTS) {
    const { status, body } = await world.get(`/v1/pools-main-page/initial/state?filter=${filter}`);
    assert.equal(status, 200);
    const text = JSON.stringify(body);
    for (const { token } of forgeries) assert.ok(!text.includes(token), `${filter}: ${token}`);
    if (filter === 'New') assert.ok(text.includes(honest), 'the honest one is there');
  }

  // The executor is at work: an honest order is filled meanwhile.
  const buy = { assetId: honest, side: 'BUY', amount: 9n * ADA, slippage: '50' } as const;
  const [, filled] = await world.filled(alice, buy);
  assert.equal(filled.state, 'executed');
  await world.mine(3);
  for (const id of orders) {
    const [found] = await utxos.byRefs([{ txHash: id, index: 0 }]);
    assert.equal(found?.state, 'unspent', 'it is not filled');
    assert.equal(world.row('orders', `${id}:0`), null, 'it is no order here');
    await alice.cancel(`${id}:0`);
  }
  await world.mine();
  for (const id of orders) {
    const [found] = await utxos.byRefs([{ txHash: id, index: 0 }]);
    assert.notEqual(found?.state, 'unspent', 'its owner has it back');
  }
});
