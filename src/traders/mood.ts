/**
 * The mood of the crowd: bursts in which many trade one token, and silence between them. The larger
 * a token, the likelier it is the next one, so some tokens run away and graduate.
 */
import type { AssetId } from '../engine/market/asset.ts';
import type { Rng } from '../engine/runtime/rng.ts';
import { pickWeighted, uniform, withProbability } from './random.ts';
import type { Token } from './view.ts';

export interface Mood {
  /** Factor on the mean time between turns. */
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
/** How often a favourite of the curve rises: most that begin fall again, few reach graduation. */
const UP_PERCENT = { least: 48, most: 88, fromKiloAda: 36, AMM: 48 } as const;
const LOVELACE_PER_KILO_ADA = 1_000_000_000;
const LARGEST_KILO_ADA = 70;

/** `turnMs`: mean time between turns. */
export function nextMood(rng: Rng, market: readonly Token[], nowMs: number, turnMs: number): Mood {
  const kind = pickWeighted(rng, KINDS, ({ weight }) => weight) ?? KINDS[1];
  const untilMs = nowMs + uniform(rng, kind.turns) * kind.wait * turnMs;
  const favourite = pickWeighted(rng, market, fame);
  const isUp = favourite === undefined || withProbability(rng, upPercent(favourite));
  const direction = isUp ? 'up' : 'down';
  return { wait: kind.wait, favourite: favourite?.asset ?? null, direction, untilMs };
}

function upPercent(token: Token): number {
  const { least, most, fromKiloAda, AMM } = UP_PERCENT;
  if (token.venue === 'AMM') return AMM;
  return least + (most - least) * Math.min(1, kiloAda(token) / fromKiloAda);
}

function kiloAda({ marketCapLovelace }: Token): number {
  return Number(marketCapLovelace ?? 0n) / LOVELACE_PER_KILO_ADA;
}

function fame(token: Token): number {
  const { venue } = token;
  const share = Math.min(kiloAda(token), LARGEST_KILO_ADA) ** 1.7;
  return 1 + (venue === 'AMM' ? share / 6 : share);
}
