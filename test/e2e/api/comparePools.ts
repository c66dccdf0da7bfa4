/** Lists, search, following, feeds of pools, holders and locks against the model. */
import type { Asker } from './asker.ts';
import { trending } from './compareTickers.ts';
import type { NaiveMarket } from './model.ts';
import { LISTS } from './modelPools.ts';

const UNKNOWN = `${'ab'.repeat(28)}.00`;
const PAGE = 60;

export async function comparePools(asker: Asker, market: NaiveMarket): Promise<void> {
  const { pools, tokens } = market;
  const rows = (list: readonly string[]) => list.map((token) => pools.pool(token));
  for (const filter of [...LISTS, 'Trending' as const]) {
    const route = 'GET /v1/pools-main-page/initial/state';
    const list = filter === 'Trending' ? trending(market) : pools.list(filter);
    await asker.expect({ route, query: { filter } }, rows(list.slice(0, 100)), sortLocks);
  }
  const king = pools.koth();
  const koth = { route: 'GET /v1/pools-main-page/koth' };
  if (king === null) await asker.refused(koth, 404, 'ASSET_NOT_FOUND');
  else await asker.expect(koth, pools.pool(king), sortLocks);
  for (const token of tokens) {
    const query = { asset: token };
    const feed = { route: 'GET /v1/pools-feed/initial/state', query };
    await asker.expect(feed, pools.pool(token), sortLocks);
    const upper = { asset: token.toUpperCase() };
    await asker.expect({ ...feed, query: upper }, pools.pool(token), sortLocks);
    const progress = { route: 'GET /v1/pools-feed/curve/progress', query };
    await asker.expect(progress, pools.progress(token));
    await asker.expect({ route: 'GET /v1/asset-info', query }, pools.info(token));
  }
  for (const path of [
    '/v1/pools-feed/initial/state',
    '/v1/pools-feed/curve/progress',
    '/v1/asset-info',
    '/v1/trades',
  ]) {
    await asker.refused(
      { route: `GET ${path}`, query: { asset: UNKNOWN } },
      404,
      'ASSET_NOT_FOUND',
    );
  }
  await compareSearch(asker, market);
  await compareFollowing(asker, market);
  await compareLocks(asker, market);
}

async function compareSearch(asker: Asker, { pools, tokens }: NaiveMarket): Promise<void> {
  const texts = tokens.flatMap((token) => {
    const { name, ticker } = pools.info(token);
    const parts = [name.slice(0, 2), name.slice(1), `  ${name} `];
    return [name, name.toUpperCase(), ticker.toLowerCase(), ...parts, token, token.slice(3, 12)];
  });
  const route = 'GET /v1/pools-main-page/search';
  for (const pattern of new Set([...texts, '.', '%', '_', '.*', "'", '[a', 'no such thing'])) {
    const found = pools.search(pattern);
    const items = found.slice(0, 100).map((token) => pools.pool(token));
    const expected = { count: found.length, items };
    await asker.expect({ route, query: { pattern } }, expected, sortLocks);
    const page = { offset: 1, limit: 2 };
    const some = { count: found.length, items: items.slice(1, 3) };
    await asker.expect({ route, query: { pattern, ...page } }, some, sortLocks);
  }
  for (const pattern of ['   ', 'a\\b', 'x'.repeat(129)]) {
    await asker.refused({ route, query: { pattern } }, 400, 'INVALID_PARAMS');
  }
}

async function compareFollowing(asker: Asker, { pools, tokens }: NaiveMarket): Promise<void> {
  const [first = '', second = first] = tokens;
  for (const body of [
    tokens.toReversed(),
    [second, UNKNOWN, first.toUpperCase(), second, first],
    [UNKNOWN],
  ]) {
    const found = pools.following(body.map((token) => token.toLowerCase()));
    const items = found.map((token) => pools.pool(token));
    const count = found.length;
    const list = { route: 'POST /v1/following/list', body };
    await asker.expect(list, { count, items }, sortLocks);
    const page = { route: 'POST /v1/following', body };
    await asker.expect(page, { count, items: items.slice(0, PAGE) }, sortLocks);
    const query = { offset: 1, limit: 1 };
    await asker.expect({ ...page, query }, { count, items: items.slice(1, 2) }, sortLocks);
  }
  for (const route of ['POST /v1/following', 'POST /v1/following/list']) {
    await asker.refused({ route, body: [] }, 400, 'INVALID_PARAMS');
  }
}

async function compareLocks(asker: Asker, market: NaiveMarket): Promise<void> {
  const { locks, pkhs, tokens } = market;
  for (const pkh of pkhs) {
    const vestings = locks.filter(({ redeemerVkh }) => redeemerVkh === pkh);
    const question = { route: 'POST /v1/vesting/get-by-redeemer', query: { redeemerVkhs: pkh } };
    await asker.expect(question, { vestings }, sortLocks);
  }
  for (const token of tokens) {
    const own = market.pools.pool(token).metrics.locks;
    const route = 'POST /v1/vesting/get-by-asset/{assetId}';
    const path = `/v1/vesting/get-by-asset/${token}`;
    await asker.expect({ route, path }, { vestings: own }, sortLocks);
  }
}

function sorted<T extends { readonly id: string }>(rows: readonly T[]): T[] {
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The contract names no order of locks: both sides by id. */
export function sortLocks(body: unknown): unknown {
  if (Array.isArray(body)) {
    const isLocks = body.every((row) => typeof Object(row).lockUntil === 'string');
    return isLocks ? sorted(body) : body.map(sortLocks);
  }
  if (typeof body !== 'object' || body === null) return body;
  const entries = Object.entries(body).map(([key, value]) => [key, sortLocks(value)]);
  return Object.fromEntries(entries);
}
