/** Portfolios, their history and the insights over HTTP, against a recount from the blocks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { Insights } from '../../../src/api/holders/insights.ts';
import { Portfolio, PortfolioPoint } from '../../../src/api/holders/portfolioSchema.ts';
import type { Action } from '../../chain/foldMarket.ts';
import { hashOf, type ModelPool, ownerOf, SUPPLY, USERS } from '../../chain/foldState.ts';
import { capAfter, type Fraction } from '../../chain/foldTruth.ts';
import { trustTruth } from '../../chain/trustTruth.ts';
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

const PORTFOLIO = '/v1/portfolio';
const HISTORY = '/v1/portfolio/history';
const INSIGHTS = '/v1/tokens/insights';
const HOUR_MS = 3_600_000;
const LENGTHS = { hour1: HOUR_MS, day1: 24 * HOUR_MS } as const;
const STRANGER = hashOf('stranger', 56);
const portfolio = Compile(Portfolio);
const point = Compile(PortfolioPoint);
const insights = Compile(Insights);

async function send(api: WalletApi, path: string, query: object, body: unknown): Promise<Response> {
  const fields = Object.entries(query).map(([name, value]): [string, string] => [name, `${value}`]);
  const search = new URLSearchParams(fields);
  return fetch(`${api.api.url}${path}?${search}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function post(api: WalletApi, path: string, query: object, body: unknown): Promise<unknown> {
  const response = await send(api, path, query, body);
  const answer: unknown = await response.json();
  assert.equal(response.status, 200, JSON.stringify(answer));
  return answer;
}

function poolsOf({ api }: WalletApi): ModelPool[] {
  return [...api.maker.state.pools.values()];
}

function percent(part: bigint, whole: bigint): string {
  return adaText(nearest(part * 10_000n, whole) * 10_000n).slice(0, -4);
}

/** Sums and tokens as `/v1/portfolio` has them. */
function portfolioIn(api: WalletApi, keys: readonly string[]) {
  const { fills, balances } = walletTruth(api.blocks);
  let [value, spent, received, realized, unrealized] = [0n, 0n, 0n, 0n, 0n];
  const tokens = poolsOf(api).flatMap((pool) => {
    const own = keys.flatMap((pkh) => {
      const found = fills.get(`${pkh}/${pool.token}`);
      return found === undefined ? [] : [found];
    });
    const held = keys.reduce((sum, pkh) => sum + (balances.get(`${pkh}/${pool.token}`) ?? 0n), 0n);
    if (own.length === 0 && held === 0n) return [];
    const spot = spotNow(pool);
    const worth = nearest(held * spot.top, spot.bottom);
    const all = own.flat().sort((a, b) => a.atMs - b.atMs);
    const { balance, realizedPnlAda, unrealizedPnlAda, ...sums } = metricsTruth(all, spot, held);
    const times = all.length > 0 ? {} : { firstTradeTime: null, lastTradeTime: null };
    let [gained, open, paid] = [0n, 0n, 0n];
    for (const each of own) {
      const profit = profitOf(each, spot);
      gained += profit.realized;
      open += profit.unrealized;
      for (const { side, lovelace } of each) {
        if (side === 'buy') paid += lovelace;
        else received += lovelace;
      }
    }
    value += worth;
    spent += paid;
    realized += gained;
    unrealized += open;
    return [
      {
        worth,
        row: {
          asset: pool.token,
          balance: String(held),
          valueAda: adaText(worth),
          ...sums,
          ...times,
          realizedPnlAda: adaText(gained),
          unrealizedPnlAda: adaText(open),
          pnlPercent: paid === 0n ? null : percent(gained + open, paid),
        },
      },
    ];
  });
  tokens.sort((a, b) => Number(b.worth - a.worth) || (a.row.asset < b.row.asset ? -1 : 1));
  const totals = {
    valueAda: adaText(value),
    spentAda: adaText(spent),
    receivedAda: adaText(received),
    realizedPnlAda: adaText(realized),
    unrealizedPnlAda: adaText(unrealized),
    pnlPercent: spent === 0n ? null : percent(realized + unrealized, spent),
    count: tokens.length,
  };
  return { totals, rows: tokens.map(({ row }) => row) };
}

