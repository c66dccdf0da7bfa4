/** Pools over HTTP and the PoolFeed, as a client sees them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/compile';
import { LiquidityPoolInfo } from '../../../src/api/pools/schema.ts';
import type { Action } from '../../chain/foldMarket.ts';
import { addressOf, hashOf, type ModelPool, ownerOf, reservesOf } from '../../chain/foldState.ts';
import { capAfter } from '../../chain/foldTruth.ts';
import { recordOf } from '../../support/subscription.ts';
import { until } from '../../support/until.ts';
import { Listener, type MarketApi, openMarketApi } from '../marketApi.ts';

const EXECUTE: Action = { do: 'execute', pool: 0 };
const launchBy = (user: number, buy: number): Action => ({ do: 'launch', user, buy });
const buyOf = (amount: number, pool = 0): Action => {
  return { do: 'place', user: 1, pool, side: 'buy', amount };
};

const shape = Compile(LiquidityPoolInfo);

/** Rounded, a half upwards. */
function capOf(pool: ModelPool): number {
  const { top, bottom } = capAfter({ after: reservesOf(pool) });
  return Number((2n * top + bottom) / (2n * bottom));
}

function expectedInfo(pool: ModelPool, user: number): object {
  const [transactionId = '', index] = pool.ref.split(':');
  return {
    pool: {
      id: pool.nft,
      x: { asset: '.', amount: String(pool.x) },
      y: { asset: pool.token, amount: String(pool.y) },
      outputId: { transactionId, transactionIndex: Number(index) },
      aNum: 122525779519,
      bNum: 2545182,
      adaCapThreshold: 200000000,
      poolAuthor: hashOf(`stake ${user}`, 56),
      launchType: '',
      createdOn: pool.createdMs / 1000,
      permittedExecutor: hashOf('executor', 56),
      cpmmPoolId: pool.graduatedMs === null ? null : pool.nft,
      version: 'v1',
      timestamp: pool.movedMs / 1000,
    },
    metrics: {
      marketCap: capOf(pool),
      totalVolumeAda: Number(pool.trades.reduce((sum, { lovelace }) => sum + lovelace, 0n)),
      totalTxCount: pool.trades.length,
      // The only pool is on top from its launch on.
      crowned: pool.createdMs / 1000,
      sequentialOrderingEnabled: false,
      since: null,
      locks: [],
    },
    info: expectedToken(pool, user),
  };
}

function expectedToken(pool: ModelPool, user: number): object {
  return {
    asset: pool.token,
    name: 'tok',
    ticker: 'TOK',
    logoCID: 'bafkreitest',
    description: 'A token.',
    launchType: 0,
    poolAuthor: { pkh: ownerOf(user), skh: hashOf(`stake ${user}`, 56) },
    socials: { twitter: null, telegram: null, discord: 'https://example.org/d', website: null },
    outputId: `${pool.launchTx}:1`,
    assetType: 'Meme',
  };
}

function infoOf(api: MarketApi, asset: string): Promise<unknown> {
  return api.json('/v1/pools-feed/initial/state', { asset });
}

test('a pool is the LiquidityPoolInfo of the contract, on curve and AMM', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(2, 0)]);
  const { token } = api.pool();
  const same = async () => {
    const info = await infoOf(api, token);
    assert.deepEqual(info, expectedInfo(api.pool(), 2));
    assert.deepEqual([...shape.Errors(info)], []);
  };
  await same();
  await api.block([buyOf(150), EXECUTE], 60_000);
  await same();
  await api.block([buyOf(53), EXECUTE, EXECUTE], 60_000);
  assert.equal(api.pool().venue, 'AMM');
  await same();
  await api.block([buyOf(20), EXECUTE], 60_000);
  await same();
  assert.deepEqual(await infoOf(api, token.toUpperCase()), await infoOf(api, token));
  assert.deepEqual(
    await api.json('/v1/asset-info', { asset: token }),
    expectedToken(api.pool(), 2),
  );
  await api.back(2);
  await same();
});

test('unspent locks of the token are among its metrics', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(0, 50)]);
  const { token } = api.pool();
  const locks = async () => recordOf(recordOf(await infoOf(api, token)).metrics).locks;
  await api.block([{ do: 'lock', user: 0, pool: 0, to: 3 }]);
  const [lock] = api.maker.state.locks.values();
  const [tokenPolicyId, tokenAssetName] = token.split('.');
  const row = {
    id: lock?.ref,
    lockUntil: '1893456000000',
    redeemerVkh: ownerOf(3),
    tokenPolicyId,
    tokenAssetName,
    totalLocked: String(lock?.amount),
    vestingOwnerAddress: addressOf(3),
    spent: false,
  };
  assert.deepEqual(await locks(), [row]);
  assert.deepEqual([...shape.Errors(await infoOf(api, token))], []);
  await api.block([{ do: 'withdraw', index: 0 }]);
  assert.deepEqual(await locks(), []);
  await api.back(1);
  assert.deepEqual(await locks(), [row]);
});

