/** Orders over HTTP: of a token, of keys, by beacon. */

import { ordersTag } from '../../engine/fold/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import { finish } from '../../engine/runtime/slices.ts';
import { LIST_BODY_BYTES } from '../gateway/bodyLimits.ts';
import { isRecord } from '../gateway/input.ts';
import type { Answer, Handled, Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import { ApiOrder, OrderPage } from '../schemas/apiOrder.ts';
import { listOf } from '../schemas/format.ts';
import { PageCache } from '../schemas/pageCache.ts';
import type { SlicedReads, Steps } from '../schemas/slicedReads.ts';
import { refuseSpan, type TimeSpan } from '../schemas/timeSpan.ts';
import { withFills } from './fills.ts';
import { type OrderFilter, type OrderNode, Orders } from './orderLookup.ts';
import {
  AnyKeys,
  BeaconQuery,
  HistoryByAssetQuery,
  HistoryQuery,
  OrderFeedQuery,
  OrderTrades,
  SomeKeys,
} from './schema.ts';

const COMMON = {
  tag: 'Orders',
  rate: 'read',
  needsSync: true,
  positioned: true,
} as const satisfies Partial<Route>;
const PAGED = {
  ...COMMON,
  method: 'POST',
  maxBodyBytes: LIST_BODY_BYTES,
  answers: { 200: { description: 'A page of orders', schema: OrderPage } },
  csv: { file: 'orders', row: ApiOrder, rows: ledgerOf },
} as const;
const FEED_TEXT =
  'For an exact walk give `before`, the last row of the page before. `from` and `to` are of ' +
  '`timestamp`. Orders in the mempool are always all of them.';
const DEFAULT_LIMIT = 100;

interface FeedParts {
  readonly node: OrderNode;
  readonly reads: SlicedReads;
}

export function orderFeedRoutes(node: OrderNode, reads: SlicedReads): Route[] {
  const pages = new PageCache(node);
  const ofKeys = (path: string, operationId: string, summary: string) =>
    ({
      ...PAGED,
      path: `/v1/user-history-feed/initial/state${path}`,
      operationId,
      summary,
    }) as const;
  return [
    route({
      ...PAGED,
      path: '/v1/orders-feed/initial/state',
      operationId: 'orderFeed',
      summary: 'Orders of a token',
      description: FEED_TEXT,
      query: OrderFeedQuery,
      body: AnyKeys,
      causes: ['ASSET_NOT_FOUND'],
      handle: ({ query, body }) => feed(query, body ?? [], { node, reads, pages }),
    }),
    route({
      ...ofKeys('', 'userHistory', 'Orders of payment keys, over all tokens'),
      query: HistoryQuery,
      body: SomeKeys,
      handle: ({ query, body }) =>
        page(query, { node, reads }, { token: null, pkhs: distinct(body) }),
    }),
    route({
      ...ofKeys('/by/asset', 'userHistoryByAsset', 'Orders of payment keys for one token'),
      query: HistoryByAssetQuery,
      body: SomeKeys,
      causes: ['ASSET_NOT_FOUND'],
      handle: ({ query, body }) => {
        const token = query.asset.toLowerCase();
        const refused = refuseSpan(query) ?? unknownAsset(token, node);
        return refused ?? page(query, { node, reads }, { token, pkhs: distinct(body) });
      },
    }),
    route({
      ...ofKeys('/open', 'userOpenOrders', 'Orders of payment keys that have not ended'),
      description: 'Every status except Evaluated, Refunded and Dropped.',
      query: HistoryQuery,
      body: SomeKeys,
      handle: ({ query, body }) =>
        page(query, { node, reads }, { token: null, pkhs: distinct(body), onlyOpen: true }),
    }),
    route({
      ...COMMON,
      method: 'GET',
      path: '/v1/user-history-feed/order/trades',
      operationId: 'orderByBeacon',
      summary: 'One order and its fill, by beacon',
      query: BeaconQuery,
      answers: { 200: { description: 'The order', schema: OrderTrades } },
      causes: ['ORDER_NOT_FOUND'],
      handle: ({ query }) => byBeacon(query.beacon.toLowerCase(), node),
    }),
  ];
}

/** As CSV a page has the orders on the chain: orders of the mempool are on no page. */
function ledgerOf(answer: unknown): readonly unknown[] {
  const ledger = isRecord(answer) && isRecord(answer.ledger) ? answer.ledger : {};
  return listOf(ledger.items);
}

function feed(
  query: OrderFeedQuery,
  pkhs: readonly string[],
  { node, reads, pages }: FeedParts & { readonly pages: PageCache },
): Handled | Promise<Answer | Failure> {
  const token = query.asset.toLowerCase();
  const refused = refuseSpan(query) ?? unknownAsset(token, node);
  if (refused !== null) return refused;
  const keys = distinct(pkhs);
  const { offset, limit, before, from, to } = query;
  const isFirst = offset === 0 && [before, from, to].every((bound) => bound === undefined);
  if (isFirst && keys.length === 0 && limit === DEFAULT_LIMIT) {
    const filter = { token, pkhs: null };
    const first = () => finish(render(new Orders(node), filter, { offset: 0, limit })).body;
    return { body: pages.of(ordersTag(token), 'first', first) };
  }
  return page(query, { node, reads }, { token, pkhs: keys.length === 0 ? null : keys });
}

function page(query: HistoryQuery, { node, reads }: FeedParts, filter: OrderFilter) {
  const refused = refuseSpan(query);
  if (refused !== null) return refused;
  const { offset, limit, before } = query;
  const range = { offset, limit };
  return reads.answer((state) => {
    const orders = new Orders(node, state);
    if (before === undefined) return render(orders, filter, range, query);
    const place = orders.placeOf(before.toLowerCase());
    return place === null
      ? unknownOrder(before)
      : render(orders, filter, { ...range, before: place }, query);
  });
}

// biome-ignore lint/correctness/useYield: answered like a page
function* unknownOrder(before: string): Steps<Failure> {
  return invalid('query.before', `No order ${before} is on the chain (now): begin at the top.`);
}

/** The mempool is read before the first pause. */
function* render(
  orders: Orders,
  filter: OrderFilter,
  range: Parameters<Orders['ledger']>[1],
  span: TimeSpan = {},
) {
  const mempool = orders.mempool(filter);
  const page = { ledger: yield* orders.ledger(filter, range, span), mempool };
  return { body: Buffer.from(JSON.stringify(page)) };
}

function byBeacon(beacon: string, node: OrderNode): Answer | Failure {
  const orders = new Orders(node);
  const order = orders.byBeacon(beacon);
  if (order !== null) {
    return { body: JSON.stringify(withFills(order, orders.fillsOf(order.entityId))) };
  }
  return new Failure('ORDER_NOT_FOUND', `No order with the beacon ${beacon} is known here.`);
}

function unknownAsset(asset: AssetId, { fold }: OrderNode): Failure | null {
  if (fold.directory.find(asset) !== null) return null;
  return new Failure('ASSET_NOT_FOUND', `No token ${asset} was launched here.`);
}

/** Distinct, in lower case. */
function distinct(keys: readonly string[]): string[] {
  return [...new Set(keys.map((key) => key.toLowerCase()))];
}
