/**
 * Users who trade through any node that answers. They record what a node accepted with 200: it must
 * end in a block, or its inputs must be spent by another transaction.
 */

import { fromHex } from '../../../src/cardano/codec/hex.ts';
import type { OutputRef } from '../../../src/cardano/codec/output.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { ApiError, Client, type Fetch } from '../../../src/client/index.ts';
import { TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { KeyWallet } from '../../../src/client/trade/wallet.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import { ADA, launchOf } from '../../e2e/devnet/world.ts';
import { outcomeOf } from '../../support/apiError.ts';
import { secretOf } from '../../support/ledgerWorld.ts';
import { recordOf } from '../../support/subscription.ts';
import { untilAsked } from '../../support/until.ts';
import { LIMIT_MS, type Nodes } from './nodes.ts';

const NAMES = ['ann', 'ben', 'cid', 'dan'];
const TOKENS = 2;
const COINS = 6;
/** Between two requests of one user. */
const PAUSE_MS = 150;
const CALL_MS = 6_000;

export interface Accepted {
  readonly txHash: string;
  readonly node: string;
  readonly inputs: readonly OutputRef[];
}

export class TestUsers {
  readonly tokens: string[] = [];
  readonly accepted: Accepted[] = [];
  readonly refused = new Map<string, number>();
  /** So many of the first that were accepted may be lost: the log and its leader were. */
  forgiven = 0;
  readonly wallets = NAMES.map(
    (name) => new KeyWallet({ payment: secretOf(name), stake: null }, 'testnet'),
  );
  readonly #nodes: Nodes;
  readonly #rng: Rng;
  #trading: Promise<void>[] = [];
  #isOpen = false;

  constructor(nodes: Nodes, rng: Rng) {
    this.#nodes = nodes;
    this.#rng = rng;
  }

  /** Coins for all, and tokens to trade. */
  async settle(): Promise<void> {
    for (const [index, wallet] of this.wallets.entries()) {
      const trader = this.#trader(wallet);
      for (let made = 0; made < COINS; made += 1) {
        await untilDone('coins', () =>
          trader.client.devnet.faucet({ address: wallet.address, ada: 900 }),
        );
      }
      const held = async () => {
        const found = await outcomeOf(trader.utxos());
        return found instanceof ApiError ? 0 : found.length;
      };
      await untilAsked('coins are there', held, (count) => count >= COINS, LIMIT_MS);
      if (index >= TOKENS) continue;
      const request = launchOf({ name: `Coin ${index}`, initialLovelace: 30n * ADA });
      const { asset } = await untilDone('a launch', () => trader.launch(request));
      this.tokens.push(asset);
    }
  }

  open(): void {
    this.#isOpen = true;
    this.#trading = this.wallets.map((wallet) => this.#trade(wallet));
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await Promise.all(this.#trading);
  }

  async #trade(wallet: KeyWallet): Promise<void> {
    let last: string | null = null;
    while (this.#isOpen) {
      const trader = this.#trader(wallet);
      const dice = this.#rng.unit();
      const isCancel = last !== null && dice > 0.85;
      const answer: unknown = await outcomeOf<unknown>(
        last !== null && isCancel ? trader.cancel(last) : trader.order(this.#request(dice)),
      );
      last = null;
      if (answer instanceof ApiError) {
        const why = `${answer.cause} ${answer.reason ?? ''} ${answer.message}`.slice(0, 90);
        this.refused.set(why, (this.refused.get(why) ?? 0) + 1);
      } else if (!isCancel) last = String(Reflect.get(Object(answer), 'id'));
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  #request(dice: number) {
    const assetId = this.tokens[Math.floor(this.#rng.unit() * this.tokens.length)] ?? '';
    const amount = BigInt(3 + Math.floor(this.#rng.unit() * 9));
    const slippage = dice < 0.1 ? '15' : 'infinity';
    if (dice < 0.3) return { assetId, side: 'SELL', amount: amount * 50_000n, slippage } as const;
    return { assetId, side: 'BUY', amount: amount * ADA, slippage } as const;
  }

  #trader(wallet: KeyWallet): TradingClient {
    const { living } = this.#nodes;
    const node = living[Math.floor(this.#rng.unit() * living.length)] ?? this.#nodes.all[0];
    const url = node?.lives === true ? node.server.url : 'http://127.0.0.1:1';
    const options = { url, timeoutMs: CALL_MS };
    return new TradingClient(
      new Client({ ...options, fetch: this.#noting(node?.name ?? '') }),
      wallet,
    );
  }

  #noting(node: string): Fetch {
    return async (url, init) => {
      const response = await fetch(url, init);
      if (response.status !== 200 || !/\/(sign-and-)?submit$/.test(url)) return response;
      const text = await response.text();
      const txHash = String(recordOf(JSON.parse(text)).txHash);
      const { cbor } = recordOf(JSON.parse(String(init.body)));
      const { inputs } = decodeTransaction(fromHex(String(cbor)));
      this.accepted.push({ txHash, node, inputs });
      return new Response(text, { status: 200, headers: response.headers });
    };
  }
}

async function untilDone<T>(what: string, ask: () => Promise<T>): Promise<T> {
  const answer = await untilAsked(
    what,
    () => outcomeOf(ask()),
    (found) => !(found instanceof ApiError),
    LIMIT_MS,
  );
  if (answer instanceof ApiError) throw new Error(answer.message);
  return answer;
}