test('curve progress is cut to two decimals and 100 only from the cap on', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(0, 0)]);
  const { token } = api.pool();
  const percent = async () => api.json('/v1/pools-feed/curve/progress', { asset: token });
  assert.deepEqual(await percent(), { percent: '0' });
  await api.block([buyOf(150), EXECUTE]);
  assert.deepEqual(await percent(), { percent: '74.25' }, '148.5 of 200');
  await api.block([buyOf(52), EXECUTE]);
  assert.deepEqual(await percent(), { percent: '99.99' }, '199.98 of 200');
  await api.block([buyOf(2), EXECUTE]);
  assert.deepEqual(await percent(), { percent: '100' });
  await api.block([EXECUTE]);
  await api.block([{ do: 'place', user: 1, pool: 0, side: 'sell', amount: 50 }, EXECUTE]);
  assert(api.pool().x < 200_000_000n, 'the AMM has less again');
  assert.deepEqual(await percent(), { percent: '100' });
});

test('unknown assets are 404, malformed ones 400', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(0, 0)]);
  const paths = ['/v1/pools-feed/initial/state', '/v1/pools-feed/curve/progress', '/v1/asset-info'];
  for (const path of paths) {
    for (const [asset, status, cause] of [
      [`${'ab'.repeat(28)}.00`, 404, 'ASSET_NOT_FOUND'],
      ['.', 404, 'ASSET_NOT_FOUND'],
      ['ada', 400, 'INVALID_PARAMS'],
      ['', 400, 'INVALID_PARAMS'],
    ] as const) {
      const response = await api.get(path, { asset });
      assert.deepEqual(
        [response.status, recordOf(await response.json()).cause],
        [status, cause],
        `${path} ${asset}`,
      );
    }
  }
  for (const filter of ['', 'new', 'KOTH']) {
    const response = await api.get('/v1/pools-main-page/initial/state', { filter });
    assert.equal(response.status, 400, filter);
  }
});

test('lists have their pools in their order, ties by asset id, the first 100', async (t) => {
  const api = await openMarketApi(t);
  const listed = async (filter: string) => {
    const rows = await api.json('/v1/pools-main-page/initial/state', { filter });
    assert(Array.isArray(rows));
    for (const row of rows) assert.deepEqual([...shape.Errors(row)], []);
    return rows.map((row) => String(recordOf(recordOf(row).info).asset));
  };
  assert.deepEqual(await listed('New'), []);
  // The first two graduate; pools 2 to 4 are launched at the same moment.
  await api.block([launchBy(0, 0), launchBy(1, 0)]);
  await api.block([launchBy(2, 30), launchBy(3, 20), launchBy(0, 30)]);
  for (const pool of [1, 0]) {
    const run: Action = { do: 'execute', pool };
    await api.block([buyOf(150, pool), run, buyOf(53, pool), run, run]);
  }
  await api.block([buyOf(30, 0), EXECUTE]);
  const all = () => [...api.maker.state.pools.values()];
  const byKey = (key: (pool: ModelPool) => number, has = (_: ModelPool) => true) =>
    all()
      .filter(has)
      .sort((a, b) => key(b) - key(a) || (a.token < b.token ? -1 : 1))
      .map(({ token }) => token);
  const check = async () => {
    const completed = ({ venue }: ModelPool) => venue === 'AMM';
    const launch = ({ createdMs }: ModelPool) => createdMs;
    assert.deepEqual(await listed('New'), byKey(launch));
    const latest = ({ trades, createdMs }: ModelPool) => trades.at(-1)?.atMs ?? createdMs;
    assert.deepEqual(await listed('Latest'), byKey(latest));
    assert.deepEqual(
      await listed('MCapDesc'),
      byKey(capOf, (pool) => !completed(pool)),
    );
    assert.deepEqual(await listed('CompletedCreateOn'), byKey(launch, completed));
    assert.deepEqual(await listed('CompletedMCap'), byKey(capOf, completed));
    // The whole test lasts less than a day.
    const volume = ({ trades }: ModelPool) =>
      trades.reduce((sum, { lovelace }) => sum + Number(lovelace), 0);
    const byCap = byKey(capOf).map((token) => api.maker.state.pools.get(token) ?? assert.fail());
    const trending = byCap.toSorted((a, b) => volume(b) - volume(a)).map(({ token }) => token);
    assert.deepEqual(await listed('Trending'), trending);
  };
  await check();
  assert.equal((await listed('CompletedMCap')).length, 2);
  await api.back(2);
  await check();
  assert.equal((await listed('CompletedMCap')).length, 1);
  const many = Array.from({ length: 110 }, (_, index) => launchBy(index % 4, index % 7));
  await api.block(many);
  const first = byKey(({ createdMs }) => createdMs).slice(0, 100);
  assert.deepEqual(await listed('New'), first);
  assert.equal((await listed('MCapDesc')).length, 100);
});

