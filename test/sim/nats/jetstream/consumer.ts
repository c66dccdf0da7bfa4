/**
 * A consumer: passes on the messages of one copy of a stream, in order, pushed to a subject or on
 * request. It lives in the memory of the server of that copy.
 */
import type { Timer } from '../../../../src/engine/runtime/clock.ts';
import { headerBytes, type Packet, statusPacket } from '../packet.ts';
import type { Router } from '../server.ts';
import { NANOS_PER_MS } from './config.ts';
import { Cursor } from './cursor.ts';
import type { Replica } from './replica.ts';
import type { StoredMessage } from './store.ts';

export interface ConsumerConfig {
  readonly name?: string;
  readonly durable_name?: string;
  readonly deliver_policy?: string;
  readonly opt_start_seq?: number;
  readonly opt_start_time?: string;
  readonly ack_policy?: string;
  readonly filter_subject?: string;
  readonly filter_subjects?: readonly string[];
  readonly deliver_subject?: string;
  readonly flow_control?: boolean;
  readonly headers_only?: boolean;
  /** In nanoseconds. */
  readonly idle_heartbeat?: number;
  readonly inactive_threshold?: number;
}

interface PullRequest {
  readonly batch?: number;
  readonly no_wait?: boolean;
  readonly max_bytes?: number;
  /** In nanoseconds. */
  readonly expires?: number;
  readonly idle_heartbeat?: number;
}

interface Waiting {
  readonly reply: string;
  readonly once: boolean;
  left: number;
  bytesLeft: number;
  readonly hasBytes: boolean;
  delivered: number;
  readonly timers: Timer[];
}

interface ConsumerDeps {
  readonly name: string;
  readonly stream: string;
  readonly config: ConsumerConfig;
  readonly replica: Replica;
  readonly router: Router;
  readonly version: '2.9' | '2.12';
  readonly createdMs: number;
  /** It was not used for its idle time. */
  expired(): void;
}

const IDLE_MS = 5_000;
const MAX_PENDING_BYTES = 32 * 1024 * 1024;
const MAX_WAITING = 512;

export class Consumer {
  readonly deps: ConsumerDeps;
  /** Set: it neither delivers nor answers. */
  isMute = false;
  readonly #cursor: Cursor;
  #consumerSeq = 0;
  #waiting: Waiting[] = [];
  #usedMs: number;
  #beatMs: number;
  #timer: Timer | null = null;
  #isOver = false;
  /** Flow control: bytes sent since the last confirmation, and the window. */
  #sent = 0;
  #window = MAX_PENDING_BYTES / 16;
  #asked: { readonly subject: string; readonly sent: number } | null = null;
  #asks = 0;

  constructor(deps: ConsumerDeps) {
    this.deps = deps;
    this.#usedMs = this.#nowMs();
    this.#beatMs = this.#nowMs();
    this.#cursor = new Cursor(deps.config, () => deps.replica.machine.store);
    this.#schedule();
  }

  get isPush(): boolean {
    return this.deps.config.deliver_subject !== undefined;
  }

