/**
 * What a service gives so that its data can be streamed.
 *
 * One idea carries everything: a source answers `since(seq)` from its state. A live flush, a slow
 * socket that woke up, a slower cadence and a client that reconnects all ask that one question with
 * a different seq, so they cannot disagree.
 *
 * Guarantees of a source, at the node's applied position P (sources are asked between batches only):
 * - `since(s)` holds every part whose last change lies in (s, P], each as its newest whole state.
 * - Parts come in ascending `seq`; two parts never share a seq unless the later one only repeats
 *   state that an earlier one of that seq already gave (a client may ignore it by the client rule).
 * - The answer is the same on every node at P.
 */
import type { TSchema } from 'typebox';
import type { Failure } from '../runtime/errors.ts';
import type { Json } from '../runtime/json.ts';

/** One frame's worth of change. */
export interface Part {
  /** The frame's event, for example `LastBarUpdate` or `BarsRevised`. */
  readonly event: string;
  /** The subscription is complete up to and including this once the part was delivered. */
  readonly seq: number;
  readonly data: Json;
}

export interface Source {
  /** Canonical name of (topic, data): equal for equal subscriptions, whatever their spelling. */
  readonly key: string;
  /** The stream is asked again when one of these was touched (`TopicHub.applied`). */
  readonly tags: readonly string[];
  /** Whole state at the applied position; null for something we do not know yet. */
  snapshot(): Json | Failure;
  /** What changed after `seq`; null beyond the horizon (then a snapshot is the only answer). */
  since(seq: number): readonly Part[] | null;
}

export interface Topic {
  readonly name: string;
  /** Event of ordinary updates and of the snapshot: `<Topic>Update`. */
  readonly event: string;
  /** Other events this topic sends, for the documents: `BarsRevised`. */
  readonly otherEvents: readonly { readonly event: string; readonly data: TSchema }[];
  readonly summary: string;
  readonly cadenceMs: number;
  /**
   * True for state that is not of the log (Health): sent whole each cadence as a snapshot,
   * `since` is never asked.
   */
  readonly periodic: boolean;
  readonly input: TSchema;
  readonly output: TSchema;
  /** `data` has passed `input`. Cheap and without side effects; a Failure refuses the subscription. */
  open(data: unknown): Source | Failure;
}

/** What the fold tells the streams after each batch. */
export interface TopicHub {
  /** The applied position moved; `tags` were touched. Called once per batch. */
  applied(tags: Iterable<string>): void;
  /** The log is another one now: every subscription gets Resync and a snapshot. */
  epochChanged(): void;
}
