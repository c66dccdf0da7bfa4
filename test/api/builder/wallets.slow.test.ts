/** Which outputs are spent: those named and no others, few of a thousand; and bodies. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { NewOutput } from '../../../src/cardano/codec/encode.ts';
import { fromHex, toHex } from '../../../src/cardano/codec/hex.ts';
import { refText } from '../../../src/cardano/codec/output.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { addValues, asValue, coins, subtractValue } from '../../../src/cardano/codec/value.ts';
import type { TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { signedPayment } from '../../../src/devnet/payment.ts';
import { ADA, DevnetWorld, textField } from '../../e2e/devnet/world.ts';
import { keyNamed } from '../../support/ledgerWorld.ts';
import { named } from './table.ts';

const FEE = 1_000_000n;
const BATCH = 125;

/** Splits the funds of `trader` into this many more outputs; every fifth also holds a token. */
async function scatter(world: DevnetWorld, trader: TradingClient, token: string, outputs: number) {
  const { address } = trader.wallet;
  for (let made = 0; made < outputs; made += BATCH) {
    const utxos = (await trader.utxos()).filter(
      ({ value }) => value.lovelace > 100n * ADA || (value.assets.get(token) ?? 0n) > 1000n,
    );
    const held = addValues(...utxos.map(({ value }) => value));
    const small: NewOutput[] = Array.from({ length: BATCH }, (_, index) => ({
      address,
      value: index % 5 === 0 ? asValue(1_300_000n, [[token, 3n]]) : coins(1_500_000n),
    }));
    const spent = addValues(coins(FEE), ...small.map(({ value }) => value));
    const outs = [...small, { address, value: subtractValue(held, spent) }];
    const plan = { inputs: utxos.map(({ ref }) => ref), outputs: outs, feeLovelace: FEE };
    const { bytes } = signedPayment(plan, [keyNamed('alice')]);
    const sent = await world.post('/submit', { cbor: toHex(bytes) });
    assert.equal(sent.status, 200, sent.message);
    await world.mine();
  }
}

async function takesFewOfMany(world: DevnetWorld): Promise<void> {
  const alice = await world.funded('alice', 2_000);
  const { asset: token } = await world.launch(alice, { initialLovelace: 50n * ADA });
  await scatter(world, alice, token, 1000);
  const buy = { assetId: token, side: 'BUY', slippage: '15' } as const;
  const [, order] = await world.filled(alice, { ...buy, amount: 5n * ADA });
  assert.equal(order.state, 'executed');
  // Alice sends away her large outputs: only dust is left.
  const { address } = world.trader('bob').wallet;
  const large = (await alice.utxos()).filter(({ value }) => value.lovelace > 100n * ADA);
  const assets = new Map([[token, 3n]]);
  const rest = addValues(...large.map(({ value }) => value));
  await alice.transfer({ to: address, lovelace: rest.lovelace - 50n * ADA, assets });
  await world.mine();

  const request = { ...buy, amount: String(400n * ADA), changeAddress: alice.wallet.address };
  const refused = await world.post('/order', request);
  assert.deepEqual([refused.status, refused.cause], [500, 'UNKNOWN']);
  assert.match(refused.message, /consolidate/);
  const many = { assetId: token, amount: '500', side: 'SELL', slippage: '15' };
  const sale = await world.post('/order', { ...many, changeAddress: alice.wallet.address });
  assert.equal(sale.cause, 'MIN_TRADE_AMOUNT');
  for (let round = 0; round < 6; round += 1) {
    const own = { to: alice.wallet.address, lovelace: 'max', assets: new Map() } as const;
    await alice.transfer(own);
  }
  await world.mine();
  const [, filled] = await world.filled(alice, { ...buy, amount: 400n * ADA });
  assert.equal(filled.state, 'executed', 'and then it can');
}

