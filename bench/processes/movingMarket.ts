/**
 * A fake Ogmios whose chain grows by itself: launches first, then, from `begin` to `rest`, blocks
 * of trades and orders at a pace, each in the slot of its moment, as long as they are followed.
 * Takes the number of pools, the share of the events that concern the first token, and the length
 * of a slot in milliseconds.
 */

import { oneEra } from '../../src/devnet/ogmios/networkFacts.ts';
import type { Action } from '../../test/chain/ogmios/busyMarket.ts';
import { praosBlock } from '../../test/support/ogmios/blocks.ts';
import type { FakeTransaction } from '../../test/support/ogmios/chain.ts';
import { MAINNET_FACTS } from '../../test/support/ogmios/node.ts';
import { FakeOgmios } from '../../test/support/ogmios/server.ts';
import { BusyMarket, launches } from '../support/busyBlocks.ts';
import { machineMs } from '../support/machineClock.ts';
import { offer } from '../support/offers.ts';

export type MovingMarket = typeof offers;

interface Pace {
  readonly perSecond: number;
  /** From block to block. */
  readonly everyMs?: number;
}

/** Odd, for the sake of `BusyMarket`: whether an order buys is whether its number is even. */
const POOLS = Number(process.argv[2] ?? 99);
const SHARE = Number(process.argv[3] ?? 0.5);
const LAUNCHES_A_BLOCK = 99;
const SLOT_MS = Number(process.argv[4] ?? 100);
const EVERY_MS = 100;
/** In turns; of every ten, six trades and the beginning and the end of two orders. */
const DEEDS: readonly Action[] = [
  ...(['trade', 'order', 'trade', 'trade', 'end of an order'] as const),
  ...(['trade', 'order', 'trade', 'trade', 'end of an order'] as const),
];
/** If this process was halted for longer, the missed events beyond this are skipped. */
const MAX_IN_A_BLOCK = 200;
/** Blocks that its follower may be behind: a follower that is far behind serves no market. */
const MAX_AHEAD = 6;

/** A whole second, as Ogmios tells it. */
const startMs = Math.floor(Date.now() / 1_000) * 1_000;
const startTime = new Date(startMs).toISOString().replace('.000Z', 'Z');
const facts = { ...MAINNET_FACTS, startTime, eras: oneEra(SLOT_MS) };
const ogmios = new FakeOgmios({ facts });
const { chain } = ogmios;
const market = new BusyMarket();
let updates = 0;
/** Transactions up to and with the block of each height. */
const upTo: number[] = [];
let followed = 0;
const prepared: FakeTransaction[][] = [];
let timer: NodeJS.Timeout | null = null;

function extend(transactions: readonly FakeTransaction[]): void {
  const slot = Math.max(
    Math.floor((Date.now() - startMs) / SLOT_MS),
    Number(chain.tip?.slot ?? -1) + 1,
  );
  chain.extend(praosBlock(chain.tip, { slot, transactions }));
  updates += transactions.length;
  upTo.push(updates);
}

const offers = {
  port: () => ogmios.port,
  token: () => market.tokens[0] ?? '',
  tokens: () => market.tokens,
  height: () => Number(chain.tip?.height),
  /** Transactions of the blocks up to a height. */
  updatesAt: (height: number) => upTo[height] ?? 0,
  /** The height that its follower has. */
  followed(height: number): void {
    followed = height;
  },
  /** Makes the next blocks' transactions, so that they take no CPU later: a trade in each pool. */
  prepare(blocks: number): void {
    while (prepared.length < blocks) prepared.push(market.tradeAll());
  },
  begin({ perSecond, everyMs = EVERY_MS }: Pace): void {
    let lastMs = machineMs();
    timer = setInterval(() => {
      const due = Math.floor(((machineMs() - lastMs) / 1_000) * perSecond);
      const isAhead = upTo.length - 1 - followed > MAX_AHEAD;
      if (due === 0 || isAhead) return;
      lastMs = machineMs();
      const count = Math.min(due, MAX_IN_A_BLOCK);
      const deeds = Array.from({ length: count }, (_, at) => DEEDS[at % DEEDS.length] ?? 'trade');
      extend(prepared.shift() ?? market.perform(deeds, SHARE));
    }, everyMs);
  },
  rest(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  },
};

for (let left = POOLS; left > 0; left -= LAUNCHES_A_BLOCK) {
  extend(market.perform(launches(Math.min(left, LAUNCHES_A_BLOCK))));
}
await ogmios.start();
offer(offers);
