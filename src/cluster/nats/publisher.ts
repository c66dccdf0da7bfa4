/**
 * Publishes to a stream. Never rejects: a missing acknowledgement is an outcome (`lost`), at once
 * when the connection is lost. NATS may or may not store such a message, now or a little later.
 *
 * Never: `Nats-Expected-Last-Msg-Id`. A server compares it with a value in its memory. A copy that
 * caught up from another server lacks this value and silently refuses every later message
 * (docs/decisions/0065-appends-one-at-a-time.md).
 */
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import { createInbox, headers, type Msg, type MsgHdrs, type NatsLink } from './connection.ts';
import type { Messages } from './messages.ts';

export type PublishResult =
  | { readonly result: 'stored'; readonly seq: number; readonly duplicate: boolean }
  | { readonly result: 'refused'; readonly code: number; readonly description: string }
  | { readonly result: 'lost'; readonly why: string };

export const WRONG_LAST_SEQUENCE = 10071;

/** The required end of the stream, read from its storage; otherwise it refuses the message. */
export interface Guards {
  readonly lastSequence?: number | undefined;
  /** Seq of the last message with the same subject; 0 for none. */
  readonly lastOfSubject?: number | undefined;
}

interface Waiting {
  readonly timer: Timer;
  resolve(result: PublishResult): void;
}

export class Publisher {
  readonly #link: NatsLink;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #inbox = createInbox();
  readonly #subscription;
  readonly #stopListening: () => void;
  readonly #waiting = new Map<string, Waiting>();
  #count = 0;

  constructor(link: NatsLink, clock: Clock, timeoutMs: number) {
    this.#link = link;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#subscription = link.connection.subscribe(`${this.#inbox}.*`, {
      callback: (_error, message) =>
        this.#settle(message.subject, resultOf(message, link.messages)),
    });
    this.#stopListening = link.onStatus(({ status }) => {
      if (status !== 'reconnected') this.#loseAll('the connection to NATS was lost');
    });
  }

  publish(subject: string, text: string, id: string, guards: Guards): Promise<PublishResult> {
    if (!this.#link.connected) return lost('there is no connection to NATS');
    const token = `${this.#inbox}.${this.#count}`;
    this.#count += 1;
    try {
      const about = headersOf(id, guards);
      this.#link.connection.publish(subject, text, { reply: token, headers: about });
    } catch (error) {
      return lost(String(error));
    }
    return new Promise((resolve) => {
      const why = `no acknowledgement within ${this.#timeoutMs} ms`;
      const expire = () => this.#settle(token, { result: 'lost', why });
      this.#waiting.set(token, { timer: this.#clock.after(this.#timeoutMs, expire), resolve });
    });
  }

  close(): void {
    this.#stopListening();
    this.#subscription.unsubscribe();
    this.#loseAll('the log was closed');
  }

  #settle(token: string, result: PublishResult): void {
    const waiting = this.#waiting.get(token);
    this.#waiting.delete(token);
    waiting?.timer.cancel();
    waiting?.resolve(result);
  }

  #loseAll(why: string): void {
    for (const token of [...this.#waiting.keys()]) this.#settle(token, { result: 'lost', why });
  }
}

function lost(why: string): Promise<PublishResult> {
  return Promise.resolve({ result: 'lost', why });
}

function headersOf(id: string, guards: Guards): MsgHdrs {
  const { lastSequence, lastOfSubject } = guards;
  const all = headers();
  all.set('Nats-Msg-Id', id);
  if (lastSequence !== undefined) all.set('Nats-Expected-Last-Sequence', `${lastSequence}`);
  if (lastOfSubject !== undefined) {
    all.set('Nats-Expected-Last-Subject-Sequence', `${lastOfSubject}`);
  }
  return all;
}

const UNAVAILABLE = 503;

function resultOf(message: Msg, messages: Messages): PublishResult {
  if (message.data.length === 0)
    return { result: 'lost', why: 'NATS has no such stream right now' };
  const said = messages.read('acknowledgement', message.data);
  if (said === null) return { result: 'lost', why: 'an acknowledgement that cannot be read' };
  const { seq, duplicate, error } = said;
  if (error !== undefined) {
    const { code, err_code = code, description = '' } = error;
    if (code === UNAVAILABLE) return { result: 'lost', why: description };
    return { result: 'refused', code: err_code, description };
  }
  return seq === undefined
    ? { result: 'lost', why: 'an acknowledgement that names no sequence' }
    : { result: 'stored', seq, duplicate: duplicate === true };
}
