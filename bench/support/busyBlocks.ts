/** Blocks of a chain with a launchpad that is used: launches, then trades and orders in each. */
import { seededRng } from '../../src/runtime/rng.ts';
import { type Deed, NO_HOLDINGS, perform } from '../../test/chain/ogmios/busyMarket.ts';
import { praosBlock } from '../../test/support/ogmios/blocks.ts';
import type { FakeBlock, FakeTransaction } from '../../test/support/ogmios/chain.ts';
import { fakeTransaction } from '../../test/support/ogmios/transactionJson.ts';

export { deployment as busyDeployment } from '../../test/chain/recogniseWorld.ts';

const LAUNCHES = 10;
const IN_A_BLOCK: readonly Deed[] = ['order', 'order', 'trade', 'end of an order', 'transfer'];

/** The same on every run. */
export function busyBlocks(count: number): FakeBlock[] {
  const rng = seededRng(2160);
  const blocks: FakeBlock[] = [];
  let holdings = NO_HOLDINGS;
  while (blocks.length < count) {
    const deeds = blocks.length === 0 ? new Array<Deed>(LAUNCHES).fill('launch') : IN_A_BLOCK;
    const transactions: FakeTransaction[] = deeds.map((deed, at) => {
      const { tx, left } = perform(deed, at + Math.floor(rng.unit() * 1_000), holdings);
      holdings = left;
      return fakeTransaction(tx);
    });
    blocks.push(praosBlock(blocks.at(-1) ?? null, { transactions }));
  }
  return blocks;
}
