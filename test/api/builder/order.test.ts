/** Every refusal of /order, /quote, /cancel and /transfer over HTTP, in the stated order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import { parseRef } from '../../../src/cardano/codec/output.ts';
import { slotStartMs } from '../../../src/cardano/codec/slots.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import type { TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { ADA, DevnetWorld } from '../../e2e/devnet/world.ts';
import { recordOf } from '../../support/subscription.ts';
import { assertRefused, named, type Refused, serverOutputs, wrongAddresses } from './table.ts';

const UNKNOWN = `${'ab'.repeat(28)}.00`;
const BAD_PARAMS = { status: 400, cause: 'INVALID_PARAMS' } as const;
const FAILED = { status: 500, cause: 'SERVER_ERROR' } as const;
const because = (cause: string) => ({ status: 500, cause }) as const;
const GARBAGE = 'ffff';
const NO_OUTPUT = named({ txHash: 'ee'.repeat(32), index: 0 });

interface Scene {
  readonly world: DevnetWorld;
  readonly alice: TradingClient;
  readonly poor: TradingClient;
  readonly token: string;
  /** An output that was spent, and one unspent output of each key of the server. */
  readonly spent: string;
  readonly servers: readonly [string, string][];
}

async function setScene(world: DevnetWorld): Promise<Scene> {
  const alice = await world.funded('alice', 1000, 3);
  const poor = await world.funded('poor', 2);
  const [before] = await alice.utxos();
  const { asset } = await world.launch(alice, { initialLovelace: 50n * ADA });
  const { ref } = before ?? assert.fail('alice has outputs');
  const held = await world.chain.byRefs([ref]);
  const all = (await world.blocks()).flatMap((block) => block.transactions);
  const spent = held[0]?.state === 'spent' ? ref : all.flatMap(({ inputs }) => inputs).at(-1);
  assert.ok(spent !== undefined);
  const servers = (await serverOutputs(world)).map(([what, at]): [string, string] => [
    what,
    named(at),
  ]);
  assert.equal(servers.length, 2, 'funding UTxOs and collateral; the executor owns nothing');
  return { world, alice, poor, token: asset, spent: named(spent), servers };
}

function orderRows({ alice, poor, token, spent, servers }: Scene): Refused[] {
  const { address: changeAddress } = alice.wallet;
  const good = { assetId: token, amount: '5000000', side: 'BUY', slippage: '15', changeAddress };
  const row = (what: string, change: object, expected: Omit<Refused, 'what' | 'path'>): Refused => {
    return { what: `/order ${what}`, path: '/order', ...expected, body: { ...good, ...change } };
  };
  const none = undefined;
  const { wallet } = poor;
  const order = [
    ...['-1', '1.5', '0x10', ' 1', '1'.repeat(31), 5, none, null].map((amount) =>
      row(`amount ${amount}`, { amount, assetId: UNKNOWN }, BAD_PARAMS),
    ),
    ...['0', '-1', '1.5', '007', '1'.repeat(31), 5].map((minOutput) =>
      row(`minimum ${minOutput}`, { minOutput, assetId: UNKNOWN }, BAD_PARAMS),
    ),
    ...[0, 599, 2_592_001, 600.5, 'long'].map((waitFor) =>
      row(`wait ${waitFor}`, { waitFor, assetId: UNKNOWN }, BAD_PARAMS),
    ),
    ...[1, 59, 86_401, -1, 60.5, 'soon'].map((ttl) =>
      row(`end ${ttl}`, { ttl, assetId: UNKNOWN }, BAD_PARAMS),
    ),
    row('side', { side: 'buy', assetId: UNKNOWN }, BAD_PARAMS),
    row('slippage', { slippage: '16', assetId: UNKNOWN }, BAD_PARAMS),
    row('asset', { assetId: 'abc' }, BAD_PARAMS),
    row('no asset', { assetId: none }, BAD_PARAMS),
    row('the coin', { assetId: '.' }, BAD_PARAMS),
    row('no address', { changeAddress: none }, BAD_PARAMS),
    ...wrongAddresses().map(([what, wrong]) =>
      row(`${what} address`, { changeAddress: wrong, assetId: UNKNOWN }, BAD_PARAMS),
    ),
    row('utxos that are no hex', { utxos: ['zz'], assetId: UNKNOWN }, BAD_PARAMS),
    row('utxos by another name', { utxos: 'my-wallet', assetId: UNKNOWN }, BAD_PARAMS),
    row('utxos that are no CBOR', { utxos: [GARBAGE], assetId: UNKNOWN }, BAD_PARAMS),
    row('1001 utxos', { utxos: Array(1001).fill(NO_OUTPUT), assetId: UNKNOWN }, BAD_PARAMS),
    row('unknown asset', { assetId: UNKNOWN, amount: '0' }, because('ASSET_NOT_FOUND')),
  ];
  const least = because('MIN_TRADE_AMOUNT');
  const most = because('MAX_TRADE_AMOUNT');
  const limits = (['BUY', 'BUY_WITH_OUTPUT', 'SELL'] as const).map((side) =>
    row(`${side} of 0`, { side, amount: '0', changeAddress: wallet.address }, least),
  );
  return [
    ...order,
    ...limits,
    row('BUY of 0.999999 ADA', { amount: '999999' }, least),
    row('BUY_WITH_OUTPUT of 1', { side: 'BUY_WITH_OUTPUT', amount: '1' }, least),
    row('SELL of 1', { side: 'SELL', amount: '1' }, least),
    row('BUY past the cap', { amount: String(19_000n * ADA) }, most),
    row('BUY of 10^29', { amount: '1'.padEnd(30, '0') }, most),
    row('BUY_WITH_OUTPUT of all', { side: 'BUY_WITH_OUTPUT', amount: '1000000000' }, most),
    row('BUY_WITH_OUTPUT past the cap', { side: 'BUY_WITH_OUTPUT', amount: '990000000' }, most),
    row('SELL of too much', { side: 'SELL', amount: '900000000' }, most),
    row(
      'more than it gets',
      { minOutput: '900000000' },
      { status: 409, cause: 'PRICE_MOVED', says: /gives \d+ now/ },
    ),
    row('limits come before the wallet', { amount: '1', utxos: [spent] }, least),
    row('unknown utxos', { utxos: [NO_OUTPUT] }, BAD_PARAMS),
    row('spent utxos', { utxos: [spent] }, BAD_PARAMS),
    ...servers.map(([what, utxo]) => row(what, { utxos: [utxo] }, BAD_PARAMS)),
    row('no utxos', { utxos: [] }, { ...because('UNKNOWN'), says: /wallet/ }),
    row('poor', { changeAddress: wallet.address }, { ...because('UNKNOWN'), says: /wallet/ }),
    row(
      'tokens it has not',
      { side: 'SELL', amount: '10000000', changeAddress: wallet.address },
      {
        ...because('UNKNOWN'),
        says: /wallet lacks/,
      },
    ),
  ];
}

