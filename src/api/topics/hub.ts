/**
 * The open streams, and an index from tag to streams, so that a batch costs as much as it changes.
 * A stream lives while it has a handle.
 */

import type { Clock } from '../../engine/runtime/clock.ts';
import type { Observer } from '../gateway/observer.ts';
import type { NodeView } from '../gateway/port.ts';
import { FlushScheduler } from './flush.ts';
import { Outbox } from './outbox.ts';
import type { StreamHandle, Streams } from './port.ts';
import { Stream, type StreamDeps } from './stream.ts';

interface HubDeps {
  readonly nodeView: Pick<NodeView, 'applied'>;
  readonly clock: Clock;
  readonly observer: Observer;
  /** `Server.publish`; `bytes` are good during the call only. */
  publish(channel: string, bytes: Uint8Array, isBinary: boolean): void;
}

export function createHub(parts: HubDeps): Streams {
  return new Hub(parts);
}

type JoinRequest = Parameters<Streams['join']>[0];

class Hub implements Streams {
  readonly #deps: StreamDeps;
  readonly #scheduler: FlushScheduler;
  readonly #outbox: Outbox;
  readonly #streams = new Map<string, Stream>();
  readonly #byTag = new Map<string, Set<Stream>>();
  readonly #renewals: (() => void)[] = [];
  #created = 0;
  /** Applied before the current batch: a stream without changes is complete up to here. */
  #previous: number;
  /** Every subscription had its frames up to here before the flush that is running. */
  #sentTo = 0;

  constructor({ nodeView, clock, observer, publish }: HubDeps) {
    const outbox = new Outbox(observer);
    this.#outbox = outbox;
    this.#scheduler = new FlushScheduler(clock, observer, {
      begins: () => {
        this.#sentTo = this.#flushedTo();
      },
      send: (isOver) => outbox.dispatch(isOver),
    });
    const applied = () => nodeView.applied();
    const turn = () => this.#scheduler.turn;
    this.#deps = { clock, observer, applied, publish, turn, outbox };
    this.#previous = applied().seq;
  }

  applied(tags: Iterable<string>): void {
    for (const tag of tags) {
      const tagged = this.#byTag.get(tag);
      if (tagged === undefined) continue;
      for (const stream of tagged) {
        if (stream.dirty || stream.topic.periodic) continue;
        stream.touch(this.#previous);
        this.#scheduler.add(stream);
      }
    }
    this.#previous = this.#deps.applied().seq;
  }

  epochChanged(): void {
    this.#streams.clear();
    this.#byTag.clear();
    this.#scheduler.clear();
    this.#previous = this.#deps.applied().seq;
    for (const renew of this.#renewals) renew();
  }

  join(place: JoinRequest): StreamHandle {
    const key = `${place.topic.event} ${place.cadenceMs} ${place.source.key}`;
    const stream = this.#streams.get(key) ?? this.#open(key, place);
    return stream.openHandle(place, (left) => this.#close(key, left));
  }

  completeTo(): number {
    return this.#outbox.isEmpty ? this.#flushedTo() : this.#sentTo;
  }

  #flushedTo(): number {
    let { seq } = this.#deps.applied();
    for (const stream of this.#scheduler.waiting()) {
      if (!stream.topic.periodic) seq = Math.min(seq, stream.complete);
    }
    return seq;
  }

  onEpoch(renew: () => void): void {
    this.#renewals.push(renew);
  }

  #open(key: string, { topic, source, cadenceMs }: JoinRequest): Stream {
    const stream = new Stream(`s${this.#created++}`, topic, source, cadenceMs, this.#deps);
    this.#streams.set(key, stream);
    for (const tag of source.tags) {
      const tagged = this.#byTag.get(tag) ?? new Set();
      this.#byTag.set(tag, tagged.add(stream));
    }
    if (topic.periodic) this.#scheduler.add(stream);
    return stream;
  }

  #close(key: string, stream: Stream): void {
    // After a change of epoch the name may belong to a newer stream.
    if (this.#streams.get(key) !== stream) return;
    this.#streams.delete(key);
    this.#scheduler.remove(stream);
    for (const tag of stream.source.tags) {
      const tagged = this.#byTag.get(tag);
      tagged?.delete(stream);
      if (tagged?.size === 0) this.#byTag.delete(tag);
    }
  }
}