test('Trending counts 24 hours, and what leaves them moves a pool without a trade', async (t) => {
  const api = await openMarketApi(t);
  const { frames } = await Listener.open(t, api, 'Trending', {});
  const order = async () => {
    const rows = await api.json('/v1/pools-main-page/initial/state', { filter: 'Trending' });
    assert(Array.isArray(rows));
    return rows.map((row) => String(recordOf(recordOf(row).info).asset));
  };
  await api.block([launchBy(0, 0), launchBy(1, 0), launchBy(2, 0)]);
  const [first, second, third] = [0, 1, 2].map((index) => api.pool(index).token);
  await api.block([buyOf(100, 0), EXECUTE]);
  await api.pass(12 * 3_600_000);
  await api.block([buyOf(20, 2), { do: 'execute', pool: 2 }]);
  assert.deepEqual(await order(), [first, third, second]);
  await api.pass(12 * 3_600_000);
  await api.pass(60_000);
  assert.deepEqual(await order(), [third, first, second]);
  await until('the list on the socket', () => {
    const shown = recordOf(frames.at(-1)?.data).order;
    return JSON.stringify(shown) === JSON.stringify([third, first, second]);
  });
});

test('a list has an ETag and says its position', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(0, 0)]);
  const first = await api.get('/v1/pools-main-page/initial/state', { filter: 'New' });
  const tag = first.headers.get('etag') ?? '';
  const { epoch, seq } = api.world.node.applied();
  assert.equal(first.headers.get('x-position'), `${epoch}:${seq}`);
  const url = `${api.url}/v1/pools-main-page/initial/state?filter=New`;
  const again = await fetch(url, { headers: { 'If-None-Match': tag } });
  assert.equal(again.status, 304);
});

test('PoolFeed: null, then the pool as HTTP has it, and nothing after a rollback', async (t) => {
  const ahead = await openMarketApi(t);
  await ahead.block([launchBy(0, 0)]);
  const { token } = ahead.pool();
  const api = await openMarketApi(t);
  const listener = await Listener.open(t, api, 'PoolFeed', { asset: token.toUpperCase() });
  assert.deepEqual([listener.last?.event, listener.last?.data], ['PoolFeedUpdate', null]);
  const same = async () => {
    const expected = JSON.stringify(await infoOf(api, token));
    await until('the pool of HTTP', () => JSON.stringify(listener.last?.data) === expected);
  };
  await api.block([]);
  await api.block([launchBy(0, 0)]);
  await same();
  await api.block([buyOf(100), EXECUTE]);
  await same();
  await api.block([{ do: 'lock', user: 1, pool: 0, to: 2 }]);
  await same();
  await api.back(2);
  await same();
  await api.back(1);
  await until('nothing', () => listener.last?.data === null);
  const refused = await Listener.open(t, api, 'PoolFeed', { asset: 'x' });
  assert.equal(refused.last?.event, 'Error');
});

test('PoolFeed since: the snapshot is the recovery; silence where nothing was', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(0, 0)]);
  const before = api.world.node.applied();
  await api.block([buyOf(100), EXECUTE]);
  const { token } = api.pool();
  const ask = async (since: object) => {
    const { frames } = await Listener.open(t, api, 'PoolFeed', { asset: token }, { since });
    return frames;
  };
  const frames = await ask(before);
  await until('the pool', () => frames.length === 2);
  assert.equal(recordOf(frames[0]?.data).recovered, true);
  assert.deepEqual(frames[1]?.data, await infoOf(api, token));
  const silent = await ask(api.world.node.applied());
  await api.block([buyOf(10), EXECUTE]);
  await until('the next change', () => silent.length === 2);
  assert.deepEqual(silent[1]?.data, await infoOf(api, token));
  assert.deepEqual(api.faults, []);
});
