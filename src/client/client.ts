/**
 * The client of an upcurve market, for browsers and Node ≥ 22: calls over HTTP, and local mirrors
 * over one socket that comes back by itself and goes on where it was, on any node.
 */
import { parseAddress } from '../cardano/codec/address.ts';
import { type CapBar, capSource, type PriceBar, priceSource } from './mirrors/barSource.ts';
import { BarsMirror } from './mirrors/bars.ts';
import { OrdersMirror } from './mirrors/orders.ts';
import { PoolsMirror } from './mirrors/pools.ts';
import { TradesMirror } from './mirrors/trades.ts';
import { WholeMirror } from './mirrors/whole.ts';
import { Nodes } from './nodes.ts';
import { Http } from './rest/http.ts';
import * as market from './rest/market.ts';
import * as wallets from './rest/wallets.ts';
import { Connection } from './socket/connection.ts';
import type { Encoding } from './socket/frame.ts';
import type { Receiver, Wish } from './socket/subscription.ts';
import { type Surroundings, systemSurroundings } from './surroundings.ts';
import type {
  HealthData,
  LiquidityPoolInfo,
  OrderBookData,
  PairOf,
  PoolListName,
  Position,
  Resolution,
  Topics,
} from './types.ts';

export interface ClientOptions extends Partial<Surroundings> {
  /** Base URL of a node, `https://api.example.org`; several of one market are tried in turn. */
  readonly url: string | readonly string[];
  /** Of the socket; MessagePack costs a package of 40 kB and saves bandwidth. */
  readonly encoding?: Encoding;
  /** Of a call over HTTP; 15 s unless set. */
  readonly timeoutMs?: number;
  /** How often a call is sent while the server is busy (429, 503); 1 unless set. */
  readonly maxAttempts?: number;
  /** A socket without any frame for so long is given up; 15 s unless set. */
  readonly silenceMs?: number;
}

export interface BarOptions {
  /** Market caps in ADA instead of prices; prices unless set. */
  readonly kind?: 'price' | 'mcap';
  /** Flat bars where nothing was traded. */
  readonly fill?: 'previous';
  /** Of the first page of history; 300 unless set, at most 5000. */
  readonly limit?: number;
  /** Updates a second, at most. */
  readonly maxHz?: number;
}

export interface TopicWish<T extends keyof Topics> extends Wish {
  readonly topic: T;
  /** undefined for topics that take none. */
  readonly data: Topics[T]['input'];
}

/** A `Receiver` of one topic; what `event` says decides which of the shapes `update` is given. */
export interface TopicReceiver<T extends keyof Topics> extends Receiver {
  snapshot(data: Topics[T]['data'], position: Position): void;
  update(
    event: string,
    data: Topics[T]['data'] | Topics[T]['others'][keyof Topics[T]['others']],
    position: Position,
  ): void;
}

type OrdersOf = (asset: string, options?: { readonly pkhs?: readonly string[] }) => OrdersMirror;

const USUAL_MS = 15_000;
const USUAL_BARS = 300;

export class Client {
  readonly connection: Connection;
  readonly charts: ReturnType<typeof market.chartsRoutes>;
  readonly holders: ReturnType<typeof market.holdersRoutes>;
  readonly build: ReturnType<typeof wallets.buildRoutes>;
  readonly submit: ReturnType<typeof wallets.submitRoutes>;
  readonly vesting: ReturnType<typeof wallets.vestingRoutes>;
  readonly utxos: ReturnType<typeof wallets.utxosRoutes>;
  readonly devnet: ReturnType<typeof wallets.devnetRoutes>;
  readonly server: ReturnType<typeof wallets.serverRoutes>;
  /** Called: a mirror of a list. Its members: calls over HTTP. */
  readonly pools: ((list: PoolListName) => PoolsMirror) & ReturnType<typeof market.poolsRoutes>;
  /** Called: a mirror of a token's orders. Its members: calls over HTTP. */
  readonly orders: OrdersOf & ReturnType<typeof market.ordersRoutes>;
  /** Called: a mirror of a token's trades. Its members: calls over HTTP. */
  readonly trades: ((asset: string) => TradesMirror) & ReturnType<typeof market.tradesRoutes>;
  readonly #http: Http;
  readonly #surroundings: Surroundings;

