/** Blocks of a chain with a launchpad that is used: launches, then trades and orders in each. */

import { servedTransaction } from '../../src/devnet/ogmios/transactionJson.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { type Deed, NO_HOLDINGS, perform } from '../../test/chain/ogmios/busyMarket.ts';
import { praosBlock } from '../../test/support/ogmios/blocks.ts';
import type { FakeBlock, FakeTransaction } from '../../test/support/ogmios/chain.ts';

export { deployment as busyDeployment } from '../../test/chain/recogniseWorld.ts';

const LAUNCHES = 10;
const IN_A_BLOCK: readonly Deed[] = ['order', 'order', 'trade', 'end of an order', 'transfer'];
/** The most spendable outputs that are remembered; more would only be searched. */
const MOST_HELD = 1_000;

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

export function launches(count: number): readonly Deed[] {
  return new Array<Deed>(count).fill('launch');
}

export class BusyMarket {
  readonly #rng = seededRng(2160);
  #holdings = NO_HOLDINGS;

  /** Tokens in the order in which they were launched. */
  get tokens(): readonly string[] {
    return this.#holdings.launches.map(({ token }) => token);
  }

  /** A share of them happens to the first token, the others anywhere. */
  perform(deeds: readonly Deed[], share = 0): FakeTransaction[] {
    const transactions = deeds.map((deed, at) => {
      const any = at + Math.floor(this.#rng.unit() * 1_000);
      const isFirst = share > 0 && this.#rng.unit() < share;
      const chosen = isFirst ? any * this.#holdings.launches.length : any;
      const { tx, left } = perform(deed, chosen, this.#holdings);
      this.#holdings = left;
      return servedTransaction(tx);
    });
    const { tokens, orders } = this.#holdings;
    const [held, open] = [tokens.slice(-MOST_HELD), orders.slice(-MOST_HELD)];
    this.#holdings = { ...this.#holdings, tokens: held, orders: open };
    return transactions;
  }
}
