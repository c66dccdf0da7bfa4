/** The top pool, search and following over HTTP, as a client sees them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/compile';
import { LiquidityPoolInfo } from '../../../src/api/pools/schema.ts';
import type { Action } from '../../chain/foldMarket.ts';
import { recordOf } from '../../support/subscription.ts';
import { type MarketApi, openMarketApi } from '../marketApi.ts';

const KOTH = '/v1/pools-main-page/koth';
const SEARCH = '/v1/pools-main-page/search';
const EXECUTE: Action = { do: 'execute', pool: 0 };
const UNKNOWN = `${'ab'.repeat(28)}.00`;
const launchBy = (user: number, buy: number): Action => ({ do: 'launch', user, buy });
const buyOf = (amount: number): Action => {
  return { do: 'place', user: 1, pool: 0, side: 'buy', amount };
};

const shape = Compile(LiquidityPoolInfo);

function assetOf(info: unknown): string {
  assert.deepEqual([...shape.Errors(info)], []);
  return String(recordOf(recordOf(info).info).asset);
}

function pageOf(answer: unknown): { count: unknown; assets: string[] } {
  const { count, items, ...rest } = recordOf(answer);
  assert(Array.isArray(items));
  assert.deepEqual(rest, {});
  return { count, assets: items.map(assetOf) };
}

function crownedOf(info: unknown): unknown {
  return recordOf(recordOf(info).metrics).crowned;
}

async function refusal(response: Response): Promise<[number, unknown]> {
  return [response.status, recordOf(await response.json()).cause];
}

function post(api: MarketApi, path: string, body: string): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' };
  return fetch(`${api.url}${path}`, { method: 'POST', headers, body });
}

test('the top pool: none, the first launched, then the larger one, also graduated', async (t) => {
  const api = await openMarketApi(t);
  assert.deepEqual(await refusal(await api.get(KOTH, {})), [404, 'ASSET_NOT_FOUND']);
  await api.block([launchBy(0, 20)]);
  await api.block([launchBy(1, 5)]);
  const top = async () => assetOf(await api.json(KOTH, {}));
  assert.equal(await top(), api.pool(0).token);
  await api.block([launchBy(2, 60)]);
  const crown = { at: api.maker.state.atMs / 1000, of: api.pool(2).token };
  assert.equal(await top(), crown.of);
  assert.equal(crownedOf(await api.json(KOTH, {})), crown.at);
  await api.block([buyOf(150), EXECUTE]);
  assert.equal(await top(), api.pool(0).token);
  const earlier = await api.json('/v1/pools-feed/initial/state', { asset: crown.of });
  assert.equal(crownedOf(earlier), crown.at, 'the crown is kept');
  await api.back(2);
  const never = await api.json('/v1/pools-feed/initial/state', { asset: api.pool(1).token });
  assert.equal(crownedOf(never), null);
  assert.equal(await top(), api.pool(0).token);
  await api.back(2);
  await api.block([launchBy(0, 0), buyOf(150), EXECUTE, buyOf(53), EXECUTE, EXECUTE]);
  assert.equal(api.pool(0).venue, 'AMM');
  assert.equal(await top(), api.pool(0).token, 'a graduated one takes part');
  const response = await api.get(KOTH, {});
  const { epoch, seq } = api.world.node.applied();
  assert.equal(response.headers.get('x-position'), `${epoch}:${seq}`);
});

test('search pages through what it finds, the highest market cap first', async (t) => {
  const api = await openMarketApi(t);
  assert.deepEqual(await api.json(SEARCH, { pattern: 'x' }), { count: 0, items: [] });
  const launches = Array.from({ length: 120 }, (_, at) => launchBy(at % 4, at % 9));
  await api.block(launches);
  const search = async (query: Record<string, string | number>) =>
    pageOf(await api.json(SEARCH, query));
  const all = await search({ pattern: ' ToK\t' });
  assert.deepEqual([all.count, all.assets.length], [120, 100]);
  const rest = await search({ pattern: 'tok', offset: 100 });
  assert.equal(new Set([...all.assets, ...rest.assets]).size, 120);
  const page = await search({ pattern: 'tok', offset: 37, limit: 5 });
  assert.deepEqual(page, { count: 120, assets: all.assets.slice(37, 42) });
  const { token } = api.pool(7);
  assert.deepEqual(await search({ pattern: token.toUpperCase() }), { count: 1, assets: [token] });
  const policy = token.slice(0, 40);
  assert.deepEqual((await search({ pattern: policy })).assets, [token]);
  assert.deepEqual((await search({ pattern: policy.slice(1) })).assets, [token]);
  for (const pattern of ['tok%', 't_k', 't.k', '*', "'", '"', '\0', '�', '🚀'.repeat(128)]) {
    assert.deepEqual(await search({ pattern }), { count: 0, assets: [] }, pattern);
  }
  assert.deepEqual(await search({ pattern: 'tok', offset: 120 }), { count: 120, assets: [] });
});

test('a search that is malformed is refused', async (t) => {
  const api = await openMarketApi(t);
  const refused: Record<string, string | number>[] = [
    {},
    { pattern: '' },
    { pattern: ' \t\n\u3000' },
    { pattern: 'a\\b' },
    { pattern: '\\' },
    { pattern: 'a'.repeat(129) },
    { pattern: `e${'\u0301'.repeat(128)}` },
    { pattern: 'a', limit: 0 },
    { pattern: 'a', limit: 101 },
    { pattern: 'a', limit: 'ten' },
    { pattern: 'a', offset: -1 },
    { pattern: 'a', offset: 1.5 },
  ];
  for (const query of refused) {
    const got = await refusal(await api.get(SEARCH, query));
    assert.deepEqual(got, [400, 'INVALID_PARAMS'], JSON.stringify(query));
  }
  for (const raw of ['%ff', '%ed%a0%80', '%', '%c0%80']) {
    const got = await refusal(await fetch(`${api.url}${SEARCH}?pattern=${raw}`));
    assert.deepEqual(got, [400, 'INVALID_PARAMS'], raw);
  }
  await api.json(SEARCH, { pattern: 'a', offset: '', limit: '' });
  assert.deepEqual(api.faults, []);
});

test('following answers in the order of the body, each token once, the known ones', async (t) => {
  const api = await openMarketApi(t);
  await api.block(Array.from({ length: 70 }, (_, at) => launchBy(at % 4, at % 5)));
  const tokens = [...api.maker.state.pools.keys()].toSorted().toReversed();
  const [first = '', second = ''] = tokens;
  const ask = async (path: string, assets: readonly string[]) => {
    const response = await post(api, path, JSON.stringify(assets));
    assert.equal(response.status, 200);
    return pageOf(await response.json());
  };
  const body = [first, UNKNOWN, second.toUpperCase(), '.', first.toUpperCase(), second];
  const both = { count: 2, assets: [first, second] };
  assert.deepEqual(await ask('/v1/following', body), both);
  assert.deepEqual(await ask('/v1/following/list', body), both);
  assert.deepEqual(await ask('/v1/following', [UNKNOWN]), { count: 0, assets: [] });
  const many = [...tokens, ...Array.from({ length: 930 }, () => UNKNOWN)];
  assert.deepEqual(await ask('/v1/following', many), { count: 70, assets: tokens.slice(0, 60) });
  assert.deepEqual(await ask('/v1/following?offset=60', many), {
    count: 70,
    assets: tokens.slice(60),
  });
  assert.deepEqual(await ask('/v1/following?offset=5&limit=2', many), {
    count: 70,
    assets: tokens.slice(5, 7),
  });
  assert.deepEqual(await ask('/v1/following/list', many), { count: 70, assets: tokens });
});

test('following refuses what is no list of at most 1000 asset ids', async (t) => {
  const api = await openMarketApi(t);
  const tooMany = JSON.stringify(Array.from({ length: 1001 }, () => UNKNOWN));
  for (const path of ['/v1/following', '/v1/following/list']) {
    for (const body of ['', '[]', 'null', '{}', '"."', '["ada"]', '[1]', '[null]', '[', tooMany]) {
      const got = await refusal(await post(api, path, body));
      assert.deepEqual(got, [400, 'INVALID_PARAMS'], `${path} ${body.slice(0, 20)}`);
    }
    const asText = await fetch(`${api.url}${path}`, { method: 'POST', body: '["."]' });
    assert.deepEqual(await refusal(asText), [415, 'UNSUPPORTED_MEDIA_TYPE']);
    assert.deepEqual(await refusal(await api.get(path, {})), [405, 'METHOD_NOT_ALLOWED']);
  }
  for (const query of ['limit=61', 'limit=0', 'offset=-1', 'offset=x']) {
    const got = await refusal(await post(api, `/v1/following?${query}`, `["${UNKNOWN}"]`));
    assert.deepEqual(got, [400, 'INVALID_PARAMS'], query);
  }
  assert.deepEqual(api.faults, []);
});
