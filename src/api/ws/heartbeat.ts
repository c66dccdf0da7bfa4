/**
 * One timer for pings, silent sockets and slow ones, while there are sockets. Pings are spread: at
 * each tick one slice of the sockets is pinged, with one publish for each encoding in it.
 */
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import { Slices } from '../../engine/runtime/slices.ts';
import { EncodedPayload, type Encoding, headOf, joinFrame, tailOf } from '../gateway/frame.ts';
import type { Observer } from '../gateway/observer.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import type { NodeView } from '../gateway/port.ts';
import type { Server } from '../gateway/server.ts';
import type { Streams } from '../topics/port.ts';
import type { Connection } from './connection.ts';
import type { SlowSockets } from './slowSockets.ts';

interface HeartbeatDeps {
  readonly connections: ReadonlySet<Connection>;
  readonly server: Pick<Server, 'publish'>;
  readonly streams: Streams;
  readonly nodeView: NodeView;
  readonly slow: SlowSockets;
  readonly observer: Observer;
  readonly clock: Clock;
  readonly options: GatewayOptions;
}

const PING = { messageType: 'Request' } as const;
const HEADS = {
  json: headOf('json', null, 'Ping', PING),
  msgpack: headOf('msgpack', null, 'Ping', PING),
};
/** Event streams are pinged one by one: their pings carry positions of their own. */
const ENCODINGS = ['json', 'msgpack'] as const;

export class Heartbeat {
  readonly #parts: HeartbeatDeps;
  /** Sockets are divided into this many slices. */
  readonly #slices: number;
  /** Sockets by the channel of their pings. */
  readonly #sockets = new Map<string, number>();
  #added = 0;
  #isStarted = false;
  #timer: Timer | null = null;
  #next = 0;
  /** Sockets that a sweep has still to look at; null: none is running. */
  #unswept: Iterator<Connection> | null = null;

  constructor(parts: HeartbeatDeps) {
    this.#parts = parts;
    const { heartbeatMs, sweepMs } = parts.options;
    this.#slices = Math.max(1, Math.round(heartbeatMs / sweepMs));
  }

  start(): void {
    this.#isStarted = true;
    this.#schedule();
  }

  stop(): void {
    this.#isStarted = false;
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** A socket opened: names the channel of its pings. */
  add({ encoding }: Pick<Connection, 'encoding'>): string {
    const channel = pingChannel(this.#added % this.#slices, encoding);
    this.#added += 1;
    this.#sockets.set(channel, (this.#sockets.get(channel) ?? 0) + 1);
    if (this.#timer === null) this.#schedule();
    return channel;
  }

  /** It closed. */
  remove({ pings }: Pick<Connection, 'pings'>): void {
    const count = (this.#sockets.get(pings) ?? 0) - 1;
    if (count > 0) this.#sockets.set(pings, count);
    else this.#sockets.delete(pings);
  }

  #schedule(): void {
    this.#timer = null;
    if (!this.#isStarted || this.#sockets.size === 0) return;
    this.#timer = this.#parts.clock.after(this.#parts.options.sweepMs, () => {
      this.#schedule();
      this.#ping(this.#next);
      this.#next = (this.#next + 1) % this.#slices;
      this.#sweep();
    });
  }

  /** One at a time: on a busy node the next one begins later. */
  #sweep(): void {
    const { connections, clock, observer } = this.#parts;
    if (this.#unswept !== null) return;
    const unswept = connections.values();
    this.#unswept = unswept;
    const step = (isOver: () => boolean) => {
      for (const connection of unswept) {
        this.#check(connection);
        if (isOver()) return false;
      }
      this.#unswept = null;
      return true;
    };
    Slices.of(clock).begin('sweep of sockets', step, (error) => {
      this.#unswept = null;
      observer.handlerFailed('sweep of sockets', error);
    });
  }

  #ping(slice: number): void {
    const encodings = ENCODINGS.filter((each) => this.#sockets.has(pingChannel(slice, each)));
    if (encodings.length === 0) return;
    const { nodeView, streams, clock, server } = this.#parts;
    const tip = nodeView.tip();
    const timestamp = clock.nowMs();
    // Not the applied position: a change below it may still wait for its flush.
    const seq = streams.completeTo();
    const { slot, hash, lagMs } = tip;
    const data = new EncodedPayload({ timestamp, seq, tip: { slot, hash, lagMs } });
    const facts = { epoch: nodeView.applied().epoch, seq, prev: null, tsMs: timestamp };
    for (const encoding of encodings) {
      const frame = joinFrame(HEADS[encoding], tailOf(encoding, data, facts));
      server.publish(pingChannel(slice, encoding), frame, encoding === 'msgpack');
    }
  }

  #check(connection: Connection): void {
    const { clock, options, slow } = this.#parts;
    const nowMs = clock.monotonicMs();
    const buffered = connection.bufferedBytes;
    if (buffered > options.behindBytes) slow.fallBehind(connection);
    else if (connection.behindSinceMs !== null) slow.resumeHeld(connection);
    const { behindSinceMs, lastHeardMs } = connection;
    if (behindSinceMs !== null && nowMs - behindSinceMs > options.behindMs) {
      connection.close(4008, 'too slow');
    } else if (nowMs - lastHeardMs > options.silenceMs) {
      connection.close(4002, 'no sign of life');
    }
  }
}

/** Sockets that are behind do not listen to it: a ping says that nothing was missed. */
function pingChannel(slice: number, encoding: Encoding): string {
  return `ping${slice}${encoding}`;
}
