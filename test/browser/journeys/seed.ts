/** An hour and a half of a market: seven tokens, three traders, the same trades every time. */

import type { TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { ADA, type Idea, type JourneyMarket } from './market.ts';

/** The first is traded in every round, so that its lists have more than their first rows. */
const IDEAS: readonly Idea[] = [
  {
    name: 'Cosmic Otter',
    ticker: 'OTTER',
    description:
      'An otter that swims through space and holds its own hand. No road map, no promises.',
    website: 'https://otter.example',
    initialAda: 400,
  },
  { name: 'Sleepy Pug', ticker: 'PUG', description: 'Wakes up at graduation.', initialAda: 150 },
  { name: 'Turbo Toad', ticker: 'TOAD', description: 'Fast, for a toad.', initialAda: 90 },
  { name: 'Golden Yak', ticker: 'GYAK', description: 'Heavy metal.', initialAda: 60 },
  { name: 'Quantum Newt', ticker: 'QNEWT', description: 'Here and there.', initialAda: 30 },
  { name: 'Brave Badger', ticker: 'BADG', description: 'Digs.', initialAda: 25 },
  { name: 'Tiny Hippo', ticker: 'HIPPO', description: 'Smaller than it looks.', initialAda: 20 },
];
const TRADERS = ['bob', 'carol', 'dave'] as const;
const OUTPUTS = 8;
const ROUNDS = 36;
const ROUND_BLOCKS = 150;
const SEED = 7;

export interface Seeded {
  /** In the order of their launch. */
  readonly assets: readonly string[];
  readonly bob: TradingClient;
  readonly carol: TradingClient;
}

export async function seedMarket(market: JourneyMarket): Promise<Seeded> {
  const { unit: chance } = seededRng(SEED);
  const [author, ...traders] = await Promise.all(
    ['alice', ...TRADERS].map((name) => market.funded(name, OUTPUTS)),
  );
  const [bob, carol] = traders;
  if (author === undefined || bob === undefined || carol === undefined)
    throw new Error('no traders');
  const assets: string[] = [];
  for (const idea of IDEAS) assets.push(await market.launch(author, idea));
  const held = new Map<string, bigint>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const beacons: string[] = [];
    for (const trader of traders) {
      beacons.push(await turn(trader, assets[0] ?? ''));
    }
    const other = assets[1 + Math.floor(chance() * (assets.length - 1))] ?? '';
    const someone = traders[round % traders.length];
    if (someone !== undefined) beacons.push(await turn(someone, other));
    await market.allFilled(beacons);
    await market.mine(ROUND_BLOCKS);
  }
  if (assets[0] !== undefined) await market.share(assets[0], bob);
  return { assets, bob, carol };

  /** Buys, or sells part of an earlier purchase; more buys than sells, so that prices rise. */
  async function turn(trader: TradingClient, assetId: string): Promise<string> {
    const key = `${trader.wallet.keyHash} ${assetId}`;
    const has = held.get(key) ?? 0n;
    if (has > 0n && chance() < 0.42) {
      const amount = (has * BigInt(20 + Math.floor(chance() * 50))) / 100n;
      const sold = await trader.order({ assetId, side: 'SELL', amount, slippage: 'infinity' });
      held.set(key, has - amount);
      return sold.beacon;
    }
    const amount = BigInt(20 + Math.floor(chance() ** 3 * 400)) * ADA;
    const bought = await trader.order({ assetId, side: 'BUY', amount, slippage: 'infinity' });
    // A little less than was quoted: another order may come first.
    held.set(key, has + (bought.outputAmount * 9n) / 10n);
    return bought.beacon;
  }
}
