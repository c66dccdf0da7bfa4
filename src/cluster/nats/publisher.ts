/**
 * Publishes to a stream without waiting for the acknowledgement of the message before.
 * Never rejects: a missing acknowledgement is an outcome (`lost`), at once when the connection is
 * lost. Such a message may be stored or not, now or a little later.
 */
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import { createInbox, headers, type Msg, type MsgHdrs, type NatsLink } from './connection.ts';

export type PublishResult =
  | { readonly result: 'stored'; readonly seq: number; readonly duplicate: boolean }
  | { readonly result: 'refused'; readonly code: number; readonly description: string }
  | { readonly result: 'lost'; readonly why: string };

export const WRONG_LAST_SEQUENCE = 10071;
export const WRONG_LAST_MESSAGE = 10070;

/** What the end of the stream must be; else it refuses the message. */
export interface Guards {
  readonly lastSequence?: number | undefined;
  readonly lastMessageId?: string | undefined;
  /** Seq of the last message with the same subject; 0 for none. */
  readonly lastOfSubject?: number | undefined;
}

interface Waiting {
  readonly deadlineMs: number;
  resolve(result: PublishResult): void;
}

/** Unacknowledged messages; further ones wait in order until half of these are answered. */
const MOST_IN_FLIGHT = 2_048;

export class Publisher {
  readonly #link: NatsLink;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #inbox = createInbox();
  readonly #subscription;
  readonly #stopListening: () => void;
  /** In the order of publishing, so the oldest comes first. */
  readonly #waiting = new Map<string, Waiting>();
  #queued: (() => void)[] = [];
  #count = 0;
  #timer: Timer | null = null;

  constructor(link: NatsLink, clock: Clock, timeoutMs: number) {
    this.#link = link;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#subscription = link.connection.subscribe(`${this.#inbox}.*`, {
      callback: (_error, message) => this.#answered(message),
    });
    this.#stopListening = link.onStatus(({ status }) => {
      if (status !== 'reconnected') this.#loseAll('the connection to NATS was lost');
    });
  }

  publish(subject: string, text: string, id: string, guards: Guards): Promise<PublishResult> {
    return new Promise((resolve) => {
      const send = () => this.#send(subject, text, headersOf(id, guards), resolve);
      if (this.#queued.length > 0 || this.#waiting.size >= MOST_IN_FLIGHT) this.#queued.push(send);
      else send();
    });
  }

  close(): void {
    this.#stopListening();
    this.#subscription.unsubscribe();
    this.#loseAll('the log was closed');
  }

  #send(
    subject: string,
    text: string,
    about: MsgHdrs,
    resolve: (result: PublishResult) => void,
  ): void {
    if (!this.#link.connected) {
      resolve({ result: 'lost', why: 'there is no connection to NATS' });
      return;
    }
    const token = `${this.#inbox}.${this.#count}`;
    this.#count += 1;
    try {
      this.#link.connection.publish(subject, text, { reply: token, headers: about });
    } catch (error) {
      resolve({ result: 'lost', why: String(error) });
      return;
    }
    const deadlineMs = this.#clock.monotonicMs() + this.#timeoutMs;
    this.#waiting.set(token, { deadlineMs, resolve });
    this.#timer ??= this.#clock.after(this.#timeoutMs, () => this.#expire());
  }

  #answered(message: Msg): void {
    const waiting = this.#waiting.get(message.subject);
    if (waiting === undefined) return;
    this.#waiting.delete(message.subject);
    waiting.resolve(resultOf(message));
    this.#sendQueued();
  }

  #sendQueued(): void {
    const room = MOST_IN_FLIGHT - this.#waiting.size;
    if (this.#queued.length === 0 || room < MOST_IN_FLIGHT / 2) return;
    for (const send of this.#queued.splice(0, room)) send();
  }

  #expire(): void {
    this.#timer = null;
    const nowMs = this.#clock.monotonicMs();
    for (const [token, { deadlineMs, resolve }] of this.#waiting) {
      if (deadlineMs > nowMs) {
        this.#timer = this.#clock.after(deadlineMs - nowMs, () => this.#expire());
        return;
      }
      this.#waiting.delete(token);
      resolve({ result: 'lost', why: `no acknowledgement within ${this.#timeoutMs} ms` });
    }
    this.#sendQueued();
  }

  #loseAll(why: string): void {
    this.#timer?.cancel();
    this.#timer = null;
    const lost = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { resolve } of lost) resolve({ result: 'lost', why });
    // Without a connection each is lost at once.
    for (const send of this.#queued.splice(0)) send();
  }
}

function headersOf(id: string, guards: Guards): MsgHdrs {
  const { lastSequence, lastMessageId, lastOfSubject } = guards;
  const all = headers();
  all.set('Nats-Msg-Id', id);
  if (lastSequence !== undefined) all.set('Nats-Expected-Last-Sequence', `${lastSequence}`);
  if (lastMessageId !== undefined) all.set('Nats-Expected-Last-Msg-Id', lastMessageId);
  if (lastOfSubject !== undefined) {
    all.set('Nats-Expected-Last-Subject-Sequence', `${lastOfSubject}`);
  }
  return all;
}

interface Acknowledgement {
  readonly seq?: number;
  readonly duplicate?: boolean;
  readonly error?: {
    readonly code: number;
    readonly err_code?: number;
    readonly description: string;
  };
}

const UNAVAILABLE = 503;

function resultOf(message: Msg): PublishResult {
  if (message.data.length === 0)
    return { result: 'lost', why: 'NATS has no such stream right now' };
  // trust: the stream's acknowledgement, as its protocol says
  const { seq, duplicate, error } = message.json() as Acknowledgement;
  if (error !== undefined) {
    const { code, err_code = code, description } = error;
    if (code === UNAVAILABLE) return { result: 'lost', why: description };
    return { result: 'refused', code: err_code, description };
  }
  return seq === undefined
    ? { result: 'lost', why: 'an acknowledgement that names no sequence' }
    : { result: 'stored', seq, duplicate: duplicate === true };
}