  info(): object {
    const { name, stream, config, createdMs } = this.deps;
    const created = new Date(createdMs).toISOString();
    const idle = { inactive_threshold: this.#idleMs() * NANOS_PER_MS };
    const { max_deliver = -1 } = { max_deliver: -1, ...config };
    return {
      stream_name: stream,
      name,
      created,
      config: { replay_policy: 'instant', ...config, ...idle, max_deliver },
      delivered: { consumer_seq: this.#consumerSeq, stream_seq: this.#cursor.next - 1 },
      ack_floor: { consumer_seq: 0, stream_seq: 0 },
      num_ack_pending: 0,
      num_redelivered: 0,
      num_waiting: this.#waiting.length,
      num_pending: this.#pending(),
      ...(this.isPush ? { push_bound: this.#isHeard() } : {}),
      cluster: { leader: this.deps.replica.server.place },
    };
  }

  /** The copy has something new, or the receiver may take more. */
  wake(): void {
    if (this.#isOver || this.isMute || !this.deps.replica.server.works) return;
    if (this.isPush) this.#push();
    else this.#servePulls();
  }

  pull(reply: string, text: string): void {
    if (this.isMute) return;
    this.#usedMs = this.#nowMs();
    if (this.isPush) {
      this.#say(reply, 409, 'Consumer is push based');
      return;
    }
    const request = readPull(text);
    if (request === null) {
      this.#say(reply, 400, 'Bad Request');
      return;
    }
    const { batch = 1, no_wait = false, max_bytes = 0, expires = 0 } = request;
    if (no_wait && expires === 0 && this.#pending() === 0) {
      this.#say(reply, 404, 'No Messages');
      return;
    }
    if (this.#waiting.length >= MAX_WAITING) {
      this.#say(reply, 409, 'Exceeded MaxWaiting');
      return;
    }
    const hasBytes = max_bytes > 0;
    const counts = { left: batch, bytesLeft: max_bytes, delivered: 0 };
    const waiting: Waiting = { reply, once: no_wait, hasBytes, timers: [], ...counts };
    this.#waiting.push(waiting);
    if (expires > 0) this.#endAfter(waiting, expires / NANOS_PER_MS);
    const { idle_heartbeat = 0 } = request;
    if (idle_heartbeat > 0) this.#beatWhile(waiting, idle_heartbeat / NANOS_PER_MS);
    this.wake();
  }

  /** false: the subject does not belong to this consumer's flow control. */
  confirm(subject: string): boolean {
    if (this.#asked?.subject !== subject) return false;
    this.#window = Math.min(MAX_PENDING_BYTES, 2 * this.#window);
    this.#sent = Math.max(0, this.#sent - this.#asked.sent);
    this.#asked = null;
    this.wake();
    return true;
  }

  /** Ends all waiting requests, with a status if `why` is set. */
  end(why: string | null): void {
    this.#isOver = true;
    this.#timer?.cancel();
    for (const waiting of this.#waiting.splice(0)) {
      cancel(waiting);
      if (why !== null) this.#say(waiting.reply, 409, why);
    }
  }

  /** The stream was purged: nothing below is delivered. */
  skipTo(seq: number): void {
    this.#cursor.next = Math.max(this.#cursor.next, seq);
  }

  /** The copy was replaced by one with an earlier end. */
  rewind(last: number): void {
    this.#cursor.next = Math.min(this.#cursor.next, last + 1);
  }

  #pending(): number {
    this.deps.replica.machine.store.expire(this.#nowMs());
    return this.#cursor.pending();
  }

  #push(): void {
    const to = this.deps.config.deliver_subject ?? '';
    if (!this.#isHeard()) return;
    this.deps.replica.machine.store.expire(this.#nowMs());
    while (this.deps.config.flow_control !== true || this.#sent <= this.#window) {
      const message = this.#cursor.peek();
      if (message === null) return;
      const bytes = this.#deliver(message, to);
      this.#sent += bytes;
      this.#askForFlow(to);
    }
  }

  #askForFlow(to: string): void {
    if (this.deps.config.flow_control !== true) return;
    if (this.#asked !== null || this.#sent <= this.#window / 2) return;
    this.#asks += 1;
    const { stream, name, replica, router } = this.deps;
    const subject = `$JS.FC.${stream}.${name}.${this.#asks}`;
    this.#asked = { subject, sent: this.#sent };
    const ask = statusPacket(to, 100, 'FlowControl Request', {}, subject);
    router.send(ask, replica.server);
  }

  #servePulls(): void {
    this.deps.replica.machine.store.expire(this.#nowMs());
    for (;;) {
      const [waiting] = this.#waiting;
      if (waiting === undefined) return;
      const { router, replica, version } = this.deps;
      if (!router.isHeard(waiting.reply, replica.server)) {
        this.#drop(waiting);
        continue;
      }
      const message = this.#cursor.peek();
      if (message === null) {
        if (!waiting.once || waiting.delivered === 0) return;
        this.#drop(waiting);
        if (version === '2.9') this.#sayPending(waiting, 408, 'Request Timeout');
        else this.#say(waiting.reply, 404, 'No Messages');
        continue;
      }
      if (waiting.hasBytes && this.#sizeOf(message) > waiting.bytesLeft) {
        this.#drop(waiting);
        this.#sayPending(waiting, 409, 'Message Size Exceeds MaxBytes');
        continue;
      }
      const bytes = this.#deliver(message, waiting.reply);
      if (waiting.hasBytes) waiting.bytesLeft -= bytes;
      waiting.left -= 1;
      waiting.delivered += 1;
      if (waiting.left === 0) this.#drop(waiting);
      else if (this.#waiting.length > 1) this.#waiting.push(...this.#waiting.splice(0, 1));
    }
  }

  #deliver(message: StoredMessage, to: string): number {
    const { replica, router, config } = this.deps;
    this.#cursor.next = message.seq + 1;
    this.#consumerSeq += 1;
    const reply = this.#ackSubject(message, this.#pending());
    const { subject, headers } = message;
    const data = config.headers_only === true ? new Uint8Array() : message.data;
    this.#beatMs = this.#nowMs();
    this.#usedMs = this.#beatMs;
    router.send({ subject, headers, data, reply }, replica.server, to);
    return sizeOf(message) + reply.length;
  }

  #ackSubject({ seq, timeMs }: StoredMessage, pending: number): string {
    const { stream, name } = this.deps;
    const time = `${Math.floor(timeMs)}000000`;
    return `$JS.ACK.${stream}.${name}.1.${seq}.${this.#consumerSeq}.${time}.${pending}`;
  }

  #sizeOf(message: StoredMessage): number {
    return sizeOf(message) + this.#ackSubject(message, this.#pending()).length;
  }

  #beat(to: string): void {
    const about: Record<string, string> = {
      'Nats-Last-Consumer': `${this.#consumerSeq}`,
      'Nats-Last-Stream': `${this.#cursor.next - 1}`,
    };
    if (this.#asked !== null) about['Nats-Consumer-Stalled'] = this.#asked.subject;
    const { router, replica } = this.deps;
    router.send(statusPacket(to, 100, 'Idle Heartbeat', about), replica.server);
  }

  #endAfter(waiting: Waiting, delayMs: number): void {
    const { clock } = this.deps.replica.server.network;
    const timer = clock.after(delayMs, () => {
      if (!this.#waiting.includes(waiting)) return;
      this.#drop(waiting);
      if (!this.isMute) this.#sayPending(waiting, 408, 'Request Timeout');
    });
    waiting.timers.push(timer);
  }

  #beatWhile(waiting: Waiting, everyMs: number): void {
    const { clock } = this.deps.replica.server.network;
    const timer = clock.after(everyMs, () => {
      if (!this.#waiting.includes(waiting)) return;
      if (!this.isMute) this.#beat(waiting.reply);
      this.#beatWhile(waiting, everyMs);
    });
    waiting.timers.push(timer);
  }

  #drop(waiting: Waiting): void {
    cancel(waiting);
    this.#waiting = this.#waiting.filter((one) => one !== waiting);
  }

  #say(reply: string, code: number, description: string): void {
    const { router, replica } = this.deps;
    router.send(statusPacket(reply, code, description), replica.server);
  }

  #sayPending({ reply, left, bytesLeft }: Waiting, code: number, description: string): void {
    const about = { 'Nats-Pending-Messages': `${left}`, 'Nats-Pending-Bytes': `${bytesLeft}` };
    const { router, replica } = this.deps;
    router.send(statusPacket(reply, code, description, about), replica.server);
  }

  #isHeard(): boolean {
    const { config, router, replica } = this.deps;
    return router.isHeard(config.deliver_subject ?? '', replica.server);
  }

  #idleMs(): number {
    const { inactive_threshold = 0 } = this.deps.config;
    return inactive_threshold === 0 ? IDLE_MS : inactive_threshold / NANOS_PER_MS;
  }

