/**
 * A stream: one source at one cadence, for all who subscribed to it. A flush asks the source what
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
  type Mark,
  type Recipient,
  type Seat,
  type Source,
  type Streams,
  type Topic,
} from './port.ts';

/** What a stream needs of the world. */
export interface Outlet {
  readonly clock: Clock;
  readonly observer: Observer;
  applied(): Position;
  /** Number of the last flush turn. */
  turn(): number;
  /** `bytes` are good during the call only. */
  publish(channel: string, bytes: Uint8Array, isBinary: boolean): void;
  readonly outbox: Pick<Outbox, 'add'>;
}

type Place = Pick<Parameters<Streams['join']>[0], 'requestId' | 'encoding' | 'to' | 'ended'>;

/** One for each seat. */
type Listener = Pick<Place, 'to' | 'ended'>;

/** Subscribers who get the same bytes. */
interface Group {
  readonly key: string;
  readonly channel: string;
  readonly requestId: RequestId;
  readonly encoding: Encoding;
  /** The head in use, and what it says; the events of a stream rarely alternate. */
  head: { readonly event: string; readonly snapshot: boolean; readonly bytes: Uint8Array };
  seats: number;
  /** One for each seat that is not paused. */
  readonly listening: Set<Listener>;
  /** The only one listening, who is served directly. */
  only: Recipient | null;
}

export class Stream {
  readonly topic: Topic;
  readonly source: Source;
  readonly cadenceMs: number;
  /** Touched and not flushed yet. */
  dirty = false;
  readonly #name: string;
  readonly #outlet: Outlet;
  readonly #groups = new Map<string, Group>();
  #nextGroup = 0;
  #seats = 0;
  #now: Mark;
  #before: Mark;
  #turn = -1;
  /** False after a flush that failed: the next one must ask for the same again. */
  #settled = true;
  #shot: { readonly position: Position; readonly rendering: EncodedPayload } | null = null;

  constructor(name: string, topic: Topic, source: Source, cadenceMs: number, outlet: Outlet) {
    this.#name = name;
    this.topic = topic;
    this.source = source;
    this.cadenceMs = cadenceMs;
    this.#outlet = outlet;
    // No frame was sent yet, so none can be missing: 0 is a `prev` that nobody finds too high.
    this.#now = { prev: 0, complete: outlet.applied().seq, frames: 0, bytes: 0 };
    this.#before = this.#now;
  }

  get complete(): number {
    return this.#now.complete;
  }

  /** Something changed after position `previous`; up to there a clean stream was complete. */
  touch(previous: number): void {
    if (this.dirty) return;
    this.dirty = true;
    const { complete } = this.#now;
    if (this.#settled && previous > complete) this.#now = { ...this.#now, complete: previous };
  }

  flush(turn: number): void {
    this.dirty = false;
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#before = this.#now;
    }
    this.#settled = false;
    const { seq } = this.#outlet.applied();
    if (this.topic.periodic) this.#publishSnapshot(seq);
    else if (!this.#publishChanges(seq)) return;
    this.#now = { ...this.#now, complete: seq };
    this.#settled = true;
  }

  seat({ requestId, encoding, to, ended }: Place, left: (stream: Stream) => void): Seat {
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
    group.seats += 1;
    this.#seats += 1;
    return {
      channel: group.channel,
      mark: () => this.#mark(),
      traffic: () => this.#now,
      snapshot: () => this.#snapshot(),
      pause: () => listen(false),
      resume: () => listen(true),
      standsAt: (seq) => {
        if (seq < this.#now.prev) this.#now = { ...this.#now, prev: seq };
      },
      leave: () => {
        if (!taken) return;
        listen(false);
        taken = false;
        group.seats -= 1;
        if (group.seats === 0) this.#groups.delete(group.key);
        this.#seats -= 1;
        if (this.#seats === 0) left(this);
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
      group = { key, channel, requestId, encoding, head, seats: 0, listening, only: null };
      this.#groups.set(key, group);
    }
    return group;
  }

  #mark(): Mark {
    if (this.#turn === this.#outlet.turn()) return this.#before;
    if (this.dirty || !this.#settled) return this.#now;
    return { ...this.#now, complete: this.#outlet.applied().seq };
  }

  #snapshot(): EncodedPayload | Failure {
    const position = this.#outlet.applied();
    const shot = this.#shot;
    if (shot?.position.seq === position.seq && shot.position.epoch === position.epoch) {
      return shot.rendering;
    }
    const data = this.source.snapshot();
    if (data instanceof Failure) return data;
    const rendering = new EncodedPayload(data);
    // State outside the log changes without a new position.
    this.#shot = this.topic.periodic ? null : { position: { ...position }, rendering };
    return rendering;
  }

  /** Page by page up to `applied`. False: the source has failed and all were told. */
  #publishChanges(applied: number): boolean {
    do {
      const changes = askSince(this.source, this.#now.complete, applied);
      if (changes instanceof Failure) return this.#end(changes);
      if (changes === null) return this.#publishSnapshot(applied);
      for (const { event, data, seq } of changes.parts) {
        const { prev } = this.#now;
        this.#publish(event, new EncodedPayload(data), { seq, prev, snapshot: false });
      }
      this.#now = { ...this.#now, complete: changes.completeTo };
    } while (this.#now.complete < applied);
    return true;
  }

  #publishSnapshot(seq: number): boolean {
    const rendering = this.#snapshot();
    if (rendering instanceof Failure) return this.#end(rendering);
    if (!this.topic.periodic) {
      // What lies between is lost to those who listen, so they are told.
      const why = new EncodedPayload({ reason: 'slow', skipped: 0 });
      this.#publish('Resync', why, { seq, prev: null, snapshot: false });
      this.#outlet.observer.resync('slow');
    }
    this.#publish(this.topic.event, rendering, { seq, prev: null, snapshot: true });
    return true;
  }

  /** After this flush, when its frames are sent. Paused seats hear of it when they go on. */
  #end({ message }: Failure): false {
    const failure = new Failure('NOT_READY', message);
    this.#outlet.clock.soon(() => {
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
    const { clock, observer, outbox } = this.#outlet;
    const facts: FrameMeta = { ...place, epoch: this.#outlet.applied().epoch, tsMs: clock.nowMs() };
    const joiners = new Map<Encoding, FrameBuilder>();
    let published = 0;
    let bytes = 0;
    let size = 0;
    for (const group of this.#groups.values()) {
      const { encoding, channel, listening, only } = group;
      let joiner = joiners.get(encoding);
      if (joiner === undefined) {
        joiner = new FrameBuilder(tailOf(encoding, data, facts));
        joiners.set(encoding, joiner);
      }
      const head = headFor(group, event, place.snapshot);
      size = head.length + joiner.tail.length;
      if (listening.size === 0) continue;
      if (only !== null) outbox.add(only, joiner, head);
      else this.#outlet.publish(channel, joiner.frame(head), encoding === 'msgpack');
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
