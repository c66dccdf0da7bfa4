/** Orders and trades over HTTP: every page from anywhere, every cursor, every bad input. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { orderFeedRoutes } from '../../../src/api/orders/routes.ts';
import { SlicedReads } from '../../../src/api/schemas/slicedReads.ts';
import { tradeRoutes } from '../../../src/api/trades/routes.ts';
import { beaconOf, ownerOf } from '../../chain/foldState.ts';
import { type Shown, truthOf } from '../../chain/mempoolTruth.ts';
import { recordOf } from '../../support/subscription.ts';
import type { MarketApi } from '../marketApi.ts';
import { FEED, HISTORY } from './offer.ts';
import { openStall } from './stall.ts';

const UNKNOWN = `${'ab'.repeat(28)}.00`;
const EVERYBODY = Array.from({ length: 1_000 }, (_, user) => ownerOf(user));

interface Span {
  readonly from?: number;
  readonly to?: number;
}

async function post(
  api: MarketApi,
  path: string,
  query: object,
  body?: unknown,
): Promise<Response> {
  const texts = Object.entries(query).map(([name, value]) => [name, String(value)]);
  const text = new URLSearchParams(Object.fromEntries(texts));
  const sent =
    body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  return fetch(`${api.url}${path}?${text}`, { method: 'POST', ...sent });
}

function routesOf({ world: { node } }: MarketApi) {
  return orderFeedRoutes(node, new SlicedReads(node));
}

test('a page is exact, whatever is asked', async (scope) => {
  const { api, market, token } = await openStall(scope);
  const Page = Compile(routesOf(api)[0]?.answers?.[200]?.schema ?? {});
  const truth = truthOf(market.facts, 0);
  const routes = [
    { path: FEED, asset: true, onlyOpen: false },
    { path: HISTORY, asset: false, onlyOpen: false },
    { path: `${HISTORY}/by/asset`, asset: true, onlyOpen: false },
    { path: `${HISTORY}/open`, asset: false, onlyOpen: true },
  ];
  const isOpen = ({ status }: Shown) => status !== 'Evaluated' && status !== 'Refunded';
  const times = truth.ledger.map(({ timestamp }) => timestamp);
  // Seconds of blocks, one more and one less, so that both ends of the span are tested.
  const spanWithin = fc
    .record(
      {
        from: fc.tuple(fc.constantFrom(...times), fc.integer({ min: -1, max: 1 })),
        to: fc.tuple(fc.constantFrom(...times), fc.integer({ min: -1, max: 1 })),
      },
      { requiredKeys: [] },
    )
    .map(({ from, to }): Span => {
      const ends: Span = {
        ...(from && { from: from[0] + from[1] }),
        ...(to && { to: to[0] + to[1] }),
      };
      const isSpan = (ends.from ?? 0) < (ends.to ?? Infinity);
      return isSpan ? ends : { from: ends.to ?? 0, to: (ends.from ?? 0) + 1 };
    });
  let rows = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...routes),
      fc.constantFrom(0, 1, 3, 1_000),
      fc.option(fc.oneof(fc.nat(130), fc.constant(999_999_999_999_999)), { nil: undefined }),
      fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
      fc.option(fc.nat(200), { nil: undefined }),
      fc.oneof(fc.constant<Span>({}), spanWithin),
      async ({ path, asset, onlyOpen }, keys, offset, limit, cursor, span) => {
        if (keys === 0 && path !== FEED) return;
        const pkhs = EVERYBODY.slice(0, keys);
        const isWished = (order: Shown) =>
          (!asset || [order.from, order.to].includes(token)) &&
          (keys === 0 || pkhs.includes(order.pkh));
        const wished = truth.ledger.filter(isWished);
        const { from: fromS, to: toS } = span;
        const ledger = wished
          .filter((order) => !onlyOpen || isOpen(order))
          .filter(({ timestamp }) => timestamp >= (fromS ?? 0) && timestamp < (toS ?? Infinity));
        // A cursor may be anybody's order: it is a place in the chain.
        const before = cursor === undefined ? undefined : truth.ledger[cursor]?.entityId;
        const behind = truth.ledger.findIndex(({ entityId }) => entityId === before);
        const rest = ledger.filter((order) => truth.ledger.indexOf(order) > behind);
        const query = { ...(asset ? { asset: token } : {}), offset, limit, before, ...span };
        const given = Object.entries(query).filter(([, value]) => value !== undefined);
        // Twice each, in another case: they count once.
        const body = [...pkhs.slice(0, 500), ...pkhs.map((each) => each.toUpperCase())];
        const sent = keys === 0 ? [undefined, null, []][(offset ?? 0) % 3] : body.slice(-1_000);
        const response = await post(api, path, Object.fromEntries(given), sent);
        assert.equal(response.status, 200);
        assert.match(response.headers.get('x-position') ?? '', /:\d+$/);
        const answer: unknown = await response.json();
        const from = offset ?? 0;
        const items = rest.slice(from, from + (limit ?? 100));
        rows += items.length;
        const mempool = truth.mempool.filter(isWished);
        assert.deepEqual(answer, { ledger: { count: ledger.length, items }, mempool });
        assert(Page.Check(answer), JSON.stringify(Page.Errors(answer)));
      },
    ),
    { numRuns: 200, includeErrorInReport: true },
  );
  assert(rows > 200, `${rows} rows`);
  assert.deepEqual(api.faults, []);
});

test('cursors that are on no chain, and input that is none, are refused', async (scope) => {
  const { api, market, token } = await openStall(scope);
  const asset = { asset: token };
  const [ann = ''] = EVERYBODY;
  const refused = async (path: string, query: object, body: unknown, status = 400) => {
    const response = await post(api, path, query, body);
    const said = recordOf(await response.json());
    const what = `${path} ${JSON.stringify(query)} ${JSON.stringify(body)?.slice(0, 80)}`;
    assert.equal(response.status, status, `${what}: ${said.message}`);
    assert.equal(said.cause, status === 404 ? 'ASSET_NOT_FOUND' : 'INVALID_PARAMS', what);
  };
  const { ledger, mempool } = truthOf(market.facts, 0);
  const undone = ledger[0]?.entityId ?? '';
  await market.perform({ do: 'back', blocks: 1 });
  const cursors = [`${'ab'.repeat(32)}:0`, mempool[0]?.entityId, undone, 'nonsense', 'ab:1', -1];
  const bad = [
    ...cursors.map((before) => ({ before })),
    ...[0, 101, -1, 1.5, 'abc', '1e1', 'NaN'].map((limit) => ({ limit })),
    ...[-1, 0.5, 'x', '1e3'].map((offset) => ({ offset })),
    ...[-1, 1.5, 'x', 1e12].flatMap((time) => [{ from: time }, { to: time }]),
    { from: 5, to: 5 },
    { from: 6, to: 5 },
  ];
  for (const query of bad) {
    await refused(FEED, { ...asset, ...query }, []);
    await refused(HISTORY, query, [ann]);
    await refused(`${HISTORY}/by/asset`, { ...asset, ...query }, [ann]);
    await refused(`${HISTORY}/open`, query, [ann]);
  }
  const bodies = [{}, { pkhs: [ann] }, ann, 7, true, [7], [null], [[ann]], ['ab'], [`${ann}0`]];
  const many = [...EVERYBODY, ownerOf(1_000)];
  for (const body of [...bodies, many]) {
    await refused(FEED, asset, body);
    await refused(HISTORY, {}, body);
    await refused(`${HISTORY}/open`, {}, body);
  }
  for (const body of [undefined, null, []]) {
    await refused(HISTORY, {}, body);
    await refused(`${HISTORY}/by/asset`, asset, body);
    await refused(`${HISTORY}/open`, {}, body);
  }
  for (const path of [FEED, `${HISTORY}/by/asset`]) {
    for (const none of [{}, { asset: '' }, { asset: 'x' }, { asset: `${token}0z` }]) {
      await refused(path, none, [ann]);
    }
    for (const unknown of [UNKNOWN, '.']) await refused(path, { asset: unknown }, [ann], 404);
    await refused(path, { asset: UNKNOWN, limit: 0 }, [ann], 400);
  }
  assert.equal((await post(api, FEED, { ...asset, limit: '', before: 'null' })).status, 200);
  assert.deepEqual(api.faults, []);
});

test('trades go back page by page, and the cursor need not be there any more', async (scope) => {
  const { api, market, token } = await openStall(scope);
  const all = await api.json('/v1/trades', { asset: token, limit: 500 });
  assert(Array.isArray(all) && all.length > 5);
  const Rows = Compile(tradeRoutes(api.world.node)[0]?.answers?.[200]?.schema ?? {});
  assert(Rows.Check(all), JSON.stringify(Rows.Errors(all)));
  const walked: unknown[] = [];
  for (let before: Record<string, string> = {}; ; ) {
    const page = await api.json('/v1/trades', { asset: token, limit: 2, ...before });
    assert(Array.isArray(page));
    if (page.length === 0) break;
    walked.push(...page);
    before = { before: String(recordOf(page.at(-1)).id) };
  }
  assert.deepEqual(walked, all);
  for (const query of [{ limit: 0 }, { limit: 501 }, { limit: 1.5 }, { before: 'x' }, {}]) {
    const asset = Object.keys(query).length === 0 ? {} : { asset: token };
    const response = await api.get('/v1/trades', { ...asset, ...query });
    assert.equal(response.status, 400, JSON.stringify(query));
  }
  assert.equal((await api.get('/v1/trades', { asset: UNKNOWN })).status, 404);
  await market.perform({ do: 'back', blocks: 20 });
  const before = String(recordOf(all[0]).id);
  const rest = await api.json('/v1/trades', { asset: token, before });
  assert.deepEqual(rest, await api.json('/v1/trades', { asset: token }));
});

test('trades of a span, a key, a side and a size are those of all trades', async (scope) => {
  const { api, token } = await openStall(scope);
  const all = await api.json('/v1/trades', { asset: token, limit: 500 });
  assert(Array.isArray(all));
  const trades = all.map(recordOf);
  const some = (name: string) => fc.constantFrom(...trades.map((trade) => String(trade[name])));
  const time = fc.constantFrom(...trades.flatMap(({ time }) => [Number(time), Number(time) + 1]));
  const asked = fc.record(
    {
      from: time,
      to: time,
      pkh: some('pkh').map((pkh) => pkh.toUpperCase()),
      side: fc.constantFrom('buy', 'sell'),
      minQuote: some('quoteAmount'),
      before: some('id'),
      limit: fc.integer({ min: 1, max: 20 }),
    },
    { requiredKeys: [] },
  );
  let rows = 0;
  await fc.assert(
    fc.asyncProperty(asked, async (query) => {
      const { from = 0, to = Infinity, before = '~', pkh, side, minQuote = 0, limit } = query;
      if (from >= to) return;
      const wanted = trades.filter(
        (trade) =>
          Number(trade.time) >= from &&
          Number(trade.time) < to &&
          String(trade.id) < before &&
          (pkh === undefined || trade.pkh === pkh.toLowerCase()) &&
          (side === undefined || trade.side === side) &&
          BigInt(String(trade.quoteAmount)) >= BigInt(minQuote),
      );
      const page = await api.json('/v1/trades', { asset: token, ...query });
      assert.deepEqual(page, wanted.slice(0, limit ?? 100));
      rows += wanted.length;
    }),
    { numRuns: 200 },
  );
  assert(rows > 20, `${rows} rows`);
  const bad = [
    { from: 2, to: 2 },
    { pkh: 'ab' },
    { side: 'both' },
    { minQuote: '-1' },
    { minQuote: '1.5' },
    { from: 'x' },
  ];
  for (const query of bad) {
    const response = await api.get('/v1/trades', { asset: UNKNOWN, ...query });
    assert.equal(response.status, 400, JSON.stringify(query));
  }
  assert.deepEqual(api.faults, []);
});

/** Columns and rows; no field of these answers holds a separator. */
function readCsv(text: string): { columns: readonly string[]; rows: readonly string[][] } {
  const [head = '', ...lines] = text.split('\r\n');
  assert.equal(lines.pop(), '', 'the last row ends too');
  return { columns: head.split(','), rows: lines.map((line) => line.split(',')) };
}

