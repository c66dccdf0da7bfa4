/** Requests of a client that wait for one answer, over one shared inbox. */
import {
  createInbox,
  InvalidArgumentError,
  type Msg,
  NoRespondersError,
  RequestError,
  TimeoutError,
} from '@nats-io/transport-node';
import type { Clock, Timer } from '../../../src/engine/runtime/clock.ts';

const NO_RESPONDERS = 503;

interface Waiting {
  readonly subject: string;
  readonly timer: Timer;
  resolve(message: Msg): void;
  reject(why: Error): void;
}

export class Requests {
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #waiting = new Map<string, Waiting>();
  #count = 0;

  constructor(clock: Clock, inboxPrefix: string | undefined) {
    this.#clock = clock;
    this.#prefix = createInbox(inboxPrefix);
  }

  /** Subject of the subscription that takes the answers. */
  get subject(): string {
    return `${this.#prefix}.*`;
  }

  /** `send` publishes the request with the reply subject that it is given. */
  ask(subject: string, timeoutMs: number, send: (reply: string) => void): Promise<Msg> {
    if (timeoutMs < 1) {
      return Promise.reject(InvalidArgumentError.format('timeout', 'must be greater than 0'));
    }
    this.#count += 1;
    const reply = `${this.#prefix}.${this.#count}`;
    return new Promise<Msg>((resolve, reject) => {
      const timer = this.#clock.after(timeoutMs, () => {
        this.#waiting.delete(reply);
        reject(new TimeoutError());
      });
      this.#waiting.set(reply, { subject, timer, resolve, reject });
      try {
        send(reply);
      } catch (error) {
        this.#end(reply)?.reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  take(message: Msg): void {
    const waiting = this.#end(message.subject);
    if (waiting === undefined) return;
    if (message.data.length > 0 || message.headers?.code !== NO_RESPONDERS) {
      waiting.resolve(message);
      return;
    }
    const cause = new NoRespondersError(waiting.subject);
    waiting.reject(new RequestError(cause.message, { cause }));
  }

  close(): void {
    for (const reply of [...this.#waiting.keys()]) {
      const cause = new RequestError('connection closed');
      this.#end(reply)?.reject(new RequestError(cause.message, { cause }));
    }
  }

  #end(reply: string): Waiting | undefined {
    const waiting = this.#waiting.get(reply);
    this.#waiting.delete(reply);
    waiting?.timer.cancel();
    return waiting;
  }
}
