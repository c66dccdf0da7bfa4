/** A few people who trade on a server in a process of its own, which may end at any moment. */
import assert from 'node:assert/strict';
import { ApiClient } from '../../../src/client/trade/api.ts';
import { Desk } from '../../../src/client/trade/desk.ts';
import { ApiFailure } from '../../../src/client/trade/failure.ts';
import { Wallet } from '../../../src/client/trade/wallet.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import { readHealth } from '../../support/chart.ts';
import { secretOf } from '../../support/ledgerWorld.ts';
import { type Scope, type Server, startServer, temporaryDirectory } from '../../support/server.ts';
import { untilAsked } from '../../support/until.ts';
import { ADA, launchOf, ok } from '../devnet/world.ts';

const NAMES = ['ann', 'ben', 'cid', 'dan'];
const LAUNCHED = 2;

export class Town {
  readonly directory: string;
  readonly tokens: string[] = [];
  /** What was refused, by cause: a wallet may have nothing left to spend just now. */
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
    for (const desk of town.desks) {
      for (let made = 0; made < 6; made += 1) {
        ok(await desk.client.faucet(desk.wallet.address, 900));
      }
    }
    await town.mine();
    for (const [index, desk] of town.desks.slice(0, LAUNCHED).entries()) {
      const wish = launchOf({ name: `Coin ${index}`, initialLovelace: 30n * ADA });
      await untilAsked(
        'funded',
        async () => held(desk),
        (count) => count >= 6,
      );
      town.tokens.push(ok(await desk.launch(wish)).asset);
    }
    return town;
  }

  get desks(): Desk[] {
    return NAMES.map((name) => {
      const options = { baseUrl: this.server.url, fetch, clock: systemClock };
      const wallet = new Wallet({ payment: secretOf(name), stake: null }, 'testnet');
      return new Desk(new ApiClient(options), wallet);
    });
  }

  async ready(): Promise<boolean> {
    return (await readHealth(this.server.url)).synced;
  }

  async mine(): Promise<void> {
    const [desk] = this.desks;
    ok((await desk?.client.mine(1)) ?? assert.fail());
  }

  open(): void {
    this.isOpen = true;
    this.#trading = this.desks.map((desk) => this.#trade(desk));
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
  async #trade(desk: Desk): Promise<void> {
    let last: string | null = null;
    while (this.isOpen) {
      const dice = this.#rng.unit();
      const isCancel = last !== null && dice > 0.85;
      const answer: unknown =
        last !== null && isCancel ? await desk.cancel(last) : await desk.order(this.#wish(dice));
      last = null;
      if (answer instanceof ApiFailure) {
        this.refused.set(answer.cause, (this.refused.get(answer.cause) ?? 0) + 1);
        continue;
      }
      this.orders += 1;
      if (!isCancel) last = String(Reflect.get(Object(answer), 'id'));
    }
  }

  #wish(dice: number) {
    const assetId = this.tokens[Math.floor(this.#rng.unit() * this.tokens.length)];
    assert(assetId !== undefined);
    const amount = BigInt(3 + Math.floor(this.#rng.unit() * 9));
    const slippage = dice < 0.1 ? '15' : 'infinity';
    if (dice < 0.3) return { assetId, side: 'SELL', amount: amount * 50_000n, slippage } as const;
    return { assetId, side: 'BUY', amount: amount * ADA, slippage } as const;
  }
}

async function held({ client, wallet }: Desk): Promise<number> {
  return ok(await client.utxos(wallet.keyHash)).length;
}

function envOf(directory: string) {
  return { DATA_DIR: directory, NETWORK: 'devnet', BLOCK_EVERY_MS: '0', TRADERS_PACE: '0' };
}
