/**
 * A whole market in the test's process: devnet, executor, builder, listeners; blocks only when
 * asked. Everything goes through the public HTTP API with real signatures; the test only reads the
 * chain and the fold.
 */
import assert from 'node:assert/strict';
import type { GatewayOptions } from '../../../src/api/gateway/options.ts';
import { parseRef, refText } from '../../../src/cardano/codec/output.ts';
import type { Block } from '../../../src/chain/port.ts';
import { Client, type Fetch } from '../../../src/client/index.ts';
import { pictureOf } from '../../../src/client/trade/picture.ts';
import {
  type LaunchedToken,
  type LaunchRequest,
  type OrderRequest,
  type PlacedOrder,
  TradingClient,
} from '../../../src/client/trade/tradingClient.ts';
import { KeyWallet } from '../../../src/client/trade/wallet.ts';
import { dataFiles } from '../../../src/engine/recovery/dataFiles.ts';
import type { OrderRecord, PointRecord, PoolRecord } from '../../../src/engine/store/records.ts';
import type { KeyedTable } from '../../../src/engine/store/rows.ts';
import type { AppDeps } from '../../../src/server/wiring/appDeps.ts';
import type { ChainFeatures } from '../../../src/server/wiring/chain.ts';
import { readTraderConfig, type TraderConfig } from '../../../src/traders/config.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { secretOf } from '../../support/ledgerWorld.ts';
import { type Environment, type Scope, temporaryDirectory } from '../../support/server.ts';
import { until, untilAsked } from '../../support/until.ts';
import { documentedFetch } from './documented.ts';
import { MarketChain } from './marketChain.ts';
import { blocksTo } from './wholeChain.ts';

export const ADA = 1_000_000n;

/** One small trader wallet: they do not trade here, but the genesis pays them. */
export function quietTraders(): TraderConfig {
  const config = readTraderConfig();
  return { ...config, wallets: 1, adaEach: 10, outputsEach: 1 };
}

const QUIET = { traders: quietTraders(), pace: 0, seed: 1 };

export interface DevnetOptions {
  readonly directory?: string;
  readonly env?: Environment;
  readonly devnet?: NonNullable<AppDeps['devnet']>;
  readonly gateway?: Partial<GatewayOptions>;
}

export interface Answer {
  readonly status: number;
  readonly cause: string | null;
  readonly reason: string | null;
  readonly message: string;
  readonly body: unknown;
}

export class DevnetWorld {
  readonly directory: string;
  readonly app: TestApp;
  readonly client: Client;
  readonly chain: MarketChain;
  /**
   * Settings of the devnet, including the keys that its genesis funds: another app over the same
   * chain needs the same.
   */
  readonly devnet: NonNullable<AppDeps['devnet']>;
  readonly #fetch: Fetch;

  private constructor(
    { directory, devnet }: Required<Pick<DevnetOptions, 'directory' | 'devnet'>>,
    app: TestApp,
    chain: MarketChain,
    asked: Fetch,
  ) {
    this.directory = directory;
    this.devnet = devnet;
    this.chain = chain;
    this.app = app;
    this.#fetch = asked;
    const { url } = app;
    this.client = new Client({ url, fetch: asked, timeoutMs: 30_000, maxAttempts: 4 });
  }

  static async start(
    scope: Scope,
    {
      directory = temporaryDirectory(),
      env = {},
      devnet = QUIET,
      gateway = {},
    }: DevnetOptions = {},
  ): Promise<DevnetWorld> {
    const app = await startTestApp(scope, {
      directory,
      env: { BLOCK_EVERY_MS: '0', TRADERS_PACE: '0', ...env },
      devnet,
      gateway,
    });
    const asked = await documentedFetch(scope, app.url);
    const { chain: kit, devnet: urls } = app.app;
    assert(kit !== null && urls !== null, 'this app has a chain of its own');
    const chain = new MarketChain(scope, urls.ogmios, kit);
    const world = new DevnetWorld({ directory, devnet }, app, chain, asked);
    const { tip } = await chain.tip();
    // Chain time is the time of the newest block, so there has to be one.
    if (tip === null) await world.mine();
    // A market that lacks the newest few blocks counts as ready.
    else await world.#followed(tip.height);
    return world;
  }

  /** The same genesis, whose traders rest. */
  get atRest(): NonNullable<AppDeps['devnet']> {
    return { ...this.devnet, pace: 0 };
  }

  get url(): string {
    return this.app.url;
  }

  get port(): number {
    return this.app.app.port;
  }

  get kit(): ChainFeatures {
    return this.app.app.chain ?? assert.fail('this app has a chain');
  }

  get ledgerFile(): string {
    return `${this.directory}/devnet/chain.sqlite`;
  }

  get files() {
    return dataFiles(this.directory);
  }

  row<T>(table: KeyedTable, key: string): T | null {
    const text = this.app.app.node.fold.store.get(table, key);
    // trust: the caller names the record that the table holds
    return text === null ? null : (JSON.parse(text) as T);
  }

  /** Every row of a table. */
  rows(table: KeyedTable): [string, string][] {
    const { store } = this.app.app.node.fold;
    return store.withPrefix(table, '', 100_000).map(({ key, value }) => [key, value]);
  }

