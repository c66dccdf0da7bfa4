/** Where a follower stands: what it reads, what it writes with, and who is told. */
import type { Transaction } from '../cardano/codec/transaction.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import type { ChainEvent, ChainSource, ChainTip, Point } from './port.ts';
import type { Rules } from './recognise/rules.ts';
import type { RewindPlace } from './rewind.ts';

export interface FollowerPlace extends RewindPlace {
  readonly source: ChainSource;
  readonly rules: Rules;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Entries hold the transactions themselves, so that other nodes can have the chain from them. */
  readonly withRaw?: boolean;
  /** Of a chain that is made elsewhere; absent: this process makes it, block by block. */
  readonly distant?: DistantChain;
}

export interface DistantChain {
  readonly clock: Clock;
  /** Its newest block as told last; null while nobody tells. */
  tip(): ChainTip | null;
  /** Following begins after this block; null: with the first one. */
  readonly start: Point | null;
  /** A minute is over so long after its end, also without a block. */
  readonly finalGraceMs: number;
  /** Told what waits, what blocks have taken of it once they are applied, and of ways back. */
  readonly view?: WaitingView;
  /** Others wrote the log, too, and their nodes may be ahead of ours: ours is waited for then. */
  readonly shared?: { nodeBehind(height: number, loggedHeight: number): void };
}

export interface WaitingView {
  take(event: MempoolEvent): void;
  settle(transactions: readonly Transaction[]): void;
  forget(): void;
}

export type MempoolEvent = Extract<ChainEvent, { kind: 'mempool' }>;

export interface FollowerObserver {
  chainFollowed(height: number, transactions: number, events: number): void;
  chainRolledBack(toHeight: number, blocks: number): void;
  followerFailed(error: unknown): void;
}
