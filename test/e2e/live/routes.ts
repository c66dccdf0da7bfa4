/** Every read route of a market, with typical parameters. */
import assert from 'node:assert/strict';
import { INTERVALS } from '../../support/model.ts';
import type { Person } from './streamSpecs.ts';

const LISTS = ['New', 'Latest', 'CompletedCreateOn', 'CompletedMCap', 'MCapDesc', 'Trending'];
const ALL_TIME = 'from=0&to=253402300799';

interface Read {
  readonly path: string;
  readonly body?: unknown;
}

export interface Answered {
  readonly body: unknown;
  readonly position: string | null;
}

function reads(tokens: readonly string[], people: readonly Person[]): Read[] {
  const pkhs = people.map(({ pkh }) => pkh);
  const bodies = [...pkhs.map((pkh) => [pkh]), pkhs];
  return [
    ...LISTS.map((filter) => ({ path: `/v1/pools-main-page/initial/state?filter=${filter}` })),
    { path: '/v1/pools-main-page/koth' },
    { path: '/v1/pools-main-page/search?pattern=coin' },
    { path: '/v1/following', body: tokens },
    { path: '/v1/following/list', body: tokens },
    ...bodies.flatMap((body) => [
      { path: '/v1/user-history-feed/initial/state', body },
      { path: '/v1/user-history-feed/initial/state/open', body },
    ]),
    ...pkhs.map((pkh) => ({ path: `/v1/vesting/get-by-redeemer?redeemerVkhs=${pkh}`, body: {} })),
    ...pkhs.map((pkh) => ({ path: '/getUtxos', body: { pkh, limit: 1000 } })),
    ...tokens.flatMap((token) => readsOfToken(token, pkhs)),
  ];
}

function readsOfToken(token: string, pkhs: readonly string[]): Read[] {
  const asset = `?asset=${token}`;
  return [
    ...INTERVALS.flatMap((interval) => {
      const pair = `base=${token}&quote=.&resolution=${interval}`;
      return [
        ...['', '/mcap'].flatMap((kind) => [
          { path: `/v1/charts${kind}/history?${pair}&${ALL_TIME}` },
          { path: `/v1/charts${kind}/history?${pair}&${ALL_TIME}&fill=previous` },
          { path: `/v1/charts${kind}/initial-state?${pair}` },
        ]),
        { path: `/v1/charts/last?${pair}` },
      ];
    }),
    { path: `/v1/pools-feed/initial/state${asset}` },
    { path: `/v1/pools-feed/curve/progress${asset}` },
    { path: `/v1/asset-info${asset}` },
    { path: `/v1/trades${asset}&limit=500` },
    { path: `/v1/orders-feed/initial/state${asset}`, body: [] },
    { path: `/v1/orders-feed/initial/state${asset}&offset=7&limit=20`, body: pkhs },
    { path: `/balances/v1/pool/holders?assetId=${token}` },
    { path: `/v1/vesting/get-by-asset/${token}`, body: {} },
    { path: `/v1/tokens/insights${asset}` },
    { path: `/v1/tokens/traders${asset}&sort=realized` },
    ...pkhs.flatMap((pkh) => [
      { path: `/v1/orders-feed/metrics${asset}&pkh=${pkh}` },
      { path: `/v1/user-history-feed/initial/state/by/asset${asset}`, body: [pkh] },
      { path: `/balances/v1/user/pnl-card?assetId=${token}`, body: [pkh] },
      { path: `/balances/v1/asset/asset-balance?assetId=${token}`, body: [pkh] },
    ]),
  ];
}

/** Answers by question, and of all orders by beacon. */
export async function readAll(
  url: string,
  tokens: readonly string[],
  people: readonly Person[],
): Promise<Map<string, Answered>> {
  const found = new Map<string, Answered>();
  const beacons = new Set<string>();
  const read = async ({ path, body }: Read) => {
    const headers = { 'content-type': 'application/json' };
    const post = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(url + path, body === undefined ? {} : post);
    const text = await answer.text();
    assert.equal(answer.status, 200, `${path}: ${text}`);
    for (const [, beacon = ''] of text.matchAll(/"beacon":"([0-9a-f]+)"/g)) beacons.add(beacon);
    const position = answer.headers.get('x-position');
    found.set(`${path} ${JSON.stringify(body)}`, { body: JSON.parse(text), position });
  };
  for (const each of reads(tokens, people)) await read(each);
  for (const beacon of beacons) {
    await read({ path: `/v1/user-history-feed/order/trades?beacon=${beacon}` });
  }
  return found;
}