  get tip(): PointRecord | null {
    return this.row<PointRecord>('market', 'tip');
  }

  /** Market time of the newest block. */
  get nowMs(): number {
    return this.app.app.node.fold.marketMs;
  }

  order(ref: string): OrderRecord {
    const found = this.row<OrderRecord>('orders', ref);
    assert(found !== null, `order ${ref} is known`);
    return found;
  }

  pool(token: string): PoolRecord {
    const found = this.row<PoolRecord>('pools', token);
    assert(found !== null, `pool of ${token} is known`);
    return found;
  }

  /** A wallet with a name; the same name has the same keys. */
  trader(name: string, hasStake = true): TradingClient {
    const secrets = { payment: secretOf(name), stake: hasStake ? secretOf(`${name}/stake`) : null };
    return new TradingClient(this.client, new KeyWallet(secrets, 'testnet'));
  }

  /** A trader with `outputs` outputs of `ada` ADA each, 10,000 at most. */
  async funded(name: string, ada: number, outputs = 1, hasStake = true): Promise<TradingClient> {
    const trader = this.trader(name, hasStake);
    const { devnet } = this.kit;
    assert(devnet !== null);
    for (let made = 0; made < outputs; made += 1) {
      const paid = await devnet.faucet(trader.wallet.address, BigInt(ada) * ADA);
      assert('outcome' in paid && paid.outcome === 'accepted');
    }
    await this.mine();
    return trader;
  }

  /** Makes blocks and waits until the market has folded them. */
  async mine(blocks = 1): Promise<void> {
    await this.#followed((await this.client.devnet.mine({ blocks })).data.height);
  }

  /** Where blocks come on demand only: waits until the market has gone back. */
  async fork(depth: number, resubmit: 'all' | 'none'): Promise<void> {
    const { height } = (await this.client.devnet.fork({ depth, resubmit })).data;
    await this.#stands(`went back to block ${height}`, (at) => at === height);
  }

  /** A chain with a pace may be further already. */
  async #followed(height: number): Promise<void> {
    await this.#stands(`has folded block ${height}`, (at) => at >= height);
  }

  async #stands(what: string, isThere: (height: number) => boolean): Promise<void> {
    const at = () => this.tip?.height ?? 0;
    await until(
      () => `the market ${what}, stands at ${at()}`,
      () => isThere(at()),
    );
    const { node } = this.app.app;
    await until('all is applied', () => node.synced());
  }

  async launch(trader: TradingClient, some: Partial<LaunchRequest> = {}): Promise<LaunchedToken> {
    const launched = await trader.launch(launchOf(some));
    await this.mine();
    return launched;
  }

  /** Places an order and puts it into a block. */
  async place(trader: TradingClient, order: OrderRequest): Promise<PlacedOrder> {
    const placed = await trader.order(order);
    await this.mine();
    return placed;
  }

  /** Waits until a transaction wants to spend the output, then makes the block. */
  async spent(ref: string): Promise<void> {
    await this.wanted(ref);
    await this.mine();
  }

  /** A transaction that waits, or one in a block, spends the output. */
  async wanted(ref: string): Promise<void> {
    const parsed = parseRef(ref);
    assert(parsed !== null);
    await untilAsked(
      `${ref} is spent`,
      async () => (await this.chain.byRefs([parsed]))[0]?.state,
      (state) => state === 'spent',
    );
  }

  /** From request to fill. */
  async filled(trader: TradingClient, request: OrderRequest): Promise<[PlacedOrder, OrderRecord]> {
    const placed = await this.place(trader, request);
    await this.spent(placed.id);
    return [placed, this.order(placed.id)];
  }

  async post(path: string, body: unknown): Promise<Answer> {
    const headers = { 'content-type': 'application/json' };
    return answerOf(
      await this.#fetch(this.url + path, { method: 'POST', headers, body: JSON.stringify(body) }),
    );
  }

  async get(path: string): Promise<Answer> {
    return answerOf(await this.#fetch(this.url + path, {}));
  }

  /** The chain as it is, from its first block. */
  async blocks(): Promise<Block[]> {
    const { tip } = await this.chain.tip();
    return blocksTo(this.chain, tip?.height ?? 0);
  }

  /** Every output that transactions of the chain spend is spent once. */
  async assertSpentOnce(): Promise<void> {
    const transactions = (await this.blocks()).flatMap((block) => block.transactions);
    const spent = transactions.flatMap(({ inputs }) => inputs.map(refText));
    assert.equal(new Set(spent).size, spent.length, 'nothing is spent twice');
  }
}

export function launchOf(some: Partial<LaunchRequest> = {}): LaunchRequest {
  const name = some.name ?? 'Coin';
  return {
    name,
    ticker: 'COIN',
    description: 'A token of a test.',
    assetType: 'Meme',
    launchType: 'DEFAULT',
    initialLovelace: 0n,
    image: new Blob([pictureOf(name)], { type: 'image/png' }),
    ...some,
  };
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const body: unknown = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text;
  return {
    status: response.status,
    cause: textField(body, 'cause'),
    reason: textField(body, 'reason'),
    message: textField(body, 'message') ?? '',
    body,
  };
}

export function textField(body: unknown, name: string): string | null {
  const value: unknown =
    typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' ? value : null;
}
