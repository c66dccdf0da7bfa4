/**
 * The market that all journeys walk through: the program in a separate process, which may be
 * killed, behind one address. Blocks come a second of its time every `BEAT_MS`; a journey that
 * counts blocks holds them and makes its own.
 */
import assert from 'node:assert/strict';
import { Client, Key, newSecret } from '../../../src/client/index.ts';
import { pictureOf } from '../../../src/client/trade/picture.ts';
import { type OrderRequest, TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { KeyWallet } from '../../../src/client/trade/wallet.ts';
import type { LiquidityPoolInfo } from '../../../src/client/types.ts';
import { type Bar, readHistory } from '../../support/chart.ts';
import { secretOf } from '../../support/ledgerWorld.ts';
import { type Scope, type Server, startServer, temporaryDirectory } from '../../support/server.ts';
import { TcpProxy } from '../../support/tcpProxy.ts';
import { untilAsked } from '../../support/until.ts';
import { WAIT_MS } from '../support.ts';
import { field } from '../tradeWorld.ts';

export const ADA = 1_000_000n;
const BEAT_MS = 150;
const FAUCET_ADA = 10_000;
const NEW_HOLDERS = 12;

export interface Idea {
  readonly name: string;
  readonly ticker: string;
  readonly description?: string;
  readonly website?: string;
  readonly initialAda?: number;
}

export class JourneyMarket {
  readonly client: Client;
  readonly #scope: Scope;
  readonly #env: Readonly<Record<string, string>>;
  readonly #address: TcpProxy;
  #server: Server;
  #holds = 0;
  #beat: Promise<void> = Promise.resolve();
  #isOver = false;
  #height = 0;

  private constructor(
    scope: Scope,
    env: Readonly<Record<string, string>>,
    server: Server,
    address: TcpProxy,
  ) {
    this.#scope = scope;
    this.#env = env;
    this.#server = server;
    this.#address = address;
    this.client = new Client({ url: address.url, timeoutMs: WAIT_MS, maxAttempts: 4 });
  }

  static async start(scope: Scope): Promise<JourneyMarket> {
    let market: JourneyMarket | null = null;
    // Before the server is there: it must outlive the blocks that are asked of it.
    scope.after(async () => {
      if (market !== null) await market.#end();
    });
    const data = { DATA_DIR: `${temporaryDirectory()}/data`, NETWORK: 'devnet' };
    const env = { ...data, BLOCK_EVERY_MS: '0', TRADERS_PACE: '0' };
    const server = await startServer(scope, [], env);
    const address = await TcpProxy.start(scope, server.port);
    market = new JourneyMarket(scope, env, server, address);
    await market.client.devnet.mine({ blocks: 1 });
    return market;
  }

  get url(): string {
    return this.#address.url;
  }

  /** Blocks come by themselves from now on. */
  begin(): void {
    this.#beat = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await pause(BEAT_MS);
      if (this.#holds > 0 || this.#isOver) continue;
      this.#holds += 1;
      try {
        await this.mine();
      } finally {
        this.#holds -= 1;
      }
    }
  }

  async #rest(): Promise<void> {
    const ask = async () => this.#holds;
    await untilAsked('no block is being made', ask, (holds) => holds === 0, WAIT_MS);
    this.#holds += 1;
  }

  /** Makes no block while `run` runs, unless `run` makes one itself. */
  async hold<T>(run: () => Promise<T>): Promise<T> {
    await this.#rest();
    try {
      return await run();
    } finally {
      this.#holds -= 1;
    }
  }

  /** Resolves when they are shown. */
  async mine(blocks = 1): Promise<void> {
    this.#height = (await this.client.devnet.mine({ blocks })).data.height;
  }

  /** While blocks are held: how many `run` has made. */
  async counting(run: () => Promise<void>): Promise<number> {
    const before = this.#height;
    await run();
    return this.#height - before;
  }

  /** Gives some tokens to keys that never held any. */
  async share(asset: string, from: TradingClient): Promise<void> {
    for (let given = 0; given < NEW_HOLDERS; given += 1) {
      await from.transfer({
        to: new Key(newSecret()).address('testnet'),
        lovelace: 2n * ADA,
        assets: new Map([[asset, BigInt(1000 + given)]]),
      });
    }
    await this.mine();
  }

  /**
   * Market time of the newest trade of a token, a few blocks ago at most.
   */
  async lastTradeMs(asset: string): Promise<number> {
    const [newest] = (await this.client.trades.list({ asset, limit: 1 })).data;
    assert(newest !== undefined, 'it was traded');
    return newest.time * 1000;
  }

  trader(name: string): TradingClient {
    const secrets = { payment: secretOf(name), stake: null };
    return new TradingClient(this.client, new KeyWallet(secrets, 'testnet'));
  }

  /** Creates another trader with `outputs` outputs of ten thousand ADA each. */
  async funded(name: string, outputs: number): Promise<TradingClient> {
    const trader = this.trader(name);
    const { address } = trader.wallet;
    for (let part = 0; part < outputs; part += 1) {
      await this.client.devnet.faucet({ address, ada: FAUCET_ADA });
    }
    await this.mine();
    const ask = () => trader.utxos();
    await untilAsked(`${name} has coins`, ask, ({ length }) => length === outputs, WAIT_MS);
    return trader;
  }

  async launch(trader: TradingClient, idea: Idea): Promise<string> {
    const { name, ticker, description = '', website, initialAda = 0 } = idea;
    const { asset } = await trader.launch({
      ...{ name, ticker, description, assetType: 'Meme', launchType: 'DEFAULT' },
      ...(website === undefined ? {} : { website }),
      initialLovelace: BigInt(initialAda) * ADA,
      image: new Blob([pictureOf(name)], { type: 'image/png' }),
    });
    await this.mine();
    return asset;
  }

  /** An order of another trader, up to its fill. */
  async filled(trader: TradingClient, request: OrderRequest): Promise<void> {
    await this.allFilled([(await trader.order(request)).beacon]);
  }

  /**
   * Resolves when all these orders are filled. Makes blocks while some are in the mempool, and none
   * while the executor works, so the number of blocks does not depend on the executor's speed.
   */
  async allFilled(beacons: readonly string[]): Promise<void> {
    const ask = async () => {
      const path = '/v1/user-history-feed/order/trades?beacon=';
      const orders = await Promise.all(beacons.map((beacon) => this.get(path + beacon)));
      if (orders.some((order) => field(order, 'orderStatus') === 'mempool')) await this.mine();
      return orders;
    };
    const areFilled = (orders: readonly unknown[]) =>
      orders.every((order) => field(order, 'filled') === '100');
    await untilAsked('they are filled', ask, areFilled, WAIT_MS);
  }

  async bought(trader: TradingClient, assetId: string, ada: number): Promise<void> {
    const amount = BigInt(ada) * ADA;
    await this.filled(trader, { assetId, side: 'BUY', amount, slippage: 'infinity' });
  }

  /** Buys as much as the curve takes: the token graduates. */
  async graduate(trader: TradingClient, assetId: string): Promise<void> {
    const { pool } = await this.#pool(assetId);
    const left = BigInt(pool.adaCapThreshold) - BigInt(pool.x.amount);
    // The percent fee comes off first; a little too much is allowed.
    const amount = (left * 100n) / 99n + ADA;
    await this.filled(trader, { assetId, side: 'BUY', amount, slippage: 'infinity' });
    const ask = async () => {
      await this.mine();
      return (await this.#pool(assetId)).pool.cpmmPoolId;
    };
    await untilAsked('the token graduates', ask, (id) => id !== null, WAIT_MS);
  }

  async #pool(asset: string): Promise<LiquidityPoolInfo> {
    return (await this.client.pools.one(asset)).data;
  }

  /** The bars of one minute, from HTTP. */
  async bars(asset: string): Promise<readonly Bar[]> {
    const params = { base: asset, quote: '.', interval: 'min1', price: 'spot' } as const;
    return (await readHistory(this.url, params))?.bars ?? [];
  }

  async get(path: string): Promise<unknown> {
    const response = await fetch(this.url + path);
    return response.status === 404 ? null : await response.json();
  }

  /** kill -9, as it writes. */
  async kill(): Promise<void> {
    await this.#rest();
    await this.#server.program.kill();
  }

  /** Starts a new process on the data of the one before. */
  async restart(): Promise<void> {
    this.#server = await startServer(this.#scope, [], this.#env);
    this.#address.target = this.#server.port;
    this.#holds -= 1;
  }

  async #end(): Promise<void> {
    this.#isOver = true;
    await this.#beat;
    this.client.close();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
