/**
 * The client of an upcurve market, for browsers and Node ≥ 22: calls over HTTP, and local mirrors
 * over one socket that reconnects by itself and continues where it was, on any node.
 */
import { parseAddress } from '../cardano/codec/address.ts';
import { type CapBar, capSource, type PriceBar, priceSource } from './mirrors/barSource.ts';
import { BarsMirror } from './mirrors/bars.ts';
import { LaunchesMirror } from './mirrors/launches.ts';
import { OrdersMirror } from './mirrors/orders.ts';
import { PoolsMirror } from './mirrors/pools.ts';
import { TickersMirror } from './mirrors/tickers.ts';
import { TradesMirror } from './mirrors/trades.ts';
import { WholeMirror } from './mirrors/whole.ts';
import { Nodes } from './nodes.ts';
import { type ClientPlatform, systemPlatform } from './platform.ts';
import { Http } from './rest/http.ts';
import * as market from './rest/market.ts';
import * as wallets from './rest/wallets.ts';
import { webhooksRoutes } from './rest/webhooks.ts';
import { Connection, type Transport } from './socket/connection.ts';
import type { Encoding } from './socket/frame.ts';
import type { Receiver, SubscribeParams } from './socket/subscription.ts';
import type {
  HealthData,
  Insights,
  LiquidityPoolInfo,
  NewestTradesData,
  NewestTradesInput,
  NewLaunchesInput,
  OrderBook,
  PairOf,
  PoolListName,
  Position,
  Resolution,
  TickersInput,
  Topics,
} from './types.ts';

export interface ClientOptions extends Partial<ClientPlatform> {
  /** Base URL of a node, `https://api.example.org`; several of one market are tried in turn. */
  readonly url: string | readonly string[];
  /** API key, `upc_…`: its limits replace the limits of this address. */
  readonly key?: string;
  /** Encoding on the socket; MessagePack costs a package of 40 kB and saves bandwidth. */
  readonly encoding?: Encoding;
  /** Time limit of a call over HTTP; 15 s unless set. */
  readonly timeoutMs?: number;
  /** How often a call is sent while the server is busy (429, 503); 1 unless set. */
  readonly maxAttempts?: number;
  /** A socket without a frame for so long is closed; 15 s unless set. */
  readonly silenceMs?: number;
  /** `auto` unless set: a WebSocket, and server-sent events where a network blocks it. */
  readonly transport?: Transport;
}

export interface BarOptions {
  /** Market caps in ADA instead of prices; prices unless set. */
  readonly kind?: 'price' | 'mcap';
  /** `spot`: the spot price before and after each trade, so that bars connect; not for `mcap`. */
  readonly price?: 'trade' | 'spot';
  /** Flat bars where nothing was traded. */
  readonly fill?: 'previous';
  /** Number of bars in the first state; 300 unless set. */
  readonly limit?: number;
  /** Updates a second, at most. */
  readonly maxHz?: number;
}

export interface ListOptions {
  /** Updates a second, at most. */
  readonly maxHz?: number;
}

export interface NewestOptions extends ListOptions, NewestTradesInput {}

export interface TopicParams<T extends keyof Topics> extends SubscribeParams {
  readonly topic: T;
  /** undefined for topics that take none. */
  readonly data: Topics[T]['input'];
}

/** A `Receiver` of one topic; `event` says which type `update` gets. */
export interface TopicReceiver<T extends keyof Topics> extends Receiver {
  snapshot(data: Topics[T]['data'], position: Position): void;
  update(
    event: string,
    data: Topics[T]['data'] | Topics[T]['others'][keyof Topics[T]['others']],
    position: Position,
  ): void;
}

type OrdersOf = (asset: string, options?: { readonly pkhs?: readonly string[] }) => OrdersMirror;

type PoolsOf = (list: PoolListName, options?: ListOptions) => PoolsMirror;

const DEFAULT_MS = 15_000;
const DEFAULT_BARS = 300;

export class Client {
  readonly connection: Connection;
  readonly charts: ReturnType<typeof market.chartsRoutes>;
  /** Called: a mirror of given tokens, or of a sorted list. Its members: calls over HTTP. */
  readonly tickers: ((data?: TickersInput) => TickersMirror) &
    ReturnType<typeof market.tickersRoutes>;
  readonly holders: ReturnType<typeof market.holdersRoutes>;
  readonly build: ReturnType<typeof wallets.buildRoutes>;
  readonly submit: ReturnType<typeof wallets.submitRoutes>;
  readonly vesting: ReturnType<typeof wallets.vestingRoutes>;
  readonly utxos: ReturnType<typeof wallets.utxosRoutes>;
  readonly devnet: ReturnType<typeof wallets.devnetRoutes>;
  readonly server: ReturnType<typeof wallets.serverRoutes>;
  readonly webhooks: ReturnType<typeof webhooksRoutes>;
  /** Called: a mirror of a list. Its members: calls over HTTP. */
  readonly pools: PoolsOf & ReturnType<typeof market.poolsRoutes>;
  /** Called: a mirror of a token's orders. Its members: calls over HTTP. */
  readonly orders: OrdersOf & ReturnType<typeof market.ordersRoutes>;
  /** Called: a mirror of a token's trades. Its members: calls over HTTP. */
  readonly trades: ((asset: string) => TradesMirror) & ReturnType<typeof market.tradesRoutes>;
  readonly #http: Http;
  readonly #platform: ClientPlatform;

