/** Choices by chance; amounts are steered by it, but always end as exact integers. */
import type { Rng } from '../../engine/runtime/rng.ts';

export function happens(rng: Rng, percent: number): boolean {
  return rng.unit() * 100 < percent;
}

/** Evenly between the two. */
export function between(rng: Rng, [least, most]: readonly [number, number]): number {
  return least + rng.unit() * (most - least);
}

/** Small ones more often than large ones: the logarithm is even. */
export function skewed(rng: Rng, [least, most]: readonly [number, number]): number {
  const from = Math.log(Math.max(least, 1e-9));
  return Math.exp(from + rng.unit() * (Math.log(Math.max(most, 1e-9)) - from));
}

/** An exponential wait: arrivals of a crowd that does not agree on when. */
export function arrivalMs(rng: Rng, meanMs: number): number {
  return -Math.log(1 - rng.unit()) * meanMs;
}

export function oneOf<T>(rng: Rng, choices: readonly T[]): T | undefined {
  return choices[Math.floor(rng.unit() * choices.length)];
}

export function weighted<T>(
  rng: Rng,
  choices: readonly T[],
  weigh: (choice: T) => number,
): T | undefined {
  const weights = choices.map((choice) => Math.max(0, weigh(choice)));
  let left = rng.unit() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return choices[index];
  }
  return choices.at(-1);
}

const LOVELACE_PER_ADA = 1_000_000;

/** To the cent: round numbers look like a person's. */
export function adaToLovelace(ada: number): bigint {
  return BigInt(Math.round(ada * 100)) * BigInt(LOVELACE_PER_ADA / 100);
}

/** So many percent of an amount, rounded down, at least 1. */
export function shareOf(amount: bigint, percent: number): bigint {
  const share = (amount * BigInt(Math.round(percent * 100))) / 10_000n;
  return share > 0n ? share : 1n;
}
