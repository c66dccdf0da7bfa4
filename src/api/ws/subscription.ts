/** One subscription of one socket, and its states. */

import type { RequestId } from '../gateway/frame.ts';
import type { Waiting } from '../gateway/positionWaiters.ts';
import type { OpenSource, Source, StreamCursor, StreamHandle, Topic } from '../topics/port.ts';
import type { SubscribeParams } from './clientFrame.ts';
import type { CountedStream } from './streamCounts.ts';

/**
 * - `waiting`: waits until this node has reached a position, or until its source can answer.
 * - `live`: gets what its stream publishes.
 * - `held`: its socket does not read; resumes at `from`, or with a snapshot where that is null.
 * - `unstarted`: was requested while its socket did not read.
 */
type SubscriptionState =
  | { readonly is: 'waiting'; readonly wait: Waiting }
  | { readonly is: 'live'; readonly handle: StreamHandle }
  | { readonly is: 'held'; readonly handle: StreamHandle; readonly from: StreamCursor | null }
  | { readonly is: 'unstarted' };

export interface ResyncReason {
  readonly reason: 'slow' | 'epoch';
  readonly skipped: number;
}

export interface Subscription {
  readonly requestId: RequestId;
  readonly topic: Topic;
  readonly open: OpenSource;
  readonly cadenceMs: number;
  readonly params: SubscribeParams;
  source: Source;
  /** As it counts for its caller. */
  readonly counted: CountedStream;
  /** The position in `since` does not exist any more. */
  isSinceGone: boolean;
  state: SubscriptionState;
  /** A Resync that its socket dropped: sent again before the next snapshot. */
  pendingResync: ResyncReason | null;
  /** Number of the epoch change it was last (re)opened after. */
  generation: number;
}
