/**
 * Which streams exist, and which of them a batch touched: an index from tag to streams, so that a
 * batch costs as much as it touched. A stream lives while someone has a seat in it.
 */
import type { Observer } from '../gateway/observer.ts';
import type { Vantage } from '../gateway/port.ts';
import type { Clock } from '../runtime/clock.ts';
import { FlushScheduler } from './flush.ts';
import type { Streams } from './port.ts';
import { type Outlet, Stream } from './stream.ts';

export interface HubParts {
  readonly vantage: Pick<Vantage, 'applied'>;
  readonly clock: Clock;
  readonly observer: Observer;
  /** `Server.publish` */
  publish(channel: string, bytes: Uint8Array, isBinary: boolean): void;
}

export function createHub({ vantage, clock, observer, publish }: HubParts): Streams {
  const streams = new Map<string, Stream>();
  const byTag = new Map<string, Set<Stream>>();
  const scheduler = new FlushScheduler(clock, observer);
  const renewals: (() => void)[] = [];
  const applied = () => vantage.applied();
  const outlet: Outlet = { clock, observer, applied, publish, turn: () => scheduler.turn };
  let created = 0;
  let previous = applied().seq;

  function open(key: string, place: Parameters<Streams['join']>[0]): Stream {
    const { topic, source, cadenceMs } = place;
    const stream = new Stream(`s${created++}`, topic, source, cadenceMs, outlet);
    streams.set(key, stream);
    for (const tag of source.tags) {
      const tagged = byTag.get(tag) ?? new Set();
      byTag.set(tag, tagged.add(stream));
    }
    if (topic.periodic) scheduler.add(stream);
    return stream;
  }

  function close(key: string, stream: Stream): void {
    // After a change of epoch the name may belong to a newer stream.
    if (streams.get(key) !== stream) return;
    streams.delete(key);
    scheduler.remove(stream);
    for (const tag of stream.source.tags) {
      const tagged = byTag.get(tag);
      tagged?.delete(stream);
      if (tagged?.size === 0) byTag.delete(tag);
    }
  }

  return {
    applied(tags) {
      for (const tag of tags) {
        const tagged = byTag.get(tag);
        if (tagged === undefined) continue;
        for (const stream of tagged) {
          if (stream.dirty || stream.topic.periodic) continue;
          stream.touch(previous);
          scheduler.add(stream);
        }
      }
      previous = applied().seq;
    },
    epochChanged() {
      streams.clear();
      byTag.clear();
      scheduler.clear();
      previous = applied().seq;
      for (const renew of renewals) renew();
    },
    join(place) {
      const key = `${place.topic.event} ${place.cadenceMs} ${place.source.key}`;
      const stream = streams.get(key) ?? open(key, place);
      return stream.seat(place.requestId, place.encoding, (left) => close(key, left));
    },
    completeTo() {
      let seq = applied().seq;
      for (const stream of scheduler.waiting()) {
        if (!stream.topic.periodic) seq = Math.min(seq, stream.complete);
      }
      return seq;
    },
    onEpoch: (renew) => void renewals.push(renew),
  };
}
