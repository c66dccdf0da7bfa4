/**
 * A WebSocket client of Protocol v2 with strict subscriptions (see subscription.ts), in JSON or
 * MessagePack. A loss makes it subscribe again with `since`, as the contract tells it to.
 */
import assert from 'node:assert/strict';
import { type HistoryParams, type Position, readHistory } from './chart.ts';
import type { Scope } from './server.ts';
import { type Frame, recordOf, StrictSubscription, type SubscribeParams } from './subscription.ts';
import { type Encoding, TopicSocket } from './topicSocket.ts';
import { until } from './until.ts';

const RETRY_MS = 50;
const TOPICS_PER_FRAME = 100;

export class StrictClient extends TopicSocket {
  readonly subscriptions = new Map<string, StrictSubscription>();
  shutdown: unknown = null;
  /** Frames that answer no subscription: connect, pings, errors without a request. */
  readonly others: Frame[] = [];
  #next = 0;

  static async connect(scope: Scope, port: number, encoding: Encoding = 'json') {
    const client = new StrictClient(port, encoding);
    scope.after(() => client.terminate());
    await client.opened();
    return client;
  }

  /** A new socket, perhaps to another server; every subscription continues from its position. */
  async reconnect(port: number = this.port): Promise<void> {
    // A ping on the new socket confirms nothing about subscriptions that are not made yet.
    for (const subscription of this.subscriptions.values()) subscription.asking = true;
    await this.connectAgain(port);
    this.#askAll([...this.subscriptions.values()]);
  }

  /** A new subscription: with a snapshot first. */
  subscribe(params: SubscribeParams): StrictSubscription {
    const subscription = this.#add(params);
    this.#ask(subscription);
    return subscription;
  }

  /** As `subscribe`, many to a frame: a client may send 50 frames a second. */
  subscribeAll(all: readonly SubscribeParams[]): StrictSubscription[] {
    const subscriptions = all.map((params) => this.#add(params));
    this.#askAll(subscriptions);
    return subscriptions;
  }

  /** Asks for what changed after `since`, of which the client knows nothing else. */
  subscribeSince(params: SubscribeParams, since: Position): StrictSubscription {
    const subscription = this.#add(params);
    subscription.own = since;
    this.#ask(subscription);
    return subscription;
  }

  /** Loads the whole history over HTTP, then subscribes from its position. */
  async chart(params: SubscribeParams): Promise<StrictSubscription> {
    const subscription = this.#add(params);
    await this.reload(subscription);
    return subscription;
  }

  /** Loads the state again, as a client does whose state is gone. */
  async reload(subscription: StrictSubscription): Promise<void> {
    subscription.asking = true;
    const { maxHz: _, ...params } = subscription.params;
    const history = await readHistory(`http://127.0.0.1:${this.port}`, params as HistoryParams);
    if (history !== null) subscription.load(history.bars, history.position);
    else subscription.own = null;
    this.#ask(subscription);
  }

  unsubscribe(subscription: StrictSubscription): void {
    this.subscriptions.delete(subscription.requestId);
    this.send({ messageType: 'unsubscribe', requestId: subscription.requestId });
  }

  /** Every subscription is complete up to `seq`: by its own frame or by a ping. */
  async reached(position: Position, limitMs = 60_000): Promise<void> {
    this.send({ messageType: 'ping', requestId: 'reached' });
    const behind = () =>
      [...this.subscriptions.values()].filter(
        ({ own, asking }) => asking || own?.epoch !== position.epoch || own.seq < position.seq,
      );
    const what = () => {
      const names = behind().map(({ requestId, own }) => `${requestId}@${own?.epoch}:${own?.seq}`);
      return `complete up to ${position.epoch}:${position.seq}; behind: ${names.slice(0, 5)}`;
    };
    await until(what, () => this.faults.length > 0 || behind().length === 0, limitMs);
    this.check();
  }

  #add(params: SubscribeParams): StrictSubscription {
    const requestId = `r${this.#next++}`;
    const subscription = new StrictSubscription(requestId, params);
    this.subscriptions.set(requestId, subscription);
    return subscription;
  }

  #ask(subscription: StrictSubscription): void {
    this.send({ messageType: 'subscribe', ...subscribeFrameOf(subscription) });
  }

  #askAll(subscriptions: readonly StrictSubscription[]): void {
    for (let at = 0; at < subscriptions.length; at += TOPICS_PER_FRAME) {
      const topics = subscriptions.slice(at, at + TOPICS_PER_FRAME).map(subscribeFrameOf);
      this.send({ messageType: 'subscribe', topics });
    }
  }

  /** The server was not there yet and said so. */
  #askLater(subscription: StrictSubscription): void {
    const isConnected = this.whileConnected();
    subscription.retries += 1;
    setTimeout(() => {
      const isWanted = this.subscriptions.get(subscription.requestId) === subscription;
      if (isWanted && isConnected()) this.#ask(subscription);
    }, RETRY_MS).unref();
  }

  protected override hear(frame: Frame): void {
    const subscription = this.subscriptions.get(String(frame.requestId));
    if (frame.event === 'Ping') this.#ping(frame);
    else if (frame.event === 'Shutdown') this.shutdown = recordOf(frame.data);
    else if (subscription === undefined) this.others.push(frame);
    else if (isRetryable(frame)) this.#askLater(subscription);
    else if (subscription.hear(frame)) this.#ask(subscription);
  }

  #ping(frame: Frame): void {
    const { seq } = recordOf(frame.data);
    assert(typeof seq === 'number');
    for (const subscription of this.subscriptions.values()) {
      subscription.idleUpTo({ epoch: frame.epoch, seq });
    }
    this.send({ messageType: 'pong', requestId: null });
  }
}

function isRetryable({ event, data }: Frame): boolean {
  return event === 'Error' && recordOf(data).retry === true;
}

/** The subscribe frame that continues `subscription` from its position. */
function subscribeFrameOf(subscription: StrictSubscription): object {
  const { requestId, own, params } = subscription;
  const { base, quote, interval, fill, price, maxHz } = params;
  subscription.asking = true;
  const data = {
    pair: { base, quote },
    interval,
    ...(fill === undefined ? {} : { fill }),
    ...(price === undefined ? {} : { price }),
  };
  const since = own === null ? {} : { since: own };
  const pace = maxHz === undefined ? {} : { maxHz };
  return { requestId, topic: 'LastBar', data, ...since, ...pace };
}
