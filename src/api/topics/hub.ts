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
  /** The first stream that will tell of entry `seq`, which is traced (`entryPath.ts`). */
  #awaited: { readonly stream: Stream; readonly seq: number } | null = null;

  constructor({ nodeView, clock, observer, publish }: HubDeps) {
    const outbox = new Outbox(observer);
    this.#outbox = outbox;
    this.#scheduler = new FlushScheduler(clock, observer, {
      begins: () => {
        this.#sentTo = this.#flushedTo();
      },
      send: (isOver) => {
        this.#trace('rendered');
        return outbox.dispatch(isOver);
      },
      ended: () => this.#trace('written'),
    });
    const applied = () => nodeView.applied();
    const turn = () => this.#scheduler.turn;
    this.#deps = { clock, observer, applied, publish, flushTurn: turn, outbox };
    this.#previous = applied().seq;
  }

  applied(tags: Iterable<string>): void {
    let first: Stream | null = null;
    for (const tag of tags) {
      const tagged = this.#byTag.get(tag);
      if (tagged === undefined) continue;
      for (const stream of tagged) {
        if (stream.topic.periodic) continue;
        if (first === null || stream.cadenceMs < first.cadenceMs) first = stream;
        if (stream.dirty) continue;
        stream.changedAfter(this.#previous);
        this.#scheduler.add(stream);
      }
    }
    const { seq } = this.#deps.applied();
    this.#previous = seq;
    const isTraced = this.#deps.observer.entryAt?.(first === null ? 'unheard' : 'heard', seq);
    if (first !== null && isTraced === true) this.#awaited ??= { stream: first, seq };
  }

  /** `written` follows `rendered`, at the end of the same flush. */
  #trace(stop: 'rendered' | 'written'): void {
    const awaited = this.#awaited;
    if (awaited === null || awaited.stream.complete < awaited.seq) return;
    this.#deps.observer.entryAt?.(stop, awaited.seq);
    if (stop === 'written') this.#awaited = null;
  }

  epochChanged(): void {
    this.#awaited = null;
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
    if (this.#awaited?.stream === stream) this.#awaited = null;
    for (const tag of stream.source.tags) {
      const tagged = this.#byTag.get(tag);
      tagged?.delete(stream);
      if (tagged?.size === 0) this.#byTag.delete(tag);
    }
  }
}