/** The pool's spot at the end of an interval; now where it has not ended. */
function spotAt(pool: ModelPool, endMs: number, marketMs: number): Fraction {
  const priced = pool.trades.filter(({ tokens, lovelace }) => tokens > 0n && lovelace > 0n);
  const last = priced.findLast(({ atMs }) => atMs < endMs);
  if (endMs > marketMs || last === undefined) return spotNow(pool);
  const { top, bottom } = capAfter(last);
  return { top, bottom: bottom * SUPPLY };
}

function historyIn(api: WalletApi, keys: readonly string[], lengthMs: number) {
  const { fills } = walletTruth(api.blocks);
  const marketMs = api.api.maker.state.atMs;
  const own = poolsOf(api).flatMap((pool) =>
    keys.flatMap((pkh) => {
      const found = fills.get(`${pkh}/${pool.token}`);
      return found === undefined ? [] : [{ pool, fills: found }];
    }),
  );
  const first = Math.min(...own.flatMap((each) => each.fills.map(({ atMs }) => atMs)));
  const points = [];
  if (own.length === 0) return [];
  for (let start = first - (first % lengthMs); start <= marketMs; start += lengthMs) {
    const end = start + lengthMs;
    let [realized, unrealized, cost] = [0n, 0n, 0n];
    for (const { pool, fills: all } of own) {
      const before = all.filter(({ atMs }) => atMs < end);
      const profit = profitOf(before, spotAt(pool, end, marketMs));
      realized += profit.realized;
      unrealized += profit.unrealized;
      // The tokens still held count as worth nothing, so their cost is a loss.
      cost -= profitOf(before, { top: 0n, bottom: 1n }).unrealized;
    }
    points.push({
      time: start / 1000,
      valueAda: adaText(cost + unrealized),
      costAda: adaText(cost),
      realizedPnlAda: adaText(realized),
      unrealizedPnlAda: adaText(unrealized),
      final: end <= marketMs,
    });
  }
  return points;
}

function insightsIn(api: WalletApi, { token, author, createdMs, y, trades }: ModelPool) {
  const { fills } = walletTruth(api.blocks);
  const outside = SUPPLY - y;
  const share = (tokens: bigint) => (outside === 0n ? '0.00' : percent(tokens, outside));
  const sold = (fills.get(`${author}/${token}`) ?? []).filter(({ side }) => side === 'sell');
  const keys = [...fills].filter(([key]) => key.endsWith(token) && !key.startsWith(author));
  const early = keys.map(([, all]) =>
    all.filter(({ atMs, side }) => atMs === createdMs && side === 'buy'),
  );
  assert(trades.length >= early.flat().length);
  const trust = trustTruth(api.blocks, token);
  const others = poolsOf(api).filter((pool) => pool.author === author && pool.token !== token);
  const graduated = others.filter(({ graduatedMs }) => graduatedMs !== null);
  const sum = (amounts: readonly bigint[]) => amounts.reduce((all, one) => all + one, 0n);
  return {
    ...trust,
    author: { ...trust.author, launches: others.length, graduated: graduated.length },
    topHolderPercent: trust.largestPercent,
    authorPercent: trust.author.percent,
    authorSold: sold.length > 0,
    authorSoldTokens: String(sum(sold.map(({ tokens }) => tokens))),
    bundled: {
      keys: early.filter((all) => all.length > 0).length,
      percent: share(sum(early.flat().map(({ tokens }) => tokens))),
    },
  };
}

