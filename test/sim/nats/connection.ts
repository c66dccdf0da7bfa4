/**
 * A client of the model, with the interface and the rhythm of the client of @nats-io: pings, stale
 * connections, reconnects, buffered and lost messages. The libraries above it (jetstream, kv, obj)
 * run unchanged.
 */
import {
  ClosedConnectionError,
  ConnectionError,
  type ConnectionOptions,
  DrainingConnectionError,
  Features,
  InvalidArgumentError,
  InvalidOperationError,
  InvalidSubjectError,
  type Msg,
  type NatsConnection,
  type Payload,
  type PublishOptions,
  parseSemVer,
  QueuedIteratorImpl,
  RequestError,
  type RequestOptions,
  type ServerInfo,
  type Status,
  type SubscriptionOptions,
} from '@nats-io/transport-node';
import type { Clock, Timer } from '../../../src/engine/runtime/clock.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import { Dialer } from './dialer.ts';
import { DeliveredMessage, headerBytes, packetOf } from './packet.ts';
import { Requests } from './requests.ts';
import type { ClientEnd, Dialing, ServerSession } from './session.ts';
import { ModelSubscription, type SubscriptionHome } from './subscription.ts';

interface CloseListener {
  connectionClosedCallback(why?: undefined | Error): void;
}

const DEFAULT_PING_MS = 120_000;
const DEFAULT_PINGS = 2;
const DEFAULT_REQUEST_MS = 1_000;
const WHITE_SPACE = /[ \n\r\t]/;

export class ModelConnection implements NatsConnection, SubscriptionHome {
  readonly options: ConnectionOptions;
  readonly clock: Clock;
  readonly #dialer: Dialer;
  readonly #requests: Requests;
  readonly #subscriptions = new Map<number, ModelSubscription>();
  readonly #listeners = new Set<QueuedIteratorImpl<Status>>();
  readonly #closing = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<undefined | Error>();
  #features: Features = new Features({ major: 0, minor: 0, micro: 0 });
  #session: ServerSession | null = null;
  /** The end of the present attempt or connection: an earlier one is not heard. */
  #end: ClientEnd | null = null;
  #info: ServerInfo | undefined;
  /** Published while there was no connection, since the last attempt to connect. */
  #unsent: ((session: ServerSession) => void)[] = [];
  #pongs: PromiseWithResolvers<void>[] = [];
  #unanswered = 0;
  #pingTimer: Timer | null = null;
  #sids = 0;
  #hasMux = false;
  #isDraining = false;
  #takesNoMore = false;
  #isClosing = false;
  #isClosed = false;
  readonly #stats = { inBytes: 0, outBytes: 0, inMsgs: 0, outMsgs: 0 };

  private constructor(dialing: Dialing, options: ConnectionOptions, clock: Clock, rng: Rng) {
    this.options = options;
    this.clock = clock;
    const closed = this.#closing.promise;
    this.#dialer = new Dialer({ dialing, options, clock, rng, closed });
    this.#requests = new Requests(clock, options.inboxPrefix);
  }

  static async open(
    dialing: Dialing,
    options: ConnectionOptions,
    clock: Clock,
    rng: Rng,
  ): Promise<ModelConnection> {
    const connection = new ModelConnection(dialing, options, clock, rng);
    connection.#begin(await connection.#dialer.first(() => connection.#nextEnd()));
    return connection;
  }

