/**
 * The naive market: computes the right answer for every row of protocol.md from the chain's blocks,
 * with slow and plain code that is independent of the server. Its other files each hold one
 * chapter.
 */
import assert from 'node:assert/strict';
import type { Deployment } from '../../../src/cardano/datums/deployment.ts';
import type { Block } from '../../../src/chain/port.ts';
import { priced, type Tape } from './modelBars.ts';
import { ModelChain } from './modelChain.ts';
import { ModelOrders } from './modelOrders.ts';
import { ModelPeople } from './modelPeople.ts';
import { type LockRow, locksOf, ModelPools } from './modelPools.ts';

export class NaiveMarket {
  readonly chain: ModelChain;
  readonly pools: ModelPools;
  readonly orders: ModelOrders;
  readonly people: ModelPeople;

  constructor(blocks: readonly Block[], deployment: Deployment) {
    this.chain = new ModelChain(blocks, deployment);
    this.pools = new ModelPools(this.chain);
    this.orders = new ModelOrders(this.chain, this.pools);
    this.people = new ModelPeople(this.chain, this.pools);
  }

  /** In the order of their launches. */
  get tokens(): string[] {
    return this.chain.launches.map(({ token }) => token);
  }

  /** Keys of every wallet that launched, ordered or locked, in a fixed order. */
  get pkhs(): string[] {
    const { launches, orders } = this.chain;
    const seen = [
      ...launches.map(({ metadata }) => metadata.author.pkh),
      ...orders.map(({ datum }) => datum.redeemer.payment.hash),
      ...this.locks.map(({ redeemerVkh }) => redeemerVkh),
    ];
    return [...new Set(seen)];
  }

  get locks(): LockRow[] {
    return locksOf(this.chain);
  }

  /** Market time: the time of the newest block. */
  get marketMs(): number {
    return this.chain.blocks.at(-1)?.timeMs ?? 0;
  }

  tape(token: string): Tape {
    const trades = priced(this.chain.trades.filter((trade) => trade.token === token));
    const launch = this.pools.launch(token) ?? assert.fail(token);
    return { trades, launch, spot: this.pools.spot(token), marketMs: this.marketMs };
  }
}

export function naiveMarket(blocks: readonly Block[], deployment: Deployment): NaiveMarket {
  return new NaiveMarket(blocks, deployment);
}
