/** Where a follower stands: what it reads, what it writes with, and who is told. */
import type { Clock } from '../engine/runtime/clock.ts';
import type { OverlayWriter } from './mempoolOverlay.ts';
import type { ChainPolicy } from './policy.ts';
import type { ChainEvent, ChainSource, ChainTip } from './port.ts';
import type { Rules } from './recognise/rules.ts';
import type { RollBackDeps } from './rewind.ts';

export interface FollowerDeps extends RollBackDeps {
  readonly source: ChainSource;
  readonly rules: Rules;
  readonly clock: Clock;
  readonly policy: ChainPolicy;
  /** The chain's newest block as the node said last; null while it is away. */
  tip(): ChainTip | null;
  /** Told what waits, what blocks have taken of it once they are applied, and of ways back. */
  readonly overlay?: OverlayWriter;
  /** Others write the log, too, in messages of a bounded size. */
  readonly isShared?: boolean;
}

export type MempoolEvent = Extract<ChainEvent, { kind: 'mempool' }>;

export interface FollowerObserver {
  /** Our node went back behind what others wrote; it is waited for. */
  nodeBehind(height: number, loggedHeight: number): void;
  chainFollowed(height: number, transactions: number, events: number): void;
  chainRolledBack(toHeight: number, blocks: number): void;
  followerFailed(error: unknown): void;
}