/** The same rows for /quote, which has no wallet. */
function quoteRows(rows: readonly Refused[]): Refused[] {
  const asked = rows.filter(
    ({ what }) => !/wallet|utxos|address|poor|has not|fee|collat/.test(what),
  );
  return asked.flatMap(({ what, body, status, cause }) => {
    const fields = Object.entries(Object(body)).filter(
      ([name, value]) => name !== 'changeAddress' && value !== undefined && value !== null,
    );
    const query = new URLSearchParams(
      fields.map(([name, value]): [string, string] => [name, String(value)]),
    );
    // A query has texts only.
    if (/(amount|minimum) 5$/.test(what)) return [];
    return [{ what: what.replace('/order', '/quote'), path: `/quote?${query}`, status, cause }];
  });
}

/**
 * A call with many quotes answers each of them as a call with one quote does; one malformed quote
 * refuses the whole call.
 */
async function assertManyQuotes({ world, token }: Scene): Promise<void> {
  const good = { assetId: token, amount: '5000000', side: 'BUY', slippage: '15' };
  const asked = [
    good,
    { ...good, assetId: UNKNOWN },
    { ...good, side: 'BUY_WITH_OUTPUT', amount: '1000000' },
    { ...good, amount: '1' },
    { ...good, assetId: token.toUpperCase(), side: 'SELL', amount: '900000000' },
    { ...good, slippage: 'infinity' },
    { ...good, minOutput: '900000000' },
    { ...good, minOutput: '77' },
  ];
  const many = await world.post('/quotes', asked);
  assert.equal(many.status, 200, many.message);
  assert.ok(Array.isArray(many.body) && many.body.length === asked.length);
  const causes: unknown[] = [];
  for (const [index, terms] of asked.entries()) {
    const one = await world.get(`/quote?${new URLSearchParams(terms)}`);
    const { error, expiresAt, validUntil, ...quote } = recordOf(many.body[index]);
    if (one.status === 200) {
      const { expiresAt: when, validUntil: end, ...expected } = recordOf(one.body);
      assert.deepEqual(quote, expected);
      assert.deepEqual([typeof expiresAt, typeof validUntil], [typeof when, typeof end]);
      continue;
    }
    const { cause, message } = one;
    assert.deepEqual(error, { cause, message, path: `body.${index}` });
    causes.push(cause);
  }
  const limits = ['MIN_TRADE_AMOUNT', 'MAX_TRADE_AMOUNT', 'PRICE_MOVED'];
  assert.deepEqual(causes, ['ASSET_NOT_FOUND', ...limits]);
  const bad: readonly [string, unknown][] = [
    ['none', []],
    ['no list', good],
    ['51', Array(51).fill(good)],
    ['the coin', [good, { ...good, assetId: '.' }]],
    ['side', [{ ...good, side: 'buy' }]],
    ['amount', [good, { ...good, amount: '1.5' }]],
    ['end', [good, { ...good, ttl: 59 }]],
  ];
  const rows = bad.map(([what, body]) => ({ what, path: '/quotes', body, ...BAD_PARAMS }));
  await assertRefused(world, rows);
}

