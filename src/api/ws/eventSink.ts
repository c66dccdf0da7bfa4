/**
 * Frames as server-sent events: the body of one response that does not end. The frames of one turn
 * are one write. Its last event carries an `id` where the whole stream is complete up to a
 * position, so that the client continues from there.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import type { HttpResponse } from '../gateway/server.ts';
import { DROPPED, type FrameSink } from './connection.ts';

interface EventSinkDeps {
  readonly res: HttpResponse;
  readonly clock: Clock;
  readonly options: Pick<GatewayOptions, 'bufferBytes' | 'sweepMs'>;
  /** `<epoch>:<seq>` up to which all subscriptions are complete; null: not now. */
  position(): string | null;
  /** A frame was thrown away. */
  dropped(): void;
  /** The client has read something. */
  drained(): void;
  /** Once, however it ended. */
  ended(code: number): void;
}

const SENT = 1;
/** A comment: its write reports whether every byte before it has left. */
const COMMENT = ':\n';
const END_OF_EVENT = Buffer.from('\n');
/** Close codes after which a client may read the sent bytes. */
const GRACEFUL_CODES = [1000, 4001, 4501];

export class EventSink implements FrameSink {
  readonly #deps: EventSinkDeps;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  /** Written since the network last took everything. */
  #unsentBytes = 0;
  #askedMs = 0;
  #isEnded = false;

  constructor(deps: EventSinkDeps) {
    this.#deps = deps;
    deps.res.onWritable(() => {
      // In another turn: the library is about to write its buffered bytes.
      deps.clock.soon(() => {
        this.#askedMs = Number.NEGATIVE_INFINITY;
        if (!this.#isEnded) deps.drained();
      });
      return true;
    });
  }

  send(frame: Uint8Array): number {
    if (this.#isEnded) return DROPPED;
    if (this.getBufferedAmount() > this.#deps.options.bufferBytes) {
      this.#deps.dropped();
      return DROPPED;
    }
    this.#add(Buffer.from(frame));
    return SENT;
  }

  /** Asks the client to wait so long before it connects again. */
  retry(delayMs: number): void {
    if (!this.#isEnded) this.#add(Buffer.from(`retry: ${Math.round(delayMs)}\n`));
  }

  cork(run: () => void): void {
    run();
  }

  subscribe(): void {}

  unsubscribe(): void {}

  getBufferedAmount(): number {
    if (this.#unsentBytes > 0) this.#ask();
    return this.#unsentBytes + this.#pendingBytes;
  }

  end(code: number): void {
    if (this.#isEnded) return;
    const { res } = this.#deps;
    if (GRACEFUL_CODES.includes(code)) {
      this.#flush();
      this.#finish(code);
      res.cork(() => res.end());
    } else {
      this.#finish(code);
      res.close();
    }
  }

  /** The client is gone. */
  gone(): void {
    if (!this.#isEnded) this.#finish(1006);
  }

  #finish(code: number): void {
    this.#isEnded = true;
    this.#pending = [];
    this.#deps.ended(code);
  }

  #add(bytes: Uint8Array): void {
    if (this.#pending.length === 0) queueMicrotask(() => this.#flush());
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
  }

  #flush(): void {
    if (this.#isEnded || this.#pending.length === 0) return;
    const parts = this.#pending.flatMap((frame, index) =>
      index === 0 ? [frame] : [END_OF_EVENT, frame],
    );
    const position = this.#deps.position();
    parts.push(Buffer.from(position === null ? '\n' : `id: ${position}\n\n`));
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#write(Buffer.concat(parts));
  }

  /** The library tells only whether anything is left to be sent, not how much. */
  #write(bytes: Uint8Array | string): void {
    const { res } = this.#deps;
    let isTaken = true;
    res.cork(() => {
      isTaken = res.write(bytes);
    });
    this.#unsentBytes = isTaken ? 0 : this.#unsentBytes + bytes.length;
  }

  #ask(): void {
    const { clock, options } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#askedMs < options.sweepMs / 2) return;
    this.#askedMs = nowMs;
    this.#write(COMMENT);
  }
}
