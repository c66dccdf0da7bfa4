/** Random choices; amounts that they yield are always exact integers. */
import type { Rng } from '../engine/runtime/rng.ts';

export function withProbability(rng: Rng, percent: number): boolean {
  return rng.unit() * 100 < percent;
}

/** Evenly between the two. */
export function uniform(rng: Rng, [least, most]: readonly [number, number]): number {
  return least + rng.unit() * (most - least);
}

/** Small ones more often than large ones: the logarithm is even. */
export function logUniform(rng: Rng, [least, most]: readonly [number, number]): number {
  const from = Math.log(Math.max(least, 1e-9));
  return Math.exp(from + rng.unit() * (Math.log(Math.max(most, 1e-9)) - from));
}

/** An exponential delay: independent arrivals. */
export function exponentialMs(rng: Rng, meanMs: number): number {
  return -Math.log(1 - rng.unit()) * meanMs;
}

export function pick<T>(rng: Rng, choices: readonly T[]): T | undefined {
  return choices[Math.floor(rng.unit() * choices.length)];
}

export function pickWeighted<T>(
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

/** This percentage of an amount, rounded down, at least 1. */
export function shareOf(amount: bigint, percent: number): bigint {
  const share = (amount * BigInt(Math.round(percent * 100))) / 10_000n;
  return share > 0n ? share : 1n;
}