async function cancelRows(scene: Scene, orderId: string): Promise<Refused[]> {
  const { alice, spent, servers } = scene;
  const { address: changeAddress } = alice.wallet;
  const [txHash = '', index = ''] = orderId.split(':');
  const good = { txHash, index, changeAddress };
  const row = (what: string, change: object, expected: Omit<Refused, 'what' | 'path'>): Refused => {
    return { what: `/cancel ${what}`, path: '/cancel', ...expected, body: { ...good, ...change } };
  };
  const gone = { txHash: 'ee'.repeat(32) };
  const [own] = await alice.utxos();
  assert.ok(own !== undefined);
  return [
    row('no hash', { txHash: undefined }, BAD_PARAMS),
    row('hash', { txHash: 'abc' }, BAD_PARAMS),
    ...['-1', 'x', 1.5, 65_536, '', null].map((at) =>
      row(`index ${at}`, { index: at }, BAD_PARAMS),
    ),
    ...wrongAddresses().map(([what, wrong]) =>
      row(`${what} address`, { ...gone, changeAddress: wrong }, BAD_PARAMS),
    ),
    row('utxos', { ...gone, utxos: [GARBAGE] }, BAD_PARAMS),
    row('unknown utxos', { ...gone, utxos: [NO_OUTPUT] }, BAD_PARAMS),
    row('spent utxos', { ...gone, utxos: [spent] }, BAD_PARAMS),
    row('collaterals', { ...gone, collaterals: [GARBAGE] }, BAD_PARAMS),
    row('collaterals by a name', { ...gone, collaterals: 'splash-wallet' }, BAD_PARAMS),
    row('unknown collaterals', { ...gone, collaterals: [NO_OUTPUT] }, BAD_PARAMS),
    ...servers.flatMap(([what, utxo]) => [
      row(`utxos ${what}`, { ...gone, utxos: [utxo] }, BAD_PARAMS),
      row(`collaterals ${what}`, { ...gone, collaterals: [utxo] }, BAD_PARAMS),
    ]),
    row('unknown order', gone, { ...FAILED, says: /order.*unknown/ }),
    row(
      'no order',
      { txHash: own.ref.txHash, index: String(own.ref.index) },
      {
        ...FAILED,
        says: /order.*no order/,
      },
    ),
  ];
}

function transferRows({ alice, poor, token, spent, servers }: Scene): Refused[] {
  const { address } = alice.wallet;
  const good = {
    changeAddress: address,
    distAddress: poor.wallet.address,
    transferAssets: { lovelace: '5000000' },
  };
  const path = '/transfer';
  const row = (what: string, change: object, expected: Omit<Refused, 'what' | 'path'>): Refused => {
    return { what: `/transfer ${what}`, path, ...expected, body: { ...good, ...change } };
  };
  const sent = (what: string, transferAssets: unknown, expected: Omit<Refused, 'what' | 'path'>) =>
    row(what, { transferAssets }, expected);
  const assets = (...listed: object[]) => ({ lovelace: '5000000', assets: listed });
  const one = { unit: token, amount: '1' };
  return [
    ...wrongAddresses().flatMap(([what, wrong]) => [
      row(`change to ${what}`, { changeAddress: wrong }, BAD_PARAMS),
      row(`to ${what}`, { distAddress: wrong }, BAD_PARAMS),
    ]),
    sent('nothing', undefined, BAD_PARAMS),
    sent('no amount', {}, BAD_PARAMS),
    ...['-1', 'all', '1.5', 5].map((lovelace) => sent(`${lovelace}`, { lovelace }, BAD_PARAMS)),
    sent('an asset that is none', assets({ unit: 'x', amount: '1' }), BAD_PARAMS),
    sent('ADA as an asset', assets({ unit: '.', amount: '1' }), BAD_PARAMS),
    sent('0 of an asset', assets({ unit: token, amount: '0' }), BAD_PARAMS),
    sent('an asset twice', assets(one, one), BAD_PARAMS),
    row('unknown utxos', { utxos: [NO_OUTPUT] }, BAD_PARAMS),
    row('spent utxos', { utxos: [spent] }, BAD_PARAMS),
    ...servers.map(([what, utxo]) => row(what, { utxos: [utxo] }, BAD_PARAMS)),
    sent('too little to stand', { lovelace: '1000' }, { ...FAILED, says: /^build: / }),
    sent(
      'tokens with too little',
      { lovelace: '0', assets: [one] },
      { ...FAILED, says: /^build: / },
    ),
    sent('more than there is', { lovelace: '999000000000' }, { ...FAILED, says: /^wallet: / }),
    sent('tokens it has not', assets({ unit: UNKNOWN, amount: '1' }), {
      ...FAILED,
      says: /^wallet: .*lacks 1 of/,
    }),
  ];
}

