/** Where networks differ for a follower; everything else in this room is the same for all. */
import type { Clock } from '../engine/runtime/clock.ts';
import type { Point } from './port.ts';

export interface ChainPolicy {
  /** Following starts after this block; null: with the first one. */
  readonly start: Point | null;
  /** A minute is over so long after its end, also without a block. */
  readonly finalGraceMs: number;
  /** Whether minutes end by the clock while there is no block; else blocks alone move time. */
  readonly timeEntries: boolean;
  /** What orders and transactions are dated by. */
  readonly clock: 'wall' | 'newest block';
  /**
   * Whether a shorter chain is believed at once, because all nodes follow the same Cardano node. On
   * a real network another node's chain may be ahead of ours, so ours is waited for.
   */
  readonly believesShorter: boolean;
  /** A transaction that left the mempool is reported as dropped after so long without a block. */
  readonly returnMs: number;
}

/** The clock by which orders expire and transactions are valid. `marketMs`: of the newest block. */
export function chainClock(
  { clock: kind }: Pick<ChainPolicy, 'clock'>,
  clock: Clock,
  marketMs: () => number,
): Pick<Clock, 'nowMs'> {
  return kind === 'wall' ? clock : { nowMs: marketMs };
}