function assertSameRows(text: string, rows: readonly unknown[]): void {
  const csv = readCsv(text);
  assert(rows.length > 3 && csv.rows.length === rows.length);
  for (const [index, row] of rows.entries()) {
    const fields = csv.columns.map((column) =>
      column.split('.').reduce<unknown>((value, name) => recordOf(value)[name], row),
    );
    assert.deepEqual(
      csv.rows[index],
      fields.map((field) => String(field ?? '')),
    );
  }
}

test('bars, trades and orders come as CSV with the rows of the JSON answer', async (scope) => {
  const { api, token } = await openStall(scope);
  const span = { base: token, quote: '.', resolution: 'min1', from: 0, to: 4_000_000_000 };
  const reads: [string, Record<string, string | number>, string][] = [
    ['/v1/charts/history', span, 'pair.base,pair.quote,time,low,high,open,close,trades,final'],
    ['/v1/charts/mcap/history', span, 'pair.base,pair.quote,time,low,high,open,close,trades'],
    ['/v1/trades', { asset: token }, 'id,time,side,price,baseAmount,quoteAmount,txHash,pkh'],
  ];
  for (const [path, query, columns] of reads) {
    const json = await api.get(path, query);
    const csv = await api.get(path, { ...query, format: 'csv' });
    const text = await csv.text();
    assert(text.startsWith(`${columns},`), text.slice(0, 200));
    const rows: unknown = await json.json();
    assert(Array.isArray(rows));
    assertSameRows(text, rows);
    const texts = Object.entries(query).map(([name, value]) => [name, String(value)]);
    const url = `${api.url}${path}?${new URLSearchParams(Object.fromEntries(texts))}`;
    const tag = csv.headers.get('etag') ?? '';
    assert(tag !== '' && tag !== json.headers.get('etag'));
    assert.match(json.headers.get('vary') ?? '', /^Accept(,|$)/);
    assert.equal(csv.headers.get('x-position'), json.headers.get('x-position'));
    const accept = { accept: 'text/csv' };
    const again = await fetch(url, { headers: { ...accept, 'if-none-match': tag } });
    assert.equal(again.status, 304);
    const refused = await fetch(url.replace(token, UNKNOWN), { headers: accept });
    assert.equal(refused.status, 404);
    assert.equal(recordOf(await refused.json()).cause, 'ASSET_NOT_FOUND');
  }
  const body = [EVERYBODY[1]];
  const page = recordOf(await (await post(api, HISTORY, {}, body)).json());
  const { items } = recordOf(page.ledger);
  const orders = await post(api, HISTORY, { format: 'csv' }, body);
  assert.match(orders.headers.get('content-disposition') ?? '', /orders\.csv/);
  assert(Array.isArray(items));
  assertSameRows(await orders.text(), items);
  assert.equal((await api.get('/v1/trades', { asset: token, format: 'xml' })).status, 400);
  assert.deepEqual(api.faults, []);
});

