/**
 * The parts of a service that make its data a stream.
 *
 * One idea carries everything: a source answers `since(seq)` from its state. A live flush, a slow
 * socket that woke up, a slower cadence and a client that reconnects all ask that one question with
 * a different seq, so they cannot disagree.
 *
 * Guarantees of a source, at the node's applied position P (sources are asked between batches
 * only):
 * - `since(s)` holds every part whose last change lies in (s, P], each as its newest whole state.
 * - Parts come in ascending `seq`; two parts share a seq only if the later one repeats state that
 *   an earlier part of that seq already gave (a client may ignore it by the client rule).
 * - The answer is the same on every node at P.
 */
import type { Static, TSchema } from 'typebox';
import type { TopicHub } from '../../engine/node/foldListeners.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Json } from '../../engine/runtime/json.ts';
import type { EncodedPayload, Encoding, FrameBuilder, RequestId } from '../gateway/frame.ts';
import { checkOf } from '../gateway/input.ts';

/** One frame's worth of change. */
export interface Part<Event extends string = string, Data extends Json = Json> {
  /** The frame's event, for example `LastBarUpdate` or `BarsRevised`. */
  readonly event: Event;
  /** The subscription is complete up to and including this once the part was delivered. */
  readonly seq: number;
  readonly data: Data;
  /**
   * The whole state, sent as a snapshot: the topic's subject has disappeared, because a fork undid
   * its launch, and the state is empty. The event is the same as for ordinary updates.
   */
  readonly isSnapshot?: true;
}

/** An answer in pages: oldest changes first. */
export interface Changes<P extends Part = Part> {
  readonly parts: readonly P[];
  /**
   * With these parts complete up to here; below the applied position there is more, to be asked
   * for with this. Above the seq asked with, unless that was the applied position; no part's seq
   * is above it.
   */
  readonly completeTo: number;
}

/** `State`: data of a snapshot. `P`: the parts that `since` may answer. */
export interface Source<State extends Json = Json, P extends Part = Part> {
  /** Canonical name of (topic, data): equal for equal subscriptions, whatever their spelling. */
  readonly key: string;
  /** The stream asks again after a change with one of these tags (`TopicHub.applied`). */
  readonly tags: readonly string[];
  /** Streams that it counts as in the limit of a caller, by the work of a change; otherwise one. */
  readonly weight?: number;
  /**
   * True: a subscription begins with the whole state, even with `since`, because updates are
   * changes of the state that this node sent. Then `since` gives the changes after it.
   */
  readonly beginsWhole?: boolean;
  /**
   * Does some of what `snapshot` and `since` would take long for, until `isOver`. True: no part of
   * the work is left until another entry is applied. They may be called without it.
   */
  prepare?(isOver: () => boolean): boolean;
  /** Whole state at the applied position; null for something we do not know yet. */
  snapshot(): State | Failure;
  /**
   * Changes after `seq`; a bare list is complete. Null beyond the horizon (then a snapshot is the
   * only answer). A Failure ends the subscription.
   */
  since(seq: number): Changes<P> | readonly P[] | null | Failure;
}

/** Asks a source. `applied`: the position of the node, up to which a bare list is complete. */
export function askSince(source: Source, seq: number, applied: number): Changes | null | Failure {
  const answer = source.since(seq);
  if (answer === null || answer instanceof Failure) return answer;
  if (!('parts' in answer)) return { parts: answer, completeTo: applied };
  const { parts, completeTo } = answer;
  // A client ignores what follows below a part's seq: that would be lost silently.
  if ((completeTo <= seq && seq < applied) || (parts.at(-1)?.seq ?? 0) > completeTo) {
    throw new Error(`${source.key} since ${seq}: a page that ends at ${completeTo} is wrong`);
  }
  return answer;
}

/** The input of a subscriber, and texts for the documents. */
interface TopicFacts<Name extends string = string> {
  readonly name: Name;
  readonly summary: string;
  readonly cadenceMs: number;
  /**
   * True for state that is not of the log (Health): sent whole each cadence as a snapshot,
   * `since` is never asked.
   */
  readonly periodic?: boolean;
}

export interface Topic extends Required<TopicFacts> {
  /** Event of ordinary updates and of the snapshot: `<Topic>Update`. */
  readonly event: string;
  /** Other events that this topic sends, and their data. */
  readonly otherEvents: Readonly<Record<string, TSchema>>;
  /** Schema of the data that a subscriber sends. */
  readonly data: TSchema;
  /** Schema of the data of updates and snapshots. */
  readonly update: TSchema;
  /** Checks a subscriber's data; the answer opens a source for it, as often as it is called. */
  accept(data: unknown): OpenSource | Failure;
}

