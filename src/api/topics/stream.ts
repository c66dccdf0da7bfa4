/**
 * A stream: one source at one cadence, for all its subscribers. A flush asks the source what
 * changed since the last one and publishes each part once per request id and encoding.
 *
 * Two positions are kept, and differ for a quiet stream: `prev`, the seq of the last frame that was
 * sent, and `complete`, up to where there was nothing more to send.
 */

import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Position } from '../../engine/runtime/position.ts';
import {
  EncodedPayload,
  type Encoding,
  FrameBuilder,
  type FrameMeta,
  headOf,
  type RequestId,
  tailOf,
} from '../gateway/frame.ts';
import type { Observer } from '../gateway/observer.ts';
import type { Outbox } from './outbox.ts';
import {
  askSince,
  type Recipient,
  type Source,
  type StreamCursor,
  type StreamHandle,
  type Streams,
  type Topic,
} from './port.ts';

export interface StreamDeps {
  readonly clock: Clock;
  readonly observer: Observer;
  applied(): Position;
  /** Number of the last flush turn. */
  flushTurn(): number;
  /** `bytes` are good during the call only. */
  publish(channel: string, bytes: Uint8Array, isBinary: boolean): void;
  readonly outbox: Pick<Outbox, 'add'>;
}

type Subscriber = Pick<Parameters<Streams['join']>[0], 'requestId' | 'encoding' | 'to' | 'ended'>;

/** One for each handle. */
type Listener = Pick<Subscriber, 'to' | 'ended'>;

/** Subscribers who get the same bytes. */
interface Group {
  readonly key: string;
  readonly channel: string;
  readonly requestId: RequestId;
  readonly encoding: Encoding;
  /** The frame head in use, and its fields; the events of a stream rarely alternate. */
  head: { readonly event: string; readonly snapshot: boolean; readonly bytes: Uint8Array };
  handles: number;
  /** One for each handle that is not paused. */
  readonly listening: Set<Listener>;
  /** The only listener, which is served directly. */
  only: Recipient | null;
}

export class Stream {
  readonly topic: Topic;
  readonly source: Source;
  readonly cadenceMs: number;
  /** Touched and not flushed yet. */
  dirty = false;
  readonly #name: string;
  readonly #deps: StreamDeps;
  readonly #groups = new Map<string, Group>();
  #nextGroup = 0;
  #handles = 0;
  #now: StreamCursor;
  #before: StreamCursor;
  #turn = -1;
  /** False after a flush that failed: the next one must ask for the same again. */
  #settled = true;
  #lastSnapshot: { readonly position: Position; readonly payload: EncodedPayload } | null = null;

  constructor(name: string, topic: Topic, source: Source, cadenceMs: number, deps: StreamDeps) {
    this.#name = name;
    this.topic = topic;
    this.source = source;
    this.cadenceMs = cadenceMs;
    this.#deps = deps;
    // No frame was sent yet, so none can be missing: 0 is a `prev` that no client finds too high.
    this.#now = { prev: 0, complete: deps.applied().seq, frames: 0, bytes: 0 };
    this.#before = this.#now;
  }

  get complete(): number {
    return this.#now.complete;
  }