  constructor(options: ClientOptions) {
    const { url, encoding = 'json', timeoutMs = USUAL_MS, silenceMs = USUAL_MS } = options;
    const { maxAttempts = 1 } = options;
    const nodes = new Nodes(typeof url === 'string' ? [url] : url);
    const around = { ...systemSurroundings, ...options };
    const { clock, chance, fetch, openSocket } = around;
    this.#surroundings = { clock, chance, fetch, openSocket };
    const http = new Http({ nodes, fetch, clock, timeoutMs, maxAttempts });
    const connection = new Connection({ ...this.#surroundings, nodes, encoding, silenceMs });
    this.#http = http;
    this.connection = connection;
    this.charts = market.chartsRoutes(http);
    this.holders = market.holdersRoutes(http);
    this.build = wallets.buildRoutes(http);
    this.submit = wallets.submitRoutes(http);
    this.vesting = wallets.vestingRoutes(http);
    this.utxos = wallets.utxosRoutes(http);
    this.devnet = wallets.devnetRoutes(http);
    this.server = wallets.serverRoutes(http);
    const poolsOf = (list: PoolListName) => new PoolsMirror(connection, list);
    this.pools = Object.assign(poolsOf, market.poolsRoutes(http));
    const routes = market.ordersRoutes(http);
    this.orders = Object.assign(ordersOf(connection, routes), routes);
    const tape = market.tradesRoutes(http);
    const tradesOf = (asset: string) =>
      new TradesMirror(connection, asset, (before, limit) => tape.list({ asset, before, limit }));
    this.trades = Object.assign(tradesOf, tape);
  }

  bars(
    pair: PairOf,
    interval: Resolution,
    options?: BarOptions & { kind?: 'price' },
  ): BarsMirror<PriceBar>;
  bars(
    pair: PairOf,
    interval: Resolution,
    options: BarOptions & { kind: 'mcap' },
  ): BarsMirror<CapBar>;
  bars(pair: PairOf, interval: Resolution, options: BarOptions = {}) {
    const { kind = 'price', limit = USUAL_BARS, fill, maxHz } = options;
    const { clock, chance } = this.#surroundings;
    const parts = { connection: this.connection, clock, chance };
    const wish = { pair, interval, fill, maxHz };
    return kind === 'price'
      ? new BarsMirror(parts, priceSource(this.charts, wish), limit)
      : new BarsMirror(parts, capSource(this.charts, wish), limit);
  }

  /** A pool with its token; null while the server knows none. */
  pool(asset: string): WholeMirror<LiquidityPoolInfo> {
    return new WholeMirror(this.connection, { topic: 'PoolFeed', data: { asset } });
  }

  /** The pool with the highest market cap; null while there is none. */
  topPool(): WholeMirror<LiquidityPoolInfo> {
    return new WholeMirror(this.connection, { topic: 'KOTH' });
  }

  /** Open orders of a token by worst price. */
  orderBook(asset: string): WholeMirror<NonNullable<OrderBookData>> {
    return new WholeMirror(this.connection, { topic: 'OrderBook', data: { asset } });
  }

  /** The node that is connected, once a second. */
  health(): WholeMirror<HealthData> {
    return new WholeMirror(this.connection, { topic: 'Health' });
  }

  /** Orders of an address' payment key, over all tokens or for one. */
  userOrders(address: string, options: { readonly asset?: string } = {}): OrdersMirror {
    const { asset } = options;
    const wish =
      asset === undefined
        ? { topic: 'UserHistoryByAddress', data: { address } }
        : { topic: 'UserHistoryByAddressAndAsset', data: { address, asset } };
    return new OrdersMirror(this.connection, wish, (before) => {
      const keys = [parseAddress(address)?.payment.hash ?? ''];
      return asset === undefined
        ? this.orders.ofKeys(keys, { before })
        : this.orders.ofKeysByAsset(keys, { asset, before });
    });
  }

  /** Protocol v2 itself, for what the mirrors do not do. */
  subscribe<T extends keyof Topics>(
    wish: TopicWish<T>,
    receiver: TopicReceiver<T>,
  ): { close(): void } {
    return this.connection.subscribe(wish, receiver);
  }

  /** Ends the socket, all mirrors and what is under way. */
  close(): void {
    this.connection.close();
    this.#http.close();
  }
}

function ordersOf(
  connection: Connection,
  { feed }: ReturnType<typeof market.ordersRoutes>,
): OrdersOf {
  return (asset, { pkhs } = {}) => {
    const data = { asset, pkhFilter: pkhs ?? null };
    return new OrdersMirror(connection, { topic: 'LiveOrdersFeed', data }, (before) =>
      feed({ asset, before }, pkhs),
    );
  };
}