export type OpenSource = () => Source | Failure;

/** The type of a schema's value, as it is sent. */
export type DataOf<Schema extends TSchema> = Json & DeepReadonly<Static<Schema>>;

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

type OtherParts<Events extends Readonly<Record<string, TSchema>>> = {
  readonly [Event in keyof Events & string]: Part<Event, DataOf<Events[Event]>>;
}[keyof Events & string];

type TopicSource<
  Name extends string,
  Update extends TSchema,
  Events extends Readonly<Record<string, TSchema>>,
> = Source<DataOf<Update>, Part<`${Name}Update`, DataOf<Update>> | OtherParts<Events>>;

/** A topic whose sources are typed by its schemas. */
export function topic<
  const Name extends string,
  Data extends TSchema,
  Update extends TSchema,
  Events extends Readonly<Record<string, TSchema>> = Record<never, never>,
>(
  spec: TopicFacts<Name> & {
    readonly data: Data;
    readonly update: Update;
    readonly otherEvents?: Events;
    /** Cheap, without side effects; a Failure refuses the subscription. */
    open(
      data: Static<NoInfer<Data>>,
    ): TopicSource<NoInfer<Name>, NoInfer<Update>, NoInfer<Events>> | Failure;
  },
): Topic {
  const { name, data, update, otherEvents = {}, open, periodic = false } = spec;
  const { summary, cadenceMs } = spec;
  const check = checkOf(data);
  return {
    name,
    event: `${name}Update`,
    otherEvents,
    summary,
    cadenceMs,
    periodic,
    data,
    update,
    accept(sent) {
      const checked = check(sent, 'data');
      return checked instanceof Failure ? checked : () => open(checked.value);
    },
  };
}

/** Position of a subscription: its client certainly has every frame up to `prev`. */
export interface StreamCursor {
  /** `seq` of the last frame that was surely sent; the next one names it as its `prev`. */
  readonly prev: number;
  /** The position to ask `since` with from here; never below `prev`. */
  readonly complete: number;
  /** Frames and bytes of the stream so far, to tell later how much was skipped. */
  readonly frames: number;
  readonly bytes: number;
}

/** One subscription in a stream. */
export interface StreamHandle {
  /** Frames for this handle and others are published under this name. */
  readonly channel: string;
  /**
   * As of before the last flush turn: whether frames of that turn reached a socket that dropped
   * something cannot be known, and getting them twice is harmless.
   */
  cursor(): StreamCursor;
  /** Listeners got everything up to this position, this flush included. */
  completeTo(): number;
  /** Frames and bytes the stream has rendered so far. */
  traffic(): { readonly frames: number; readonly bytes: number };
  /** Whole state at the applied position, rendered once for all subscribers at that position. */
  snapshot(): EncodedPayload | Failure;
  /** Stops delivery to this handle; the stream keeps counting frames. */
  pause(): void;
  resume(): void;
  /**
   * Its client is at `seq`, and nothing changed from there up to the applied position: no later
   * frame names a higher position as its `prev`. The stream's last frame may have a higher seq than
   * the change in it.
   */
  standsAt(seq: number): void;
  release(): void;
}

/** A subscriber's socket, for frames that only it gets. */
export interface Recipient {
  /** Keeps a frame until the end of this flush; answers how many it keeps. */
  keepFrame(builder: FrameBuilder, head: Uint8Array): number;
  /**
   * Sends what it keeps. A socket that drops one continues from `cursor`, as
   * after any other drop.
   */
  deliver(): void;
}

/** The subscribers' side of the hub. */
export interface Streams extends TopicHub {
  /** Joins the stream of (source, cadence); its first handle creates it. */
  join(place: {
    readonly topic: Topic;
    readonly source: Source;
    readonly cadenceMs: number;
    readonly requestId: RequestId;
    readonly encoding: Encoding;
    /** Gets frames directly where it is the only listener; else through the handle's channel. */
    readonly to: Recipient;
    /**
     * The stream can give this handle nothing more. Called in a separate turn,
     * never by `join`.
     */
    readonly ended: (failure: Failure) => void;
  }): StreamHandle;
  /** Every subscription has had its frames up to and including this position. */
  completeTo(): number;
  /** `renew` runs after a change of epoch; older handles receive nothing more. */
  onEpoch(renew: () => void): void;
}