  #heartbeatMs(): number {
    return (this.deps.config.idle_heartbeat ?? 0) / NANOS_PER_MS;
  }

  /** Beats, and ends itself when it is not used any more. */
  #schedule(): void {
    const beatMs = this.isPush ? this.#heartbeatMs() : 0;
    const nowMs = this.#nowMs();
    const nextMs = beatMs > 0 ? this.#beatMs + beatMs : this.#usedMs + this.#idleMs();
    const { server } = this.deps.replica;
    this.#timer = server.network.clock.after(Math.max(1, nextMs - nowMs), () => this.#tick());
  }

  #tick(): void {
    const nowMs = this.#nowMs();
    const isUsed = this.isPush ? this.#isHeard() : this.#waiting.length > 0;
    if (isUsed) this.#usedMs = nowMs;
    if (this.deps.replica.server.works) {
      if (nowMs - this.#usedMs >= this.#idleMs()) {
        this.end(null);
        this.deps.expired();
        return;
      }
      const beatMs = this.#heartbeatMs();
      if (this.isPush && isUsed && beatMs > 0 && nowMs - this.#beatMs >= beatMs) {
        if (!this.isMute) this.#beat(this.deps.config.deliver_subject ?? '');
        this.#beatMs = nowMs;
        this.wake();
      }
    }
    if (nowMs - this.#beatMs >= this.#heartbeatMs()) this.#beatMs = nowMs;
    this.#schedule();
  }

  #nowMs(): number {
    return this.deps.replica.server.network.clock.nowMs();
  }
}

function cancel({ timers }: Waiting): void {
  for (const timer of timers) timer.cancel();
}

/** Without the subject that it is delivered to. */
function sizeOf(message: StoredMessage): number {
  const packet: Packet = { ...message, reply: '' };
  return message.subject.length + headerBytes(packet) + message.data.length;
}

function readPull(text: string): PullRequest | null {
  if (text === '') return {};
  const batch = Number(text);
  if (Number.isInteger(batch)) return { batch };
  try {
    // trust: what a client sends; missing fields have defaults
    return JSON.parse(text) as PullRequest;
  } catch {
    return null;
  }
}
