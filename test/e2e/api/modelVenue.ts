/**
 * A pool's arithmetic, from onchain.md alone: the amounts of a fill, and the price of a token after
 * it. The walk compares these amounts with the payments and with the differences between a pool's
 * outputs.
 */
import type { Deployment } from '../../../src/cardano/datums/deployment.ts';
import type { Ratio } from './exact.ts';

export interface Reserves {
  readonly venue: 'CURVE' | 'AMM';
  /** Lovelace without the 3 ADA and without `owed`. */
  readonly x: bigint;
  readonly y: bigint;
  readonly owed: bigint;
}

/** Amounts of one fill: into or out of the pool, percent fee excluded. */
export interface Moved {
  readonly tokens: bigint;
  readonly lovelace: bigint;
}

const PER_10K = 10_000n;
const SUPPLY = 1_000_000_000n;

/** aNum s^3 + 3 10^21 bNum s: cost in 1 / (3 10^27) lovelace. */
function cost({ curve }: Deployment, sold: bigint): bigint {
  return curve.aNum * sold ** 3n + 3n * 10n ** 21n * curve.bNum * sold;
}

/** Lovelace per token. */
export function spotOf({ curve }: Deployment, { venue, x, y }: Reserves): Ratio {
  if (venue === 'AMM') return { n: x, d: y };
  const sold = SUPPLY - y;
  return { n: curve.aNum * sold * sold + 10n ** 21n * curve.bNum, d: 10n ** 27n };
}

/** The market cap, exact, in lovelace. */
export function capOf(spot: Ratio): Ratio {
  return { n: spot.n * SUPPLY, d: spot.d };
}

function shares({ fees }: Deployment, coin: bigint) {
  const creator = (coin * fees.creatorFeePer10k) / PER_10K;
  return { creator, all: creator + (coin * fees.platformFeePer10k) / PER_10K };
}

/** Coin side of a buy after the fees, and the creator's part of them. */
function netOf(d: Deployment, { venue }: Reserves, offered: bigint) {
  if (venue === 'CURVE')
    return { lovelace: offered - (offered * d.fees.percentFee) / 100n, owed: 0n };
  const { creator, all } = shares(d, offered);
  return { lovelace: offered - all, owed: creator };
}

/** The most tokens that `offered` lovelace buy; on the curve found by halving. */
export function buyable(d: Deployment, before: Reserves, offered: bigint): bigint {
  const { venue, x, y } = before;
  const { lovelace } = netOf(d, before, offered);
  if (venue === 'AMM') {
    const counted = lovelace * (PER_10K - d.fees.lpFeePer10k);
    return (y * counted) / (x * PER_10K + counted);
  }
  const sold = SUPPLY - y;
  const reach = cost(d, sold) + lovelace * 3n * 10n ** 27n;
  let [fits, tooMany] = [0n, y + 1n];
  while (tooMany - fits > 1n) {
    const middle = (fits + tooMany) / 2n;
    if (cost(d, sold + middle) <= reach) fits = middle;
    else tooMany = middle;
  }
  return fits;
}

/** The pool keeps the rest of `offered` lovelace after the fee, and pays out `tokens`. */
export function afterBuy(d: Deployment, before: Reserves, offered: bigint, tokens: bigint) {
  const { venue, x, y, owed } = before;
  const net = netOf(d, before, offered);
  const { lovelace } = net;
  const after: Reserves = { venue, x: x + lovelace, y: y - tokens, owed: owed + net.owed };
  return { after, moved: { tokens, lovelace } };
}

/** The pool takes `tokens` back and pays out lovelace, `paid` of it to the seller. */
export function afterSell(d: Deployment, before: Reserves, tokens: bigint) {
  const { venue, x, y, owed } = before;
  const sold = SUPPLY - y;
  const lovelace =
    venue === 'CURVE'
      ? (cost(d, sold) - cost(d, sold - tokens)) / (3n * 10n ** 27n)
      : (x * tokens * (PER_10K - d.fees.lpFeePer10k)) /
        (y * PER_10K + tokens * (PER_10K - d.fees.lpFeePer10k));
  const { creator, all } =
    venue === 'CURVE'
      ? { creator: 0n, all: (lovelace * d.fees.percentFee) / 100n }
      : shares(d, lovelace);
  const after: Reserves = { venue, x: x - lovelace, y: y + tokens, owed: owed + creator };
  return { after, moved: { tokens, lovelace }, paid: lovelace - all };
}