async function assertNamedOnly(
  world: DevnetWorld,
  alice: TradingClient,
  token: string,
): Promise<void> {
  const utxos = await alice.utxos();
  const { address: changeAddress } = alice.wallet;
  const request = { assetId: token, side: 'BUY', slippage: '15', changeAddress };
  const pure = utxos.filter(({ value }) => value.assets.size === 0 && value.lovelace === 50n * ADA);
  const [first, second] = pure;
  assert(first !== undefined && second !== undefined);
  const inputsOf = (body: unknown) =>
    decodeTransaction(fromHex(textField(body, 'cbor') ?? '')).inputs.map(refText);
  const one = await world.post('/order', {
    ...request,
    amount: '5000000',
    utxos: [named(first.ref)],
  });
  assert.equal(one.status, 200, one.message);
  assert.deepEqual(inputsOf(one.body), [refText(first.ref)]);
  const twice = [named(first.ref), named(first.ref)];
  const poor = await world.post('/order', { ...request, amount: '60000000', utxos: twice });
  assert.deepEqual([poor.status, poor.cause], [500, 'UNKNOWN'], 'named twice is there once');
  const both = [named(first.ref), named(second.ref)];
  const rich = await world.post('/order', { ...request, amount: '60000000', utxos: both });
  assert.deepEqual(
    inputsOf(rich.body),
    both.map((_, at) => refText((pure[at] ?? first).ref)).sort(),
  );
  for (const stranger of [null, '', 'splash-wallet']) {
    const answer = await world.post('/order', { ...request, amount: '5000000', utxos: stranger });
    assert.equal(answer.status, 200, String(stranger));
  }
}

async function assertOwnCollateral(
  world: DevnetWorld,
  alice: TradingClient,
  token: string,
): Promise<void> {
  const request = { assetId: token, side: 'BUY', amount: 5n * ADA, slippage: '15' } as const;
  const { id } = await alice.order(request);
  const [txHash = '', index = ''] = id.split(':');
  const utxos = await alice.utxos();
  const own = utxos.find(({ value }) => value.assets.size === 0) ?? assert.fail();
  const body = { txHash, index, changeAddress: alice.wallet.address };
  const built = await world.post('/cancel', { ...body, collaterals: [named(own.ref)] });
  assert.equal(built.status, 200, built.message);
  assert.equal(Reflect.get(Object(built.body), 'partial'), false);
  const tx = decodeTransaction(fromHex(textField(built.body, 'cbor') ?? ''));
  assert.deepEqual([tx.keyWitnesses, tx.collateralInputs], [[], [own.ref]]);
}

async function assertForms(world: DevnetWorld): Promise<void> {
  const posts = ['/order', '/cancel', '/transfer', '/sign', '/sign-and-submit', '/submit'];
  for (const path of [...posts, '/create-lock', '/withdraw', '/getUtxos']) {
    const send = async (type: string, body: string) => {
      const init = { method: 'POST', headers: { 'content-type': type }, body };
      const response = await fetch(world.url + path, init);
      return [response.status, textField(await response.json(), 'cause')];
    };
    assert.deepEqual(await send('text/plain', '{}'), [415, 'UNSUPPORTED_MEDIA_TYPE'], path);
    assert.deepEqual(await send('application/json', '{'), [400, 'INVALID_PARAMS'], path);
    assert.deepEqual(await send('application/json', '[]'), [400, 'INVALID_PARAMS'], path);
    const large = `"${'a'.repeat(1_048_600)}"`;
    assert.deepEqual(await send('application/json', large), [413, 'PAYLOAD_TOO_LARGE'], path);
    const got = await fetch(world.url + path);
    assert.equal(got.status, 405, path);
    assert.match(got.headers.get('allow') ?? '', /POST/);
  }
  const parameters = await world.get('/parameters');
  assert.deepEqual(parameters.status, 200);
  const { deployScript, ...rest } = Object(parameters.body);
  assert.deepEqual(rest, {
    tokenEmission: '1000000000',
    aNum: '122525779519',
    aDenom: '1000000000000000000000000000',
    bNum: '2545182',
    bDenom: '1000000',
    adaThreshold: '18188400000',
    fixedFee: '500000',
    minTradeAda: '1000000',
    percentFee: 1,
  });
  assert.equal(deployScript, world.kit.txContext.deployment.launchPolicyId);
}

async function takesWhatIsNamed(t: TestContext, world: DevnetWorld): Promise<void> {
  const carol = await world.funded('carol', 50, 4);
  const { asset: token } = await world.launch(carol, { initialLovelace: 5n * ADA });
  await t.test('the outputs named are used and no others; what they are said to hold is not', () =>
    assertNamedOnly(world, carol, token),
  );
  await t.test('a caller’s own collateral: the server adds no signature', () =>
    assertOwnCollateral(world, carol, token),
  );
  await t.test('every building route describes its form', () => assertForms(world));
}

test('a wallet and its outputs', async (t) => {
  const world = await DevnetWorld.start(t);
  await t.test('outputs, collateral and bodies as a caller names them', (each) =>
    takesWhatIsNamed(each, world),
  );
  await t.test('a thousand outputs: an order spends few, or asks the owner to consolidate', () =>
    takesFewOfMany(world),
  );
});
