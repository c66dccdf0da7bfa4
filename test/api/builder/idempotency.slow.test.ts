/** `Idempotency-Key` on a whole devnet: each route that builds, and until when an answer holds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtBefore } from '../../../src/api/builder/builtBefore.ts';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { pictureOf } from '../../../src/client/trade/picture.ts';
import { ADA, DevnetWorld, launchOf } from '../../e2e/devnet/world.ts';
import { refusalOf } from '../../support/apiError.ts';
import { untilAsked } from '../../support/until.ts';

const wallet = 'splash-wallet' as const;

interface Built {
  readonly cbor: string;
}

test('a repeat gets the same transaction, until its inputs are spent by another one', async (t) => {
  const world = await DevnetWorld.start(t);
  const { client } = world;
  const maker = await world.funded('maker', 1_000, 4);
  const alice = await world.funded('alice', 500, 1);
  const { asset: assetId } = await world.launch(maker);
  const changeAddress = alice.wallet.address;
  const order = { assetId, side: 'BUY', amount: '5000000', slippage: '15', utxos: wallet } as const;
  const build = async (idempotencyKey: string, more: object = {}) =>
    (await client.build.order({ ...order, changeAddress, ...more }, { idempotencyKey })).data;
  const submit = async ({ cbor }: Built) => {
    const witness = await alice.wallet.sign(cbor);
    return (await client.submit.signAndSubmit({ cbor, witness, changeAddress })).data.txHash;
  };

  const first = await build('a');
  assert.deepEqual(await build('a'), first);
  const other = await refusalOf(build('a', { amount: '6000000' }));
  assert.deepEqual([other.status, other.cause], [409, 'IDEMPOTENCY_CONFLICT']);
  const spelled = { assetId: assetId.toUpperCase(), utxos: 'splash-wallet', ttl: 7200 } as const;
  assert.deepEqual(await build('a', { ...spelled, amount: '05000000' }), first);

  const sent = await submit(first);
  assert.deepEqual(await build('a'), first, 'its inputs wait to be spent by it');
  assert.equal(await submit(await build('a')), sent, 'sent twice it happens once');
  await world.mine();
  assert.deepEqual(await build('a'), first, 'its inputs were spent by it');
  await world.spent(`${sent}:0`);
  assert.deepEqual(await build('a'), first, 'the order was filled');

  const second = await build('b');
  await submit(await build('c', { amount: '7000000' }));
  // The builder's view of the wallet may be a moment behind what was submitted.
  const again = await untilAsked(
    'its inputs were spent by another one',
    () => build('b'),
    ({ cbor }) => cbor !== second.cbor,
  );
  const ids = (built: Built) => decodeTransaction(fromHex(built.cbor)).inputs;
  assert.notDeepEqual(ids(again), ids(second));
  assert.deepEqual(await build('b'), again, 'now this one is kept');
});

test('an answer is over at its end, unless its transaction was accepted', async (t) => {
  const world = await DevnetWorld.start(t);
  const maker = await world.funded('maker', 1_000, 4);
  const alice = await world.funded('alice', 100, 2);
  const { asset: assetId } = await world.launch(maker);
  const changeAddress = alice.wallet.address;
  const body = { assetId, side: 'BUY', amount: '5000000', slippage: '15', ttl: 60 } as const;
  const { data } = await world.client.build.order({ ...body, changeAddress, utxos: wallet });
  const { validUntil, cbor } = data;
  assert(typeof validUntil === 'number');
  const { utxos, clock } = world.kit.txContext;
  const isCurrentAt = (nowMs: number) =>
    builtBefore({ utxos, clock: { ...clock, nowMs: () => nowMs } }).isCurrent({
      body: JSON.stringify(data),
    });
  assert.equal(await isCurrentAt(validUntil - 1), true);
  assert.equal(await isCurrentAt(validUntil), false);
  const endless = JSON.stringify({ ...data, validUntil: null });
  assert.equal(await builtBefore({ utxos, clock }).isCurrent({ body: endless }), true);
  const witness = await alice.wallet.sign(cbor);
  await world.client.submit.signAndSubmit({ cbor, witness, changeAddress });
  await world.mine();
  assert.equal(await isCurrentAt(validUntil), true, 'a new one would happen a second time');
});

test('launches, locks, cancels and transfers are repeated as well', async (t) => {
  const world = await DevnetWorld.start(t);
  const { client } = world;
  const maker = await world.funded('maker', 1_000, 4);
  const alice = await world.funded('alice', 500, 4);
  const { asset: assetId } = await world.launch(maker);
  const buy = { assetId, side: 'BUY', amount: 25n * ADA, slippage: '15' } as const;
  await world.filled(alice, buy);
  const placed = await alice.order({ ...buy, amount: 5n * ADA });
  const [txHash = '', index = ''] = placed.id.split(':');
  const { address } = alice.wallet;
  const funding = { changeAddress: address, utxos: wallet };
  const collateral = { ...funding, collaterals: null };
  const assets = [{ unit: assetId, amount: '1000' }];
  const transfer = { ...funding, distAddress: maker.wallet.address };
  const { initialLovelace, image, ...info } = launchOf({ name: 'Twice' });
  const launch = { ...info, ...collateral, initialDeposit: String(initialLovelace) };
  const lockEnd = world.nowMs + 3_600_000;
  const lock = { address, assetId, amount: '1000', lockEnd, stagesCount: 2 };
  type Build = (idempotencyKey: string) => Promise<Built>;
  const builds: Readonly<Record<string, Build>> = {
    cancel: async (idempotencyKey) =>
      (await client.build.cancel({ txHash, index, ...collateral }, { idempotencyKey })).data,
    transfer: async (idempotencyKey) => {
      const body = { ...transfer, transferAssets: { lovelace: '2000000', assets } };
      return (await client.build.transfer(body, { idempotencyKey })).data;
    },
    createLock: async (idempotencyKey) =>
      (await client.vesting.createLock(lock, { idempotencyKey })).data,
    launch: async (idempotencyKey) =>
      (await client.build.launch({ ...launch, image }, { idempotencyKey })).data,
  };
  for (const [name, build] of Object.entries(builds)) {
    const first = await build('k');
    await world.mine();
    assert.deepEqual(await build('k'), first, name);
  }
  const another = new Blob([pictureOf('another')], { type: 'image/png' });
  const picture = await refusalOf(
    client.build.launch({ ...launch, image: another }, { idempotencyKey: 'k' }),
  );
  assert.deepEqual([picture.status, picture.cause], [409, 'IDEMPOTENCY_CONFLICT']);
});