/** Orders and transfers that would spend an output of the server are refused. */
async function assertNothingOfOurs({ world, alice, token: asset }: Scene): Promise<void> {
  const { feeAddress, collateralKeyHash } = world.kit.txContext.deployment;
  const [collateral] = await world.chain.byPaymentKey(collateralKeyHash, 'spendable', { limit: 1 });
  const owned = collateral?.output.address ?? assert.fail();
  const order = { assetId: asset, amount: '5000000', side: 'BUY', slippage: '15' };
  const to = { distAddress: alice.wallet.address, transferAssets: { lovelace: 'max' } };
  const lock = { assetId: asset, amount: '1', lockEnd: world.nowMs + 60_000, stagesCount: 1 };
  const rows = [feeAddress, owned].flatMap((address): Refused[] => [
    { what: 'order', path: '/order', body: { ...order, changeAddress: address }, ...BAD_PARAMS },
    { what: 'send', path: '/transfer', body: { ...to, changeAddress: address }, ...BAD_PARAMS },
    { what: 'lock', path: '/create-lock', body: { ...lock, address }, ...BAD_PARAMS },
  ]);
  await assertRefused(world, rows);
}

test('orders, cancels and transfers are refused as the contract says', async (t) => {
  const world = await DevnetWorld.start(t);
  const scene = await setScene(world);
  const rows = orderRows(scene);

  await t.test('/order', () => assertRefused(world, rows));
  await t.test('/quote', () => assertRefused(world, quoteRows(rows)));
  await t.test('/quotes', () => assertManyQuotes(scene));
  await t.test('/transfer', () => assertRefused(world, transferRows(scene)));
  await t.test('/cancel', async () => {
    const { alice, token } = scene;
    const request = { assetId: token, side: 'BUY', amount: 5n * ADA, slippage: '15' } as const;
    const placed = await alice.order(request);
    await assertRefused(world, await cancelRows(scene, placed.id));
    const [tx = '', at = ''] = placed.id.split(':');
    const owner = { changeAddress: alice.wallet.address };
    const asked = await world.post('/cancel', { txHash: tx, index: at, ...owner, ttl: 60 });
    const { cbor, validUntil } = recordOf(asked.body);
    const { validToSlot } = decodeTransaction(fromHex(String(cbor)));
    assert.equal(validUntil, slotStartMs(world.kit.txContext.slots, validToSlot ?? 0));
    const done = await alice.cancel(placed.id);
    await world.mine();
    assert.equal(world.order(placed.id).closedTx, done.txHash);
    const [txHash = '', index = ''] = placed.id.split(':');
    const body = { txHash, index, changeAddress: alice.wallet.address };
    const again = { what: 'a spent order', path: '/cancel', body, ...FAILED, says: /is spent/ };
    await assertRefused(world, [again]);
  });
  await t.test('an index may be a number, and ids may be in any case', async () => {
    const { alice, token } = scene;
    const request = { assetId: token, side: 'BUY', amount: 5n * ADA, slippage: '15' } as const;
    const { id } = await alice.order(request);
    const ref = parseRef(id) ?? assert.fail();
    const body = { txHash: ref.txHash.toUpperCase(), index: ref.index };
    const built = await world.post('/cancel', { ...body, changeAddress: alice.wallet.address });
    assert.equal(built.status, 200, built.message);
    assert.equal(Reflect.get(Object(built.body), 'partial'), true);
  });
  await t.test('a server address gets nothing built and nothing signed', () =>
    assertNothingOfOurs(scene),
  );
});