async function checkAll(api: WalletApi): Promise<void> {
  for (const users of [[0], [1], [3], [0, 1], [3, 2, 1, 0]]) {
    const keys = users.map(ownerOf);
    const found = recordOf(await post(api, PORTFOLIO, {}, keys));
    assert.deepEqual([...portfolio.Errors(found)], []);
    const { tokens, openOrders, locks, ...totals } = found;
    const expected = portfolioIn(api, keys);
    assert.deepEqual(totals, expected.totals, `of ${users}`);
    assert.ok(Array.isArray(tokens) && Array.isArray(locks));
    const rows = tokens.map((row) => {
      const { name, ticker, logoCID, price, ...rest } = recordOf(row);
      return rest;
    });
    assert.deepEqual(rows, expected.rows, `tokens of ${users}`);
    assert.deepEqual(
      openOrders,
      await post(api, '/v1/user-history-feed/initial/state/open', {}, keys),
    );
    for (const resolution of ['hour1', 'day1'] as const) {
      const points = await post(api, HISTORY, { resolution }, keys);
      assert.deepEqual(
        points,
        historyIn(api, keys, LENGTHS[resolution]),
        `${resolution} of ${users}`,
      );
    }
  }
  for (const pool of poolsOf(api)) {
    const found = await api.get(INSIGHTS, { asset: pool.token });
    assert.deepEqual([...insights.Errors(found)], []);
    assert.deepEqual(found, insightsIn(api, pool));
  }
}

test('bought with the launch, sold by the author, held by few', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 30), buyOf(1, 20), EXECUTE);
  await checkAll(api);
  const first = recordOf(await api.get(INSIGHTS, { asset: api.token }));
  assert.equal(recordOf(first.bundled).keys, 1);
  assert.equal(first.authorSold, false);
  await api.after(2 * HOUR_MS, sellOf(0, 50), EXECUTE);
  await api.after(30 * HOUR_MS, buyOf(2, 5), EXECUTE, give(1, 3));
  await checkAll(api);
  assert.equal(recordOf(await api.get(INSIGHTS, { asset: api.token })).authorSold, true);
  const [past, , now] = [await post(api, HISTORY, { resolution: 'day1' }, [ownerOf(0)])].flat();
  assert.deepEqual([recordOf(past).final, recordOf(now).final], [true, false]);
  await api.back(1);
  await checkAll(api);
});

const anyDeed: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    do: fc.constant('place' as const),
    user: fc.nat(USERS - 1),
    pool: fc.nat(1),
    side: fc.constantFrom('buy', 'sell'),
    amount: fc.integer({ min: 2, max: 100 }),
  }),
  fc.record({ do: fc.constant('execute' as const), pool: fc.nat(1) }),
  fc.record({
    do: fc.constant('transfer' as const),
    user: fc.nat(USERS - 1),
    pool: fc.nat(1),
    to: fc.nat(USERS - 1),
  }),
);

test('all are a recount of the blocks, rollbacks included', async (t) => {
  const blocks = fc.array(
    fc.record({
      afterMs: fc.oneof(fc.constant(20_000), fc.integer({ min: 1, max: 15 * HOUR_MS })),
      actions: fc.array(anyDeed, { minLength: 1, maxLength: 6 }),
      back: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 3 })),
    }),
    { minLength: 4, maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(blocks, async (made) => {
      const api = await WalletApi.open(t);
      await api.block(launchBy(0, 30), launchBy(1, 0));
      for (const { afterMs, actions, back } of made) {
        await api.after(afterMs, ...actions, EXECUTE);
        if (back > 0 && api.blocks.length > back + 1) await api.back(back);
      }
      await checkAll(api);
    }),
    { numRuns: 6 },
  );
});

