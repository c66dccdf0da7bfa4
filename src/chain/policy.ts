/** Where networks differ for a follower; everything else in this room is the same for all. */
import type { Clock } from '../engine/runtime/clock.ts';
import type { Point } from './port.ts';

export interface ChainPolicy {
  /** Following starts after this block; null: with the first block. */
  readonly start: Point | null;
  /** Without a block, a minute is over this long after its end. */
  readonly finalGraceMs: number;
  /** Whether the clock ends minutes while no block comes; else only blocks move time. */
  readonly timeEntries: boolean;
  /** The clock that dates orders and transactions. */
  readonly clock: 'wall' | 'newest block';
  /**
   * Whether to accept a shorter chain at once, because all nodes follow the same Cardano node. On a
   * real network another node's chain may be ahead of ours, so we wait for ours.
   */
  readonly believesShorter: boolean;
  /** Whether the node's units of scripts are compared with ours: a devnet has our evaluator. */
  readonly comparesUnits: boolean;
  /** How long a transaction may be in neither mempool nor block before it counts as dropped. */
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