  get info(): ServerInfo {
    // trust: undefined once it is closed, as with the client
    return (this.#isClosed ? undefined : this.#info) as ServerInfo;
  }

  get features(): Features {
    return this.#features;
  }

  getServerVersion(): ReturnType<typeof parseSemVer> | undefined {
    return this.#info === undefined ? undefined : parseSemVer(this.#info.version);
  }

  closed(): Promise<undefined | Error> {
    return this.#closed.promise;
  }

  isClosed(): boolean {
    return this.#isClosed;
  }

  isDraining(): boolean {
    return this.#isDraining;
  }

  getServer(): string {
    return this.#info?.server_name ?? '';
  }

  getServers(): [] {
    return [];
  }

  setServers(): void {
    throw new InvalidOperationError('the model has the servers it was made with');
  }

  stats() {
    return { ...this.#stats };
  }

  publish(subject: string, payload?: Payload, options: PublishOptions = {}): void {
    this.#check(subject, false, true);
    if (options.reply) this.#check(options.reply, false, true);
    const packet = packetOf(subject, payload, options);
    const bytes = packet.data.length + headerBytes(packet);
    if (this.#info !== undefined && bytes > this.#info.max_payload) {
      throw InvalidArgumentError.format('payload', 'max_payload size exceeded');
    }
    this.#stats.outBytes += bytes;
    this.#stats.outMsgs += 1;
    this.#send((session) => session.publish(packet));
  }

  publishMessage({ subject, data, reply = '', headers }: Msg): void {
    this.publish(subject, data, headers === undefined ? { reply } : { reply, headers });
  }

  respondMessage({ data, reply = '', headers }: Msg): boolean {
    if (reply === '') return false;
    this.publish(reply, data, headers === undefined ? { reply } : { reply, headers });
    return true;
  }

  subscribe(subject: string, options: SubscriptionOptions = {}): ModelSubscription {
    this.#check(subject, true, false);
    this.#sids += 1;
    const subscription = new ModelSubscription(this, this.#sids, subject, options);
    this.#subscriptions.set(subscription.sid, subscription);
    const { sid, queue, max } = subscription;
    this.#send((session) => session.subscribe(sid, subject, queue));
    if (max !== undefined) this.#send((session) => session.unsubscribe(sid, max));
    return subscription;
  }

  /**
   * An internal method of the client: ordered consumers move their subscription to another subject.
   */
  _resub(subscription: ModelSubscription, subject: string): void {
    this.#check(subject, true, false);
    const { sid, queue } = subscription;
    this.#send((session) => session.unsubscribe(sid));
    subscription.subject = subject;
    this.#send((session) => session.subscribe(sid, subject, queue));
  }

  async request(
    subject: string,
    payload?: Payload,
    { timeout = DEFAULT_REQUEST_MS, headers, noMux = false }: Partial<RequestOptions> = {},
  ): Promise<Msg> {
    this.#check(subject, true, true);
    if (noMux) throw new InvalidOperationError('the model shares one inbox');
    if (!this.#hasMux) {
      this.#hasMux = true;
      const callback = (_error: unknown, message: Msg) => this.#requests.take(message);
      this.subscribe(this.#requests.subject, { callback });
    }
    return this.#requests.ask(subject, timeout, (reply) => {
      this.publish(subject, payload, headers === undefined ? { reply } : { reply, headers });
    });
  }

  requestMany(): Promise<never> {
    return Promise.reject(new InvalidOperationError('the model has no requests to many'));
  }

  flush(): Promise<void> {
    if (this.#isClosed) return Promise.reject(new ClosedConnectionError());
    const pong = Promise.withResolvers<void>();
    this.#ping(pong);
    return pong.promise;
  }

  async drain(): Promise<void> {
    if (this.#isClosed) throw new ClosedConnectionError();
    if (this.#isDraining) throw new DrainingConnectionError();
    this.#isDraining = true;
    await Promise.allSettled([...this.#subscriptions.values()].map((one) => one.drain()));
    this.#takesNoMore = true;
    await this.flush();
    await this.close();
  }

  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#closing.resolve();
    this.#pingTimer?.cancel();
    this.#requests.close();
    for (const subscription of this.#subscriptions.values()) subscription.close();
    const listeners = [...this.#listeners];
    for (const listener of listeners) {
      listener.push({ type: 'close' });
      listener.stop();
    }
    await Promise.all(listeners.map(({ iterClosed }) => iterClosed));
    this.#isClosed = true;
    this.#end = null;
    this.#session?.close();
    this.#session = null;
    this.#closed.resolve(undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isClosed && !this.#isDraining) await this.drain();
    await this.closed();
  }

  status(): QueuedIteratorImpl<Status> {
    const listener = new QueuedIteratorImpl<Status>();
    this.#listeners.add(listener);
    void listener.iterClosed.then(() => this.#listeners.delete(listener));
    return listener;
  }

  async rtt(): Promise<number> {
    if (this.#isClosed) throw new ClosedConnectionError();
    if (this.#session === null) throw new RequestError('connection disconnected');
    const startMs = this.clock.monotonicMs();
    await this.flush();
    return this.clock.monotonicMs() - startMs;
  }

  async reconnect(): Promise<void> {
    if (this.#isClosed) throw new ClosedConnectionError();
    if (this.#session === null) return;
    this.#tell({ type: 'forceReconnect' });
    this.#giveUp();
  }

  addCloseListener(listener: CloseListener): void {
    void this.closed().then((why) => listener.connectionClosedCallback(why));
  }

  removeCloseListener(_listener: CloseListener): void {
    // A consumer that ended hears of the end once more, which changes nothing.
  }

  unsubscribe(subscription: ModelSubscription, max?: number): void {
    const { sid, received } = subscription;
    if (this.#isClosed || !this.#subscriptions.has(sid)) return;
    this.#send((session) => session.unsubscribe(sid, max));
    subscription.max = max;
    if (max === undefined || received >= max) this.#cancel(subscription);
  }

  async drainOne(subscription: ModelSubscription): Promise<void> {
    this.#send((session) => session.unsubscribe(subscription.sid));
    await this.flush().catch(() => {});
    this.#cancel(subscription);
  }

  #cancel(subscription: ModelSubscription): void {
    subscription.close();
    this.#subscriptions.delete(subscription.sid);
  }

  #check(subject: string, subscribes: boolean, publishes: boolean): void {
    if (this.#isClosed) throw new ClosedConnectionError();
    const isDraining = (subscribes && this.#isDraining) || (publishes && this.#takesNoMore);
    if (isDraining) throw new DrainingConnectionError();
    if (subject === '' || WHITE_SPACE.test(subject)) throw new InvalidSubjectError(subject);
  }

  #send(action: (session: ServerSession) => void): void {
    if (this.#session !== null) action(this.#session);
    else this.#unsent.push(action);
  }

  /** For the next attempt to connect; unsent messages are dropped. */
  #nextEnd(): ClientEnd {
    this.#unsent = [];
    for (const pong of this.#pongs.splice(0)) {
      pong.promise.catch(() => {});
      pong.reject(new RequestError('connection disconnected'));
    }
    if (this.#info !== undefined) this.#tell({ type: 'reconnecting' });
    const end: ClientEnd = {
      deliver: (sid, packet) => {
        if (this.#end !== end) return;
        const subscription = this.#subscriptions.get(sid);
        if (subscription === undefined) return;
        this.#stats.inMsgs += 1;
        this.#stats.inBytes += packet.data.length;
        subscription.received += 1;
        subscription.callback(null, new DeliveredMessage(packet, sid, this));
        const { max } = subscription;
        if (max !== undefined && subscription.received >= max) this.unsubscribe(subscription);
      },
      broken: () => {
        if (this.#end === end) void this.#lost();
      },
    };
    this.#end = end;
    return end;
  }

  #begin(session: ServerSession): void {
    this.#session = session;
    this.#info = session.info;
    this.#features.update(parseSemVer(session.info.version));
    for (const { sid, subject, queue } of this.#subscriptions.values()) {
      session.subscribe(sid, subject, queue);
    }
    for (const action of this.#unsent.splice(0)) action(session);
    this.#unanswered = 0;
    this.#schedulePing();
  }

  #schedulePing(): void {
    this.#pingTimer?.cancel();
    const everyMs = this.options.pingInterval ?? DEFAULT_PING_MS;
    this.#pingTimer = this.clock.after(everyMs, () => {
      this.#tell({ type: 'ping', pendingPings: this.#unanswered + 1 });
      if (this.#unanswered >= (this.options.maxPingOut ?? DEFAULT_PINGS)) {
        this.#tell({ type: 'staleConnection' });
        this.#giveUp();
        return;
      }
      this.#unanswered += 1;
      const pong = Promise.withResolvers<void>();
      pong.promise.then(
        () => {
          this.#unanswered = 0;
        },
        () => {},
      );
      this.#ping(pong);
      this.#schedulePing();
    });
  }

  #ping(pong: PromiseWithResolvers<void>): void {
    this.#pongs.push(pong);
    this.#send((session) => session.ping(() => this.#pongs.shift()?.resolve()));
  }

  #giveUp(): void {
    this.#session?.close();
    void this.#lost();
  }

  async #lost(): Promise<void> {
    this.#session = null;
    this.#end = null;
    this.#pingTimer?.cancel();
    if (this.#isClosing) return;
    const server = this.getServer();
    this.#tell({ type: 'disconnect', server });
    if (this.options.reconnect === false) {
      await this.close();
      return;
    }
    const session = await this.#dialer.again(() => this.#nextEnd());
    if (session === null) return;
    this.#begin(session);
    this.#tell({ type: 'reconnect', server: this.getServer() });
  }

  #tell(status: Status): void {
    for (const listener of this.#listeners) listener.push(status);
  }
}

export function refused(): ConnectionError {
  return new ConnectionError('connection refused');
}