test('a span, a limit and CSV of the history; pages of the portfolio', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 30), launchBy(0, 20));
  await api.after(10 * HOUR_MS, sellOf(0, 50), EXECUTE);
  const keys = [ownerOf(0)];
  const whole = historyIn(api, keys, HOUR_MS);
  assert.equal(whole.length, 11);
  const [minutes, fives] = [60_000, 300_000].map((length) => historyIn(api, keys, length));
  assert.deepEqual(await post(api, HISTORY, { resolution: 'min1' }, keys), minutes);
  assert.deepEqual(await post(api, HISTORY, { resolution: 'min5' }, keys), fives);
  const cut = await send(api, HISTORY, { resolution: 'hour1', limit: 4 }, keys);
  assert.deepEqual(await cut.json(), whole.slice(-4));
  const nextTo = Number(cut.headers.get('x-next-to'));
  assert.equal(nextTo, whole.at(-4)?.time);
  const older = await send(api, HISTORY, { resolution: 'hour1', to: nextTo }, keys);
  assert.deepEqual(await older.json(), whole.slice(0, -4));
  assert.equal(older.headers.get('x-next-to'), null);
  const from = (whole[3]?.time ?? 0) + 1;
  assert.deepEqual(await post(api, HISTORY, { resolution: 'hour1', from }, keys), whole.slice(4));
  const csv = await send(api, HISTORY, { resolution: 'hour1', format: 'csv' }, keys);
  const [head, ...lines] = (await csv.text()).trim().split('\r\n');
  assert.equal(head, 'time,valueAda,costAda,realizedPnlAda,unrealizedPnlAda,final');
  assert.equal(lines.length, whole.length);
  for (const row of whole) assert.deepEqual([...point.Errors(row)], []);

  const { rows } = portfolioIn(api, keys);
  const page = recordOf(await post(api, PORTFOLIO, { offset: 1, limit: 1 }, keys));
  assert.equal(page.count, 2);
  assert.deepEqual(
    [page.tokens].flat().map((row) => recordOf(row).asset),
    [rows[1]?.asset],
  );
});

test('a history that would hold up everything else is refused, and says what is not', async (t) => {
  const api = await WalletApi.open(t);
  const keys = [ownerOf(0)];
  const launches = Array.from({ length: 21 }, () => launchBy(0, 30));
  for (let block = 0; block < 10; block += 1) await api.block(...launches);
  await api.after(1_000 * HOUR_MS);
  const refused = await send(api, HISTORY, { resolution: 'hour1' }, keys);
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /ask for a shorter span, or days/);
  const days = await post(api, HISTORY, { resolution: 'day1' }, keys);
  assert([days].flat().length > 40);
  for (let block = 0; block < 14; block += 1) await api.block(...launches);
  const many = await send(api, HISTORY, { resolution: 'day1' }, keys);
  assert.equal(many.status, 400);
  assert.match(await many.text(), /more than 500 traded tokens: ask for some of them at a time/);
});

test('strangers have nothing; malformed input is 400', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 30));
  const nothing = recordOf(await post(api, PORTFOLIO, {}, [STRANGER]));
  const { valueAda, pnlPercent, count, tokens, locks } = nothing;
  assert.deepEqual([valueAda, pnlPercent, count, tokens, locks], ['0.000000', null, 0, [], []]);
  assert.deepEqual(await post(api, HISTORY, { resolution: 'day1' }, [STRANGER]), []);
  const bad: [string, object, unknown][] = [
    [PORTFOLIO, {}, []],
    [PORTFOLIO, {}, ['ab']],
    [PORTFOLIO, { limit: 501 }, [STRANGER]],
    [HISTORY, {}, [STRANGER]],
    [HISTORY, { resolution: 'min2' }, [STRANGER]],
    [HISTORY, { resolution: 'day1', limit: 1001 }, [STRANGER]],
    [HISTORY, { resolution: 'day1', from: 5, to: 5 }, [STRANGER]],
  ];
  for (const [path, query, body] of bad) {
    const response = await send(api, path, query, body);
    assert.equal(response.status, 400, `${path} ${JSON.stringify(query)}`);
  }
  assert.equal((await api.api.get(INSIGHTS, { asset: 'x' })).status, 400);
  const unknown = await api.api.get(INSIGHTS, { asset: `${'ab'.repeat(28)}.00` });
  assert.equal(unknown.status, 404);
});
