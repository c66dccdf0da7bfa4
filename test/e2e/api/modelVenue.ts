/**
 * A pool's arithmetic, from onchain.md alone: what a fill moves, and what a token is worth then.
 * The tokens of a buy are not computed but read from its payment; the walk compares sums.
 */
import type { Deployment } from '../../../src/cardano/deployment.ts';
import type { Ratio } from './exact.ts';

export interface Reserves {
  readonly venue: 'CURVE' | 'AMM';
  /** Lovelace without the 3 ADA and without `owed`. */
  readonly x: bigint;
  readonly y: bigint;
  readonly owed: bigint;
}

/** Of one fill: into or out of the pool, percent fee excluded. */
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

/** What is left of `offered` lovelace is in the pool, and `tokens` left it. */
export function afterBuy(d: Deployment, before: Reserves, offered: bigint, tokens: bigint) {
  const { venue, x, y, owed } = before;
  const isCurve = venue === 'CURVE';
  const { creator, all } = isCurve
    ? { creator: 0n, all: (offered * d.fees.percentFee) / 100n }
    : shares(d, offered);
  const lovelace = offered - all;
  const after: Reserves = { venue, x: x + lovelace, y: y - tokens, owed: owed + creator };
  return { after, moved: { tokens, lovelace } };
}

/** `tokens` came back; what they free left the pool, `paid` of it to the seller. */
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
