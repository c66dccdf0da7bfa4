import type { Chance } from '../platform.ts';

const FIRST_MS = 250;
const MAX_MS = 15_000;

/** Twice as long each time, at most 15 s; a random half of it, so that clients come back apart. */
export function backoffMs(tries: number, chance: Chance): number {
  const most = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(tries, 16));
  return most * (0.5 + chance.unit() / 2);
}