  constructor(options: ClientOptions) {
    const { url, encoding = 'json', timeoutMs = DEFAULT_MS, silenceMs = DEFAULT_MS } = options;
    const { maxAttempts = 1, key, transport = 'auto' } = options;
    const nodes = new Nodes(typeof url === 'string' ? [url] : url);
    const platform = { ...systemPlatform, ...options };
    const { clock, chance, fetch, openSocket } = platform;
    this.#platform = { clock, chance, fetch, openSocket };
    const http = new Http({ nodes, fetch, clock, key, timeoutMs, maxAttempts });
    const socket = { key, encoding, silenceMs, transport };
    const connection = new Connection({ ...this.#platform, nodes, ...socket });
    this.#http = http;
    this.connection = connection;
    this.charts = market.chartsRoutes(http);
    const tickersOf = (data: TickersInput = {}) => new TickersMirror(connection, data);
    this.tickers = Object.assign(tickersOf, market.tickersRoutes(http));
    this.holders = market.holdersRoutes(http);
    this.build = wallets.buildRoutes(http);
    this.submit = wallets.submitRoutes(http);
    this.vesting = wallets.vestingRoutes(http);
    this.utxos = wallets.utxosRoutes(http);
    this.devnet = wallets.devnetRoutes(http);
    this.server = wallets.serverRoutes(http);
    this.webhooks = webhooksRoutes(http);
    const poolsOf: PoolsOf = (list, { maxHz } = {}) => new PoolsMirror(connection, list, maxHz);
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
    options: BarOptions & { kind: 'mcap'; price?: 'trade' },
  ): BarsMirror<CapBar>;
  bars(pair: PairOf, interval: Resolution, options: BarOptions = {}) {
    const { kind = 'price', limit = DEFAULT_BARS, fill, price, maxHz } = options;
    const { clock, chance } = this.#platform;
    const deps = { connection: this.connection, clock, chance };
    const params = { pair, interval, fill, maxHz };
    return kind === 'price'
      ? new BarsMirror(deps, priceSource(this.charts, { ...params, price }), limit)
      : new BarsMirror(deps, capSource(this.charts, params), limit);
  }

  /** A pool with its token; null while the server knows none. */
  pool(asset: string): WholeMirror<LiquidityPoolInfo> {
    return new WholeMirror(this.connection, { topic: 'PoolFeed', data: { asset } });
  }

  /** The pool with the highest market cap; null while there is none. */
  topPool(): WholeMirror<LiquidityPoolInfo> {
    return new WholeMirror(this.connection, { topic: 'KOTH' });
  }

  /** The newest trades of the whole market, 20 unless `limit` (at most 50) is set. */
  newestTrades(options: NewestOptions = {}): WholeMirror<NewestTradesData> {
    const { maxHz, ...data } = options;
    return new WholeMirror(this.connection, { topic: 'NewestTrades', data, maxHz });
  }

  /** Shares of author, first buyers and largest holders; null while the token is not known. */
  watchInsights(asset: string): WholeMirror<Insights> {
    return new WholeMirror(this.connection, { topic: 'Insights', data: { asset } });
  }

  /** Launches as they happen, from the mempool on: from every author, or from a given one. */
  newLaunches(data: NewLaunchesInput = {}): LaunchesMirror {
    return new LaunchesMirror(this.connection, data);
  }

  /**
   * The order book of a token: the depth of its pool, 100 levels a side, at prices of three (or
   * four) significant digits. Open orders stand beside it in `limits` and `pending`.
   */
  watchOrderBook(asset: string, options: { readonly digits?: 3 | 4 } = {}): WholeMirror<OrderBook> {
    return new WholeMirror(this.connection, { topic: 'OrderBook', data: { asset, ...options } });
  }

  /** The node that is connected, once a second. */
  health(): WholeMirror<HealthData> {
    return new WholeMirror(this.connection, { topic: 'Health' });
  }

  /** Orders of an address' payment key, over all tokens or for one. */
  userOrders(address: string, options: { readonly asset?: string } = {}): OrdersMirror {
    const { asset } = options;
    const params =
      asset === undefined
        ? { topic: 'UserHistoryByAddress', data: { address } }
        : { topic: 'UserHistoryByAddressAndAsset', data: { address, asset } };
    return new OrdersMirror(this.connection, params, (before) => {
      const keys = [parseAddress(address)?.payment.hash ?? ''];
      return asset === undefined
        ? this.orders.ofKeys(keys, { before })
        : this.orders.ofKeysByAsset(keys, { asset, before });
    });
  }

  /** Protocol v2 directly, for what no mirror covers. */
  subscribe<T extends keyof Topics>(
    params: TopicParams<T>,
    receiver: TopicReceiver<T>,
  ): { close(): void } {
    return this.connection.subscribe(params, receiver);
  }

  /** Unix milliseconds, by the clock of this side. */
  nowMs(): number {
    return this.#platform.clock.nowMs();
  }

  /** Ends the socket, all mirrors and pending calls. */
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
