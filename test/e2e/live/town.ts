/** A few people who trade on a server in a separate process, which may end at any moment. */
import assert from 'node:assert/strict';
import { ApiError, Client } from '../../../src/client/index.ts';
import { TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { KeyWallet } from '../../../src/client/trade/wallet.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import { outcomeOf } from '../../support/apiError.ts';
import { readHealth } from '../../support/chart.ts';
import { secretOf } from '../../support/ledgerWorld.ts';
import { type Scope, type Server, startServer, temporaryDirectory } from '../../support/server.ts';
import { untilAsked } from '../../support/until.ts';
import { ADA, launchOf } from '../devnet/world.ts';

const NAMES = ['ann', 'ben', 'cid', 'dan'];
const LAUNCHED = 2;

export class Town {
  readonly directory: string;
  readonly tokens: string[] = [];
  /** Refusals by cause: a wallet may have nothing left to spend just now. */
  readonly refused = new Map<string, number>();
  server: Server;
  isOpen = false;
  orders = 0;
  readonly #rng: Rng;
  #trading: Promise<void>[] = [];

  private constructor(rng: Rng, server: Server, directory: string) {
    this.#rng = rng;
    this.server = server;
    this.directory = directory;
  }

  static async found(scope: Scope, rng: Rng): Promise<Town> {
    const directory = temporaryDirectory();
    const town = new Town(rng, await startServer(scope, [], envOf(directory)), directory);
    await untilAsked(
      'ready',
      () => town.ready(),
      (isReady) => isReady,
    );
    for (const trader of town.traders) {
      for (let made = 0; made < 6; made += 1) {
        await trader.client.devnet.faucet({ address: trader.wallet.address, ada: 900 });
      }
    }
    await town.mine();
    for (const [index, trader] of town.traders.slice(0, LAUNCHED).entries()) {
      const spec = launchOf({ name: `Coin ${index}`, initialLovelace: 30n * ADA });
      await untilAsked(
        'funded',
        async () => held(trader),
        (count) => count >= 6,
      );
      town.tokens.push((await trader.launch(spec)).asset);
    }
    return town;
  }

  get traders(): TradingClient[] {
    return NAMES.map((name) => {
      const options = { url: this.server.url, maxAttempts: 4 };
      const wallet = new KeyWallet({ payment: secretOf(name), stake: null }, 'testnet');
      return new TradingClient(new Client(options), wallet);
    });
  }

  async ready(): Promise<boolean> {
    return (await readHealth(this.server.url)).synced;
  }

  async mine(): Promise<void> {
    const [trader] = this.traders;
    (await trader?.client.devnet.mine({ blocks: 1 })) ?? assert.fail();
  }

  open(): void {
    this.isOpen = true;
    this.#trading = this.traders.map((trader) => this.#trade(trader));
  }

  /** SIGKILL, in the middle of it all. */
  async kill(): Promise<void> {
    await this.server.program.kill();
    this.isOpen = false;
    await Promise.all(this.#trading);
  }

  async restart(scope: Scope): Promise<void> {
    this.server = await startServer(scope, [], envOf(this.directory));
    await untilAsked(
      'ready again',
      () => this.ready(),
      (isReady) => isReady,
    );
  }

  /** Orders, sales and cancels one after another until it is closed. */
  async #trade(trader: TradingClient): Promise<void> {
    let last: string | null = null;
    while (this.isOpen) {
      const dice = this.#rng.unit();
      const isCancel = last !== null && dice > 0.85;
      const answer: unknown = await outcomeOf<unknown>(
        last !== null && isCancel ? trader.cancel(last) : trader.order(this.#spec(dice)),
      );
      last = null;
      if (answer instanceof ApiError) {
        this.refused.set(answer.cause, (this.refused.get(answer.cause) ?? 0) + 1);
        continue;
      }
      this.orders += 1;
      if (!isCancel) last = String(Reflect.get(Object(answer), 'id'));
    }
  }

  #spec(dice: number) {
    const assetId = this.tokens[Math.floor(this.#rng.unit() * this.tokens.length)];
    assert(assetId !== undefined);
    const amount = BigInt(3 + Math.floor(this.#rng.unit() * 9));
    const slippage = dice < 0.1 ? '15' : 'infinity';
    if (dice < 0.3) return { assetId, side: 'SELL', amount: amount * 50_000n, slippage } as const;
    return { assetId, side: 'BUY', amount: amount * ADA, slippage } as const;
  }
}

async function held(trader: TradingClient): Promise<number> {
  return (await trader.utxos()).length;
}

function envOf(directory: string) {
  return { DATA_DIR: directory, NETWORK: 'devnet', BLOCK_EVERY_MS: '0', TRADERS_PACE: '0' };
}
