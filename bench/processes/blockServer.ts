/**
 * A fake Ogmios with blocks of one kind: `full`, as large as mainnet's; `busy`, of a launchpad that
 * is used; or `small`, empty ones.
 */
import { oneEra } from '../../src/devnet/ogmios/networkFacts.ts';
import { MAINNET_FACTS } from '../../test/support/ogmios/node.ts';
import { FakeOgmios } from '../../test/support/ogmios/server.ts';
import { busyBlocks } from '../support/busyBlocks.ts';
import { machineMs } from '../support/machineClock.ts';
import { blocksOf, EMPTY, fullContents } from '../support/mainnetBlocks.ts';
import { offer, usageOffers } from '../support/offers.ts';

export type BlockServer = typeof offers;

const [kind = 'small', count = '0'] = process.argv.slice(2);
const contents = kind === 'full' ? fullContents() : [EMPTY];
const ogmios = new FakeOgmios({ facts: { ...MAINNET_FACTS, eras: oneEra(1_000) } });
const { chain } = ogmios;
for (const block of blocksOfKind()) chain.extend(block);
await ogmios.start();

function blocksOfKind() {
  if (kind === 'busy') return busyBlocks(Number(count));
  return blocksOf(contents, null, Number(count));
}

function mean<T>(list: readonly T[], of: (each: T) => number): number {
  return list.reduce((sum, each) => sum + of(each), 0) / list.length;
}

const offers = {
  ...usageOffers(),
  port: () => ogmios.port,
  height: () => Number(chain.tip?.height),
  /** Means, of one block; of the first ones alone. */
  sizes: () => ({
    bodyBytes: mean(contents, ({ bodyBytes }) => bodyBytes),
    transactions: mean(contents, ({ transactions }) => transactions),
    jsonBytes: mean(chain.blocks.slice(1, 65), ({ text }) => text.length),
  }),
  /** Takes blocks back and puts one in their place; answers which, and when. */
  fork(depth: number): { readonly id: string; readonly atMs: number } {
    const parent = chain.blockAt(chain.length - depth) ?? null;
    const [block] = blocksOf([EMPTY], parent, 1, 'fork');
    if (block === undefined) throw new Error('one block was asked for');
    const atMs = machineMs();
    chain.fork(depth, [block]);
    return { id: block.id, atMs };
  },
};

offer(offers);
