/** Blocks of a chain with a launchpad that is used: launches, then trades and orders in each. */

import { servedTransaction } from '../../src/devnet/ogmios/transactionJson.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { type Action, NO_HOLDINGS, perform } from '../../test/chain/ogmios/busyMarket.ts';
import { praosBlock } from '../../test/support/ogmios/blocks.ts';
import type { FakeBlock, FakeTransaction } from '../../test/support/ogmios/chain.ts';

export { deployment as busyDeployment } from '../../test/chain/recogniseWorld.ts';

const LAUNCHES = 10;
const IN_A_BLOCK: readonly Action[] = ['order', 'order', 'trade', 'end of an order', 'transfer'];
/** The most spendable outputs that are remembered; more would only be searched. */
const MAX_HELD = 1_000;

/** The same on every run. */
export function busyBlocks(count: number): FakeBlock[] {
  const market = new BusyMarket();
  const blocks: FakeBlock[] = [];
  while (blocks.length < count) {
    const deeds = blocks.length === 0 ? launches(LAUNCHES) : IN_A_BLOCK;
    const transactions = market.perform(deeds);
    blocks.push(praosBlock(blocks.at(-1) ?? null, { transactions }));
  }
  return blocks;
}

export function launches(count: number): readonly Action[] {
  return new Array<Action>(count).fill('launch');
}

export class BusyMarket {
  readonly #rng = seededRng(2160);
  #holdings = NO_HOLDINGS;

  /** Tokens in the order in which they were launched. */
  get tokens(): readonly string[] {
    return this.#holdings.launches.map(({ token }) => token);
  }

  /** A share of them happens to the first token, the others anywhere. */
  perform(deeds: readonly Action[], share = 0): FakeTransaction[] {
    const transactions = deeds.map((deed, at) => {
      const any = at + Math.floor(this.#rng.unit() * 10_000);
      const isFirst = share > 0 && this.#rng.unit() < share;
      return this.#perform(deed, isFirst ? any * this.#holdings.launches.length : any);
    });
    this.#forget();
    return transactions;
  }

  /** In each pool. */
  tradeAll(): FakeTransaction[] {
    const transactions = this.#holdings.launches.map((_, at) => this.#perform('trade', at));
    this.#forget();
    return transactions;
  }

  #perform(deed: Action, chosen: number): FakeTransaction {
    const { tx, left } = perform(deed, chosen, this.#holdings);
    this.#holdings = left;
    return servedTransaction(tx);
  }

  #forget(): void {
    const { tokens, orders } = this.#holdings;
    const [held, open] = [tokens.slice(-MAX_HELD), orders.slice(-MAX_HELD)];
    this.#holdings = { ...this.#holdings, tokens: held, orders: open };
  }
}
