/**
 * The times at which parts of a lock open. The same integers as the server's plan of a lock; the
 * server's clock decides, so every time but the last may be off by the difference of the clocks.
 * Source: protocol.md 5.
 */

interface Unlock {
  readonly stage: number;
  readonly atMs: number;
  readonly amount: bigint;
}

/** Nothing where a stage would hold no token. */
export function unlockSchedule(
  amount: bigint,
  stages: number,
  nowMs: number,
  endMs: number,
): readonly Unlock[] {
  const each = amount / BigInt(stages);
  if (each === 0n) return [];
  return Array.from({ length: stages }, (_, index) => {
    const isLast = index === stages - 1;
    const passedMs = Math.floor(((endMs - nowMs) * (index + 1)) / stages);
    return {
      stage: index + 1,
      atMs: isLast ? endMs : nowMs + passedMs,
      amount: isLast ? amount - each * BigInt(stages - 1) : each,
    };
  });
}
