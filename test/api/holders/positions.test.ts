/** Trading metrics, the card of profit and the balance in ADA over HTTP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/compile';
import {
  AssetBalanceOrNull,
  PnlCardOrNull,
  TradingMetricsOrNull,
} from '../../../src/api/holders/schema.ts';
import { hashOf, ownerOf } from '../../chain/foldState.ts';
import {
  adaText,
  metricsTruth,
  nearest,
  profitOf,
  spotNow,
  walletTruth,
} from '../../chain/walletTruth.ts';
import { recordOf } from '../../support/subscription.ts';
import { buyOf, EXECUTE, give, launchBy, sellOf, WalletApi } from './wallets.ts';

const METRICS = '/v1/orders-feed/metrics';
const CARD = '/balances/v1/user/pnl-card';
const BALANCE = '/balances/v1/asset/asset-balance';
const UNKNOWN = `${'ab'.repeat(28)}.00`;
const STRANGER = hashOf('stranger', 56);
const metrics = Compile(TradingMetricsOrNull);
const card = Compile(PnlCardOrNull);
const balance = Compile(AssetBalanceOrNull);

function metricsIn({ blocks, token, api }: WalletApi, pkh: string): object | null {
  const { fills, balances } = walletTruth(blocks);
  const own = fills.get(`${pkh}/${token}`);
  if (own === undefined) return null;
  const held = balances.get(`${pkh}/${token}`) ?? 0n;
  return { asset: token, pkh, ...metricsTruth(own, spotNow(api.pool()), held) };
}

function cardIn({ blocks, token, api }: WalletApi, keys: readonly string[]): object | null {
  let [invested, gain] = [0n, 0n];
  for (const pkh of keys) {
    const own = walletTruth(blocks).fills.get(`${pkh}/${token}`) ?? [];
    for (const { side, lovelace } of own) if (side === 'buy') invested += lovelace;
    const { realized, unrealized } = profitOf(own, spotNow(api.pool()));
    gain += realized + unrealized;
  }
  if (invested === 0n) return null;
  const hundredths = nearest(gain * 10_000n, invested);
  // A percentage has four decimals; `adaText` prints six, and the last two are zeros here.
  const pnlPercent = adaText(hundredths * 10_000n).slice(0, -4);
  return {
    asset: token,
    pnlPercent,
    investedAda: adaText(invested),
    currentAdaGain: adaText(gain),
  };
}

function worthIn({ blocks, token, api }: WalletApi, keys: readonly string[]): object | null {
  const { balances } = walletTruth(blocks);
  const held = keys.reduce((sum, pkh) => sum + (balances.get(`${pkh}/${token}`) ?? 0n), 0n);
  if (held === 0n) return null;
  const { top, bottom } = spotNow(api.pool());
  return { balance: Number(nearest(held * top, bottom)) / 1_000_000 };
}

async function checkAll(api: WalletApi): Promise<void> {
  const { token } = api;
  for (const user of [0, 1, 2, 3]) {
    const found = await api.get(METRICS, { asset: token, pkh: ownerOf(user) });
    assert.deepEqual(found, metricsIn(api, ownerOf(user)), `user ${user}`);
    assert.deepEqual([...metrics.Errors(found)], []);
  }
  for (const users of [[0], [1], [2], [3], [0, 1], [3, 2, 1, 0]]) {
    const keys = users.map(ownerOf);
    const cardFound = await api.post(CARD, token, keys);
    assert.deepEqual(cardFound, cardIn(api, keys), `card of ${users}`);
    assert.deepEqual([...card.Errors(cardFound)], []);
    const worth = await api.post(BALANCE, token, keys);
    assert.deepEqual(worth, worthIn(api, keys), `balance of ${users}`);
    assert.deepEqual([...balance.Errors(worth)], []);
  }
}

test('positions, cards and balances follow every fill and transfer, and rollbacks', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 30));
  await checkAll(api);
  await api.block(buyOf(1, 40), buyOf(2, 10), give(0, 3));
  await checkAll(api);
  await api.block(EXECUTE);
  await checkAll(api);
  await api.block(sellOf(1, 50), sellOf(3, 100), { do: 'refund', index: 9 });
  await checkAll(api);
  await api.block(EXECUTE, buyOf(1, 60), give(2, 1));
  await checkAll(api);
  await api.block(EXECUTE, sellOf(1, 100));
  await api.block(EXECUTE, EXECUTE, EXECUTE, buyOf(3, 10));
  await checkAll(api);
  await api.block(EXECUTE);
  await checkAll(api);
  for (const back of [1, 2, 1]) {
    await api.back(back);
    await checkAll(api);
  }
});

test('a buy costs what its order offered and the executor’s fee, not the deposit', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 0));
  await api.block(buyOf(1, 20), EXECUTE);
  const { token } = api;
  const found = recordOf(await api.get(METRICS, { asset: token, pkh: ownerOf(1) }));
  const [order] = api.api.maker.state.orders.values();
  const bought = order?.received ?? 0n;
  assert.deepEqual(
    [found.buyCount, found.spentAda, found.boughtTokens, found.receivedAda, found.sellCount],
    [1, '21.100000', String(bought), '0.000000', 0],
  );
  assert.deepEqual([found.averageSellPrice, found.realizedPnlAda], ['0', '0.000000']);
  assert.equal(found.firstTradeTime, api.api.maker.state.atMs / 1000);
  assert.equal(found.lastTradeTime, found.firstTradeTime);
  const paper = recordOf(await api.post(CARD, token, [ownerOf(1)]));
  assert.equal(paper.investedAda, '21.100000');
  assert.equal(paper.currentAdaGain, found.unrealizedPnlAda);
});

test('an initial buy is the author’s, and costs what entered the pool', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(2, 25));
  const found = await api.get(METRICS, { asset: api.token, pkh: ownerOf(2) });
  const { x } = api.api.pool();
  assert.equal(recordOf(found).spentAda, adaText(x));
  assert.equal(recordOf(found).buyCount, 1);
  assert.deepEqual(found, metricsIn(api, ownerOf(2)));
});

test('a wallet that only sold tokens it was given has metrics, and no card', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 30));
  await api.block(give(0, 3), sellOf(3, 100), EXECUTE);
  const found = recordOf(await api.get(METRICS, { asset: api.token, pkh: ownerOf(3) }));
  assert.deepEqual([found.sellCount, found.realizedPnlAda], [1, '0.000000']);
  assert.equal(await api.post(CARD, api.token, [ownerOf(3)]), null);
});

test('null for anything well formed without data', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 30));
  for (const asset of [api.token, UNKNOWN, '.']) {
    assert.equal(await api.get(METRICS, { asset, pkh: STRANGER }), null);
    for (const path of [CARD, BALANCE]) assert.equal(await api.post(path, asset, [STRANGER]), null);
  }
});

test('hex of any case is one key and one asset; a key that comes twice counts once', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 30));
  const { token } = api;
  const [asset, pkh] = [token.toUpperCase(), ownerOf(0).toUpperCase()];
  assert.deepEqual(await api.get(METRICS, { asset, pkh }), metricsIn(api, ownerOf(0)));
  assert.deepEqual(await api.post(CARD, asset, [pkh]), cardIn(api, [ownerOf(0)]));
  assert.deepEqual(await api.post(BALANCE, asset, [pkh]), worthIn(api, [ownerOf(0)]));
  const twice = [pkh, ownerOf(0), STRANGER, pkh];
  assert.deepEqual(await api.post(CARD, asset, twice), cardIn(api, [ownerOf(0)]));
  assert.deepEqual(await api.post(BALANCE, asset, twice), worthIn(api, [ownerOf(0)]));
});

test('input that is malformed is 400, before anything is looked up', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 30));
  const { token } = api;
  const many = (count: number) => Array.from({ length: count }, (_, at) => hashOf(`${at}`, 56));
  const bodies = [
    ...[[], {}, null, 'null', '""', '', '[', [1], ['ab'], [`${STRANGER}00`], [null]],
    [[STRANGER]],
    [STRANGER, 'x'],
    many(1001),
  ];
  for (const path of [CARD, BALANCE]) {
    for (const body of bodies) {
      for (const asset of [token, UNKNOWN]) {
        const response = await api.send(path, asset, body);
        assert.deepEqual(
          [response.status, recordOf(await response.json()).cause],
          [400, 'INVALID_PARAMS'],
          `${path} ${JSON.stringify(body).slice(0, 80)}`,
        );
      }
    }
    assert.equal((await api.send(path, 'x', [STRANGER])).status, 400);
    assert.equal((await api.send(path, token, many(1000))).status, 200);
  }
  for (const query of [
    { asset: token, pkh: 'ab' },
    { asset: token, pkh: '' },
    { asset: '', pkh: STRANGER },
  ]) {
    assert.equal((await api.api.get(METRICS, query)).status, 400);
  }
});
