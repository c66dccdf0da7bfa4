/**
 * A mirror: a local copy of something on the server, kept up to date by Protocol v2.
 *
 * Promises: `state` is the server's data at `position`, through reconnects, other nodes, rollbacks,
 *           revisions and changes of epoch. States are never changed in place: a new one is made,
 *           so they may be compared by identity and kept.
 * Not:      every state in between. A slow iteration gets the newest one.
 * Ends:     with `close`, when an iteration is left, and with `error` when the server refuses it
 *           for good; nothing is called afterwards.
 */
import type { ApiError } from '../apiError.ts';
import type { Position } from '../types.ts';

/** Why a state is another than before. */
export type Reason =
  /** The first state, or a full reload: it has no relation to the state before. */
  | 'snapshot'
  /** Something happened since. */
  | 'update'
  /** A rollback or a late trade changed data that seemed settled. */
  | 'revised'
  /** Older rows were loaded on request. */
  | 'history';

export interface Change {
  readonly reason: Reason;
}

export interface Mirror<State, News extends Change = Change> extends AsyncIterable<State> {
  /** Empty until `isLoaded`. */
  readonly state: State;
  readonly isLoaded: boolean;
  /** Complete up to here; null before it is loaded. */
  readonly position: Position | null;
  /** Why it ended; null while it lives and after `close`. */
  readonly error: ApiError | null;
  readonly isClosed: boolean;
  /** Resolves with the first state; rejects with `ApiError` when it ends before. */
  ready(): Promise<State>;
  /** Called after each change, until the returned function is called. */
  onChange(listener: (state: State, change: News) => void): () => void;
  /** Called once when it ends with an error. */
  onError(listener: (error: ApiError) => void): () => void;
  close(): void;
}
