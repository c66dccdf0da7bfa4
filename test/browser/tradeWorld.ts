/**
 * A devnet with quick blocks, traders that act through the API, and a wallet that trades on the
 * page.
 */
import assert from 'node:assert/strict';
import { Client } from '../../src/client/index.ts';
import { pictureOf } from '../../src/client/trade/picture.ts';
import { type OrderRequest, TradingClient } from '../../src/client/trade/tradingClient.ts';
import { KeyWallet } from '../../src/client/trade/wallet.ts';
import { quietTraders, textField } from '../e2e/devnet/world.ts';
import { newTestApp } from '../support/app.ts';
import { secretOf } from '../support/ledgerWorld.ts';
import type { Scope } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';
import { type Visit, WAIT_MS } from './support.ts';

const BLOCK_EVERY_MS = '200';
const ADA = 1_000_000n;

export class TradeWorld {
  readonly url: string;
  readonly client: Client;

  private constructor(url: string) {
    this.url = url;
    this.client = new Client({ url, timeoutMs: WAIT_MS, maxAttempts: 4 });
  }

  static async start(
    scope: Scope,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<TradeWorld> {
    const env = { BLOCK_EVERY_MS, TRADERS_PACE: '0', ...settings };
    const devnet = { traders: quietTraders(), pace: 0, seed: 1 };
    return new TradeWorld((await newTestApp(scope, { env, devnet })).url);
  }

  /** Another trader; `ada` a multiple of ten thousand. */
  async funded(name: string, ada: number): Promise<TradingClient> {
    const secrets = { payment: secretOf(name), stake: null };
    const trader = new TradingClient(this.client, new KeyWallet(secrets, 'testnet'));
    const { address } = trader.wallet;
    const parts = ada / 10_000;
    for (let part = 0; part < parts; part += 1)
      await this.client.devnet.faucet({ address, ada: 10_000 });
    const ask = () => trader.utxos();
    await untilAsked(`${name} has coins`, ask, (utxos) => utxos.length === parts, WAIT_MS);
    return trader;
  }

  /** An order of another trader, up to its fill. */
  async filled(trader: TradingClient, request: OrderRequest): Promise<void> {
    const { beacon } = await trader.order(request);
    const ask = () => this.get(`/v1/user-history-feed/order/trades?beacon=${beacon}`);
    await untilAsked(
      'it is filled',
      ask,
      (answer) => textField(answer, 'filled') === '100',
      WAIT_MS,
    );
  }

  /** Buys as much as the curve takes: the token graduates. */
  async graduate(trader: TradingClient, assetId: string): Promise<void> {
    const pool = async () =>
      field(await this.get(`/v1/pools-feed/initial/state?asset=${assetId}`), 'pool');
    const now = await pool();
    const left =
      BigInt(Number(field(now, 'adaCapThreshold'))) - BigInt(String(field(now, 'x', 'amount')));
    // The percent fee comes off first; a little too much is allowed.
    const amount = (left * 100n) / 99n + ADA;
    await this.filled(trader, { assetId, side: 'BUY', amount, slippage: 'infinity' });
    const ask = async () => field(await pool(), 'cpmmPoolId');
    await untilAsked('the token graduates', ask, (id) => typeof id === 'string', WAIT_MS);
  }

  async get(path: string): Promise<unknown> {
    const response = await fetch(this.url + path);
    return response.status === 404 ? null : await response.json();
  }
}

export function field(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inside, name) =>
      typeof inside === 'object' && inside !== null ? Reflect.get(inside, name) : undefined,
    value,
  );
}

/** Launches through the page with the wallet that is connected; answers the asset id. */
export async function launchOn({ page, url }: Visit, name: string): Promise<string> {
  await page.goto(`${url}/#/launch`);
  const buffer = Buffer.from(pictureOf(name));
  await page.setInputFiles('input[type=file]', { name: 'logo.png', mimeType: 'image/png', buffer });
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Ticker').fill(name.toUpperCase());
  await page.getByLabel(/First buy/).fill('25');
  await page.getByRole('button', { name: 'Review the launch' }).click();
  await page.getByRole('button', { name: 'Sign and launch' }).click();
  await page.waitForURL(/#\/token\//);
  const [, asset] = /#\/token\/(.+)$/.exec(page.url()) ?? [];
  assert(asset !== undefined);
  return asset;
}

/** The test wallet of this browser, with the coins of one visit to the faucet. */
export async function startWallet({ page, url }: Visit): Promise<void> {
  await page.goto(`${url}/#/wallet`);
  await page.getByRole('button', { name: 'Use a test wallet' }).click();
  await page.getByRole('button', { name: /^Get 10,000 ADA/ }).click();
  await page.locator('.balance').getByText('10,000 ADA', { exact: true }).waitFor();
}

/** Waits until `count` of the wallet's orders whose text matches `terms` have this status. */
export async function ordersAre(
  { page }: Visit,
  status: string,
  terms: RegExp,
  count = 1,
): Promise<void> {
  const chip = page.getByRole('button', { name: status, exact: true });
  const rows = page.locator('.own-orders > li').filter({ hasText: terms }).filter({ has: chip });
  await rows.nth(count - 1).waitFor();
}
