/** Requests of the suites in this folder, and the expected market computed from its blocks. */
import assert from 'node:assert/strict';
import type { MarketEvent } from '../../../src/engine/market/events.ts';
import { appendBlock, rollBackTo } from '../../chain/foldChain.ts';
import type { Action, MadeBlock } from '../../chain/foldMarket.ts';
import { hashOf } from '../../chain/foldState.ts';
import { spread } from '../../chain/walletTruth.ts';
import type { Scope } from '../../support/server.ts';
import { type MarketApi, openMarketApi } from '../marketApi.ts';

export const EXECUTE: Action = { do: 'execute', pool: 0 };
export const launchBy = (user: number, buy: number): Action => ({ do: 'launch', user, buy });
export const buyOf = (user: number, amount: number): Action => {
  return { do: 'place', user, pool: 0, side: 'buy', amount };
};
export const sellOf = (user: number, amount: number): Action => {
  return { do: 'place', user, pool: 0, side: 'sell', amount };
};
export const give = (user: number, to: number): Action => ({ do: 'transfer', user, pool: 0, to });

/** A market API whose blocks spread the users' tokens over several addresses. */
export class WalletApi {
  readonly api: MarketApi;
  blocks: MadeBlock[] = [];

  private constructor(api: MarketApi) {
    this.api = api;
  }

  static async open(scope: Scope): Promise<WalletApi> {
    return new WalletApi(await openMarketApi(scope));
  }

  get token(): string {
    return this.api.pool().token;
  }

  block(...actions: Action[]): Promise<void> {
    return this.after(20_000, ...actions);
  }

  /** A block so long after the one before. */
  async after(passedMs: number, ...actions: Action[]): Promise<void> {
    const block = spread(this.api.maker.block(actions, passedMs));
    this.blocks.push(block);
    await appendBlock(this.api.world, block);
  }

  async back(blocks: number): Promise<void> {
    const height = this.api.maker.back(blocks);
    this.blocks = this.blocks.slice(0, height);
    await rollBackTo(this.api.world, height);
  }

  get(path: string, query: Record<string, string | number>): Promise<unknown> {
    return this.api.json(path, query);
  }

  send(path: string, assetId: string, body: unknown): Promise<Response> {
    return fetch(`${this.api.url}${path}?${new URLSearchParams({ assetId })}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  async post(path: string, assetId: string, body: unknown): Promise<unknown> {
    const response = await this.send(path, assetId, body);
    assert.equal(response.status, 200, path);
    return response.json();
  }
}

/**
 * A block in which everything that was not in a script goes to as many new outputs, of addresses
 * unknown to every market: no later step can spend them.
 */
export async function crowd(api: WalletApi, amounts: readonly number[]): Promise<void> {
  const { maker, world } = api.api;
  const { token, blocks } = api;
  const block = maker.block([], 20_000);
  const past = blocks.flatMap(({ events }) => events);
  const gone = new Set(past.flatMap((event) => (event.kind === 'spent' ? [event.ref] : [])));
  const tx = hashOf(`crowd ${blocks.length}`);
  const spent = past.flatMap((event): MarketEvent[] => {
    const isThere = event.kind === 'made' && !event.isOurs && !gone.has(event.ref);
    return isThere ? [{ tx, kind: 'spent', ref: event.ref }] : [];
  });
  const made = amounts.map((amount, index): MarketEvent => {
    const [ref, address] = [`${tx}:${index}`, `addr_test1crowd${index}`];
    const rest = { pkh: null, isOurs: false, lovelace: '2000000', datum: null };
    return { tx, kind: 'made', ref, address, assets: { [token]: String(amount) }, ...rest };
  });
  const all = { ...block, events: [...spent, ...made] };
  blocks.push(all);
  await appendBlock(world, all);
}
