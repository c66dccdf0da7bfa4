/**
 * Different streams that each caller has open. A stream costs memory, and work with each change, so
 * its parameters, which clients choose freely, must not let one caller take the node from others.
 * Sockets of a caller that ask the same share one stream, which counts once.
 */
import { Failure } from '../../engine/runtime/errors.ts';
import type { Caller } from '../gateway/address.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import type { Source } from '../topics/port.ts';

export interface CountedStream {
  readonly key: string;
  /** Streams that it counts as. */
  readonly weight: number;
}

interface Streams {
  readonly open: Map<string, number>;
  weight: number;
}

type Limits = Pick<GatewayOptions, 'limitLoopback' | 'maxStreamsEach'>;

export class StreamCounts {
  readonly #byCaller = new Map<string, Streams>();
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  static of({ key, weight = 1 }: Source, cadenceMs: number): CountedStream {
    return { key: `${cadenceMs} ${key}`, weight };
  }

  /** null: the caller may open it. */
  refusal({ key: caller, loopback }: Caller, { key, weight }: CountedStream): Failure | null {
    const { limitLoopback, maxStreamsEach } = this.#limits;
    if (loopback && !limitLoopback) return null;
    const streams = this.#byCaller.get(caller);
    if (streams === undefined || streams.open.has(key)) return null;
    if (streams.weight + weight <= maxStreamsEach) return null;
    const [limit, filters] = [maxStreamsEach, weight > 1 ? `; this one counts as ${weight}` : ''];
    return new Failure(
      'LIMIT_EXCEEDED',
      `you may have ${limit} different streams open, over all your sockets${filters}: ` +
        'unsubscribe from some, or ask for parameters that you already have open',
    );
  }

  add({ key: caller }: Caller, { key, weight }: CountedStream): void {
    const streams = this.#byCaller.get(caller) ?? { open: new Map<string, number>(), weight: 0 };
    this.#byCaller.set(caller, streams);
    const count = streams.open.get(key) ?? 0;
    streams.open.set(key, count + 1);
    if (count === 0) streams.weight += weight;
  }

  remove({ key: caller }: Caller, { key, weight }: CountedStream): void {
    const streams = this.#byCaller.get(caller);
    const count = streams?.open.get(key);
    if (streams === undefined || count === undefined) return;
    if (count > 1) {
      streams.open.set(key, count - 1);
      return;
    }
    streams.open.delete(key);
    streams.weight -= weight;
    if (streams.open.size === 0) this.#byCaller.delete(caller);
  }
}
