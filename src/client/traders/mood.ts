/**
 * What the crowd talks about: bursts in which many trade one token, and silence between them. The
 * larger a token, the likelier it is the next one, so some tokens run away and graduate.
 */
import type { AssetId } from '../../engine/market/asset.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { pickWeighted, uniform, withProbability } from './random.ts';
import type { Token } from './view.ts';

export interface Mood {
  /** Of the mean time between turns. */
  readonly wait: number;
  /** null: there is no token yet. */
  readonly favourite: AssetId | null;
  readonly direction: 'up' | 'down';
  readonly untilMs: number;
}

/** Turns that it lasts; how long one takes; how often a kind follows. */
const KINDS = [
  { wait: 0.35, turns: [15, 60], weight: 3 },
  { wait: 1, turns: [10, 40], weight: 4 },
  { wait: 4, turns: [2, 7], weight: 2 },
] as const;
const UP_PERCENT = { CURVE: 80, AMM: 52 } as const;
const LOVELACE_PER_KILO_ADA = 1_000_000_000;
const LARGEST_KILO_ADA = 70;

/** `turnMs`: mean time between turns. */
export function nextMood(rng: Rng, market: readonly Token[], nowMs: number, turnMs: number): Mood {
  const kind = pickWeighted(rng, KINDS, ({ weight }) => weight) ?? KINDS[1];
  const untilMs = nowMs + uniform(rng, kind.turns) * kind.wait * turnMs;
  const favourite = pickWeighted(rng, market, fame);
  const isUp = favourite === undefined || withProbability(rng, UP_PERCENT[favourite.venue]);
  const direction = isUp ? 'up' : 'down';
  return { wait: kind.wait, favourite: favourite?.asset ?? null, direction, untilMs };
}

function fame({ marketCapLovelace, venue }: Token): number {
  const size = Number(marketCapLovelace ?? 0n) / LOVELACE_PER_KILO_ADA;
  const share = Math.min(size, LARGEST_KILO_ADA) ** 1.5;
  return 1 + (venue === 'AMM' ? share / 6 : share);
}
