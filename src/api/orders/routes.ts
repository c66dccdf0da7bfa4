/** Orders over HTTP: of a token, of keys, by beacon. */
import { ordersTag } from '../../engine/actors/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import type { Answer, Route, RouteRequest } from '../gateway/port.ts';
import { KeptPages } from '../schemas/keptPages.ts';
import { withFills } from './fills.ts';
import { type OrderNode, Orders, type OrderWish } from './market.ts';
import {
  AnyKeys,
  BeaconQuery,
  HistoryByAssetQuery,
  HistoryQuery,
  OrderFeedQuery,
  OrderPage,
  OrderTrades,
  SomeKeys,
} from './schema.ts';

const COMMON = {
  tag: 'Orders',
  rate: 'read',
  needsSync: true,
  positioned: true,
  etag: false,
  gzip: false,
} as const;
const PAGED = {
  ...COMMON,
  method: 'POST',
  answers: { 200: { description: 'A page of orders', schema: OrderPage } },
} as const;
const DEFAULT_LIMIT = 100;

export function orderFeedRoutes(node: OrderNode): Route[] {
  const pages = new KeptPages(node);
  const ofKeys = (path: string, operationId: string, summary: string) =>
    ({
      ...PAGED,
      path: `/v1/user-history-feed/initial/state${path}`,
      operationId,
      summary,
    }) as const;
  return [
    {
      ...PAGED,
      path: '/v1/orders-feed/initial/state',
      operationId: 'orderFeed',
      summary: 'Orders of a token',
      description: 'For an exact walk give `before`, the last row of the page before.',
      query: OrderFeedQuery,
      body: AnyKeys,
      causes: ['ASSET_NOT_FOUND'],
      handle: (request) => feed(request, node, pages),
    },
    {
      ...ofKeys('', 'userHistory', 'Orders of payment keys, over all tokens'),
      query: HistoryQuery,
      body: SomeKeys,
      handle: (request) => page(request, node, { token: null, pkhs: keysOf(request) }),
    },
    {
      ...ofKeys('/by/asset', 'userHistoryByAsset', 'Orders of payment keys for one token'),
      query: HistoryByAssetQuery,
      body: SomeKeys,
      causes: ['ASSET_NOT_FOUND'],
      handle: (request) =>
        unknownAsset(request, node) ??
        page(request, node, { token: assetOf(request), pkhs: keysOf(request) }),
    },
    {
      ...ofKeys('/open', 'userOpenOrders', 'Orders of payment keys that have not ended'),
      description: 'Every status except Evaluated, Refunded and Dropped.',
      query: HistoryQuery,
      body: SomeKeys,
      handle: (request) =>
        page(request, node, { token: null, pkhs: keysOf(request), onlyOpen: true }),
    },
    {
      ...COMMON,
      method: 'GET',
      path: '/v1/user-history-feed/order/trades',
      operationId: 'orderByBeacon',
      summary: 'One order and its fill, by beacon',
      query: BeaconQuery,
      answers: { 200: { description: 'The order', schema: OrderTrades } },
      causes: ['ORDER_NOT_FOUND'],
      handle: ({ query }) => byBeacon(String(query.beacon).toLowerCase(), node),
    },
  ];
}

function feed(request: RouteRequest, node: OrderNode, pages: KeptPages): Answer | Failure {
  const unknown = unknownAsset(request, node);
  if (unknown !== null) return unknown;
  const token = assetOf(request);
  const keys = keysOf(request);
  const { offset = 0, limit = DEFAULT_LIMIT, before } = request.query;
  const isUsual = keys.length === 0 && offset === 0 && before === undefined;
  if (isUsual && limit === DEFAULT_LIMIT) {
    const first = () => render(node, { token, pkhs: null }, { offset: 0, limit });
    return { body: pages.of(ordersTag(token), 'first', first) };
  }
  return page(request, node, { token, pkhs: keys.length === 0 ? null : keys });
}

function page({ query }: RouteRequest, node: OrderNode, wish: OrderWish): Answer | Failure {
  const { offset = 0, limit = DEFAULT_LIMIT, before } = query;
  const range = { offset: Number(offset), limit: Number(limit) };
  if (before === undefined) return { body: render(node, wish, range) };
  const place = new Orders(node).placeOf(String(before).toLowerCase());
  if (place !== null) return { body: render(node, wish, { ...range, before: place }) };
  return invalid('query.before', `No order ${before} is on the chain (now): begin at the top.`);
}

function render(
  node: OrderNode,
  wish: OrderWish,
  range: Parameters<Orders['ledger']>[1],
): Uint8Array {
  const orders = new Orders(node);
  const page = { ledger: orders.ledger(wish, range), mempool: orders.mempool(wish) };
  return Buffer.from(JSON.stringify(page));
}

function byBeacon(beacon: string, node: OrderNode): Answer | Failure {
  const orders = new Orders(node);
  const order = orders.byBeacon(beacon);
  if (order !== null) {
    return { body: JSON.stringify(withFills(order, orders.tradeOf(order.entityId))) };
  }
  return new Failure('ORDER_NOT_FOUND', `No order with the beacon ${beacon} is known here.`);
}

function unknownAsset(request: RouteRequest, { fold }: OrderNode): Failure | null {
  const asset = assetOf(request);
  if (fold.directory.find(asset) !== null) return null;
  return new Failure('ASSET_NOT_FOUND', `No token ${asset} was launched here.`);
}

function assetOf({ query }: RouteRequest): AssetId {
  return String(query.asset).toLowerCase();
}

/** Distinct, in lower case. */
function keysOf({ body }: RouteRequest): string[] {
  // trust: the gateway has checked the body against `AnyKeys` or `SomeKeys`
  const keys = (body ?? []) as readonly string[];
  return [...new Set(keys.map((key) => key.toLowerCase()))];
}
