/** One subscription of one socket, and how it can stand. */

import type { RequestId } from '../gateway/frame.ts';
import type { Waiting } from '../gateway/positionWaiters.ts';
import type { Mark, OpenSource, Seat, Source, Topic } from '../topics/port.ts';
import type { Wish } from './client-frame.ts';

/**
 * - `waiting`: for a position this node has not reached.
 * - `live`: gets what its stream publishes.
 * - `held`: its socket does not read; goes on from `from`, or with a snapshot where that is null.
 * - `unstarted`: asked for while its socket did not read.
 */
export type Standing =
  | { readonly is: 'waiting'; readonly wait: Waiting }
  | { readonly is: 'live'; readonly seat: Seat }
  | { readonly is: 'held'; readonly seat: Seat; readonly from: Mark | null }
  | { readonly is: 'unstarted' };

export interface Subscription {
  readonly requestId: RequestId;
  readonly topic: Topic;
  readonly open: OpenSource;
  readonly cadenceMs: number;
  readonly wish: Wish;
  source: Source;
  standing: Standing;
  /** Number of the epoch change it was last (re)opened after. */
  generation: number;
}