  /** Something changed after position `previous`; a clean stream was complete up to there. */
  changedAfter(previous: number): void {
    if (this.dirty) return;
    this.dirty = true;
    const { complete } = this.#now;
    if (this.#settled && previous > complete) this.#now = { ...this.#now, complete: previous };
  }

  /** Its source does work before a flush. */
  get isPrepared(): boolean {
    return this.source.prepare !== undefined;
  }

  /** Some of the work of `flush`, until `isOver`. True: it takes no longer than to send. */
  prepare(isOver: () => boolean): boolean {
    return this.source.prepare?.(isOver) ?? true;
  }

  flush(turn: number): void {
    this.dirty = false;
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#before = this.#now;
    }
    this.#settled = false;
    this.#lastSnapshot = null;
    const { seq } = this.#deps.applied();
    if (this.topic.periodic) this.#publishSnapshot(seq);
    else if (!this.#publishChanges(seq)) return;
    this.#now = { ...this.#now, complete: seq };
    this.#settled = true;
  }

  openHandle(
    { requestId, encoding, to, ended }: Subscriber,
    left: (stream: Stream) => void,
  ): StreamHandle {
    const group = this.#group(requestId, encoding);
    const listener = { to, ended };
    let taken = true;
    const listen = (on: boolean) => {
      if (!taken) return;
      if (on) group.listening.add(listener);
      else group.listening.delete(listener);
      const [first] = group.listening;
      group.only = group.listening.size === 1 ? (first?.to ?? null) : null;
    };
    listen(true);
    group.handles += 1;
    this.#handles += 1;
    return {
      channel: group.channel,
      cursor: () => this.#cursor(),
      traffic: () => this.#now,
      completeTo: () => this.#completeTo(),
      snapshot: () => this.#snapshot(),
      pause: () => listen(false),
      resume: () => listen(true),
      standsAt: (seq) => {
        if (seq < this.#now.prev) this.#now = { ...this.#now, prev: seq };
      },
      release: () => {
        if (!taken) return;
        listen(false);
        taken = false;
        group.handles -= 1;
        if (group.handles === 0) this.#groups.delete(group.key);
        this.#handles -= 1;
        if (this.#handles === 0) left(this);
      },
    };
  }

  #group(requestId: RequestId, encoding: Encoding): Group {
    const key = `${encoding}${JSON.stringify(requestId)}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      const channel = `${this.#name}#${this.#nextGroup++}`;
      const head = newHead(encoding, requestId, this.topic.event, false);
      const listening = new Set<Listener>();
      group = { key, channel, requestId, encoding, head, handles: 0, listening, only: null };
      this.#groups.set(key, group);
    }
    return group;
  }

  #completeTo(): number {
    return this.dirty || !this.#settled ? this.#now.complete : this.#deps.applied().seq;
  }

  #cursor(): StreamCursor {
    if (this.#turn === this.#deps.flushTurn()) return this.#before;
    return { ...this.#now, complete: this.#completeTo() };
  }

  #snapshot(): EncodedPayload | Failure {
    const position = this.#deps.applied();
    const last = this.#lastSnapshot;
    if (last?.position.seq === position.seq && last.position.epoch === position.epoch) {
      return last.payload;
    }
    const data = this.source.snapshot();
    if (data instanceof Failure) return data;
    const payload = new EncodedPayload(data);
    // State outside the log changes without a new position.
    this.#lastSnapshot = this.topic.periodic ? null : { position: { ...position }, payload };
    return payload;
  }

  /** Page by page up to `applied`. False: the source failed, and every subscriber is notified. */
  #publishChanges(applied: number): boolean {
    do {
      const changes = askSince(this.source, this.#now.complete, applied);
      if (changes instanceof Failure) return this.#end(changes);
      if (changes === null) return this.#publishSnapshot(applied);
      for (const { event, data, seq, isSnapshot: snapshot = false } of changes.parts) {
        const prev = snapshot ? null : this.#now.prev;
        this.#publish(event, new EncodedPayload(data), { seq, prev, snapshot });
      }
      this.#now = { ...this.#now, complete: changes.completeTo };
    } while (this.#now.complete < applied);
    return true;
  }

  #publishSnapshot(seq: number): boolean {
    const payload = this.#snapshot();
    if (payload instanceof Failure) return this.#end(payload);
    if (!this.topic.periodic) {
      // Subscribers lose what lies between, so they are notified.
      const why = new EncodedPayload({ reason: 'slow', skipped: 0 });
      this.#publish('Resync', why, { seq, prev: null, snapshot: false });
      this.#deps.observer.resync('slow');
    }
    this.#publish(this.topic.event, payload, { seq, prev: null, snapshot: true });
    return true;
  }

  /** After this flush, when its frames are sent. Paused handles learn it when they resume. */
  #end({ message }: Failure): false {
    const failure = new Failure('NOT_READY', message);
    this.#deps.clock.soon(() => {
      for (const group of [...this.#groups.values()]) {
        for (const listener of [...group.listening]) listener.ended(failure);
      }
    });
    return false;
  }

  #publish(
    event: string,
    data: EncodedPayload,
    place: { seq: number; prev: number | null; snapshot: boolean },
  ): void {
    const { clock, observer, outbox } = this.#deps;
    const facts: FrameMeta = { ...place, epoch: this.#deps.applied().epoch, tsMs: clock.nowMs() };
    const builders = new Map<Encoding, FrameBuilder>();
    let published = 0;
    let bytes = 0;
    let size = 0;
    for (const group of this.#groups.values()) {
      const { encoding, channel, listening, only } = group;
      let builder = builders.get(encoding);
      if (builder === undefined) {
        builder = new FrameBuilder(tailOf(encoding, data, facts));
        builders.set(encoding, builder);
      }
      const head = headFor(group, event, place.snapshot);
      size = head.length + builder.tail.length;
      if (listening.size === 0) continue;
      if (only !== null) outbox.add(only, builder, head);
      else if (encoding === 'events') for (const { to } of listening) outbox.add(to, builder, head);
      else this.#deps.publish(channel, builder.frame(head), encoding === 'msgpack');
      published += 1;
      bytes += size;
    }
    const { frames } = this.#now;
    const sent = { prev: place.seq, frames: frames + 1, bytes: this.#now.bytes + size };
    this.#now = { ...this.#now, ...sent };
    observer.framesPublished(published, bytes);
  }
}

function headFor(group: Group, event: string, snapshot: boolean): Uint8Array {
  const { head, encoding, requestId } = group;
  if (head.event === event && head.snapshot === snapshot) return head.bytes;
  group.head = newHead(encoding, requestId, event, snapshot);
  return group.head.bytes;
}

function newHead(
  encoding: Encoding,
  requestId: RequestId,
  event: string,
  snapshot: boolean,
): Group['head'] {
  return { event, snapshot, bytes: headOf(encoding, requestId, event, { snapshot }) };
}