test('an order is found by its beacon in any case; others are not', async (scope) => {
  const { api, market } = await openStall(scope);
  const path = '/v1/user-history-feed/order/trades';
  const { ledger, mempool } = truthOf(market.facts, 0);
  const orderStatus: Record<string, string> = {
    Pending: 'open',
    Evaluated: 'closed',
    Refunded: 'cancelled',
  };
  const Found = Compile(
    routesOf(api).find((each) => each.path === path)?.answers?.[200]?.schema ?? {},
  );
  const statuses = new Set<string>();
  for (const order of [...ledger, ...mempool]) {
    const beacon = order.beacon.toUpperCase();
    const found = recordOf(await api.json(path, { beacon }));
    const { orderStatus: is, inputAmount, outputAmount, price, filled, fills, ...rest } = found;
    assert.deepEqual(rest, order);
    assert.deepEqual([inputAmount, outputAmount], [order.fromAmount, order.toAmount]);
    const isFilled = order.status === 'Evaluated';
    const fill = {
      txHash: order.evaluatedTransactionId,
      time: order.evaluatedAt,
      fromAmount: order.fromAmount,
      toAmount: order.toAmount,
      price,
    };
    assert.deepEqual([filled, fills], isFilled ? ['100', [fill]] : ['0', []]);
    assert.equal(is, orderStatus[order.status] ?? 'mempool');
    assert(Found.Check(found), JSON.stringify(Found.Errors(found)));
    statuses.add(order.status);
  }
  assert(statuses.size >= 5, [...statuses].join());
  assert.equal((await api.get(path, { beacon: beaconOf('unknown') })).status, 404);
  for (const beacon of ['', 'x', beaconOf('a').slice(1), `${beaconOf('a')}0`]) {
    assert.equal((await api.get(path, { beacon })).status, 400, beacon);
  }
});
