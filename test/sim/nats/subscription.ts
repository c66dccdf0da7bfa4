/** A subscription of a client of the model: with a callback, or read as an iterator. */
import {
  ClosedConnectionError,
  InvalidOperationError,
  type Msg,
  type MsgCallback,
  QueuedIteratorImpl,
  type Subscription,
  type SubscriptionOptions,
  TimeoutError,
} from '@nats-io/transport-node';
import type { Clock, Timer } from '../../../src/engine/runtime/clock.ts';

/** The methods of its connection that a subscription uses. */
export interface SubscriptionHome {
  readonly clock: Clock;
  isClosed(): boolean;
  unsubscribe(subscription: ModelSubscription, max?: number): void;
  /** Ends it after the messages that are on their way. */
  drainOne(subscription: ModelSubscription): Promise<void>;
}

export class ModelSubscription extends QueuedIteratorImpl<Msg> implements Subscription {
  readonly sid: number;
  subject: string;
  readonly queue: string | undefined;
  max: number | undefined;
  readonly closed: Promise<undefined | Error>;
  readonly #resolveClosed: (why?: undefined | Error) => void;
  readonly #home: SubscriptionHome;
  readonly #callback: MsgCallback<Msg> | undefined;
  #timer: Timer | null = null;
  #drained: Promise<void> | null = null;

  constructor(home: SubscriptionHome, sid: number, subject: string, options: SubscriptionOptions) {
    super();
    this.#home = home;
    this.sid = sid;
    this.subject = subject;
    this.queue = options.queue;
    this.max = options.max;
    this.#callback = options.callback;
    this.noIterator = options.callback !== undefined;
    const closed = Promise.withResolvers<undefined | Error>();
    this.closed = closed.promise;
    this.#resolveClosed = closed.resolve;
    const { timeout } = options;
    if (timeout !== undefined) this.#timer = home.clock.after(timeout, () => this.#timedOut());
    if (!this.noIterator) {
      void this.iterClosed.then((why) => {
        this.#resolveClosed(why ?? undefined);
        home.unsubscribe(this);
      });
    }
  }

  callback: MsgCallback<Msg> = (error, message) => {
    this.#timer?.cancel();
    if (this.#callback !== undefined) return this.#callback(error, message);
    if (error === null) this.push(message);
    else this.stop(error);
  };

  unsubscribe(max?: number): void {
    this.#home.unsubscribe(this, max);
  }

  drain(): Promise<void> {
    if (this.#home.isClosed()) return Promise.reject(new ClosedConnectionError());
    if (this.isClosed()) {
      return Promise.reject(new InvalidOperationError('subscription is already closed'));
    }
    this.#drained ??= this.#home.drainOne(this);
    return this.#drained;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#home.isClosed() && !this.isClosed()) await this.drain();
  }

  /** Messages that were received before are read first. */
  close(): void {
    this.#timer?.cancel();
    if (this.isClosed()) return;
    const end = () => {
      this.stop();
      this.#resolveClosed();
    };
    if (this.noIterator) end();
    else this.push(end);
  }

  isDraining(): boolean {
    return this.#drained !== null;
  }

  isClosed(): boolean {
    return this.done;
  }

  getSubject(): string {
    return this.subject;
  }

  getMax(): number | undefined {
    return this.max;
  }

  getID(): number {
    return this.sid;
  }

  #timedOut(): void {
    const error = new TimeoutError();
    this.stop(error);
    // trust: with an error the client's callback gets no message either
    this.#callback?.(error, {} as Msg);
  }
}
