/**
 * Subscribing and unsubscribing. The frame that names a request id again ends the earlier
 * subscription of that id, even if the frame is refused: an `Error` under a request id always means
 * that nothing is subscribed under it.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { hasReached } from '../../engine/runtime/position.ts';
import { Slices } from '../../engine/runtime/slices.ts';
import type { RequestId } from '../gateway/frame.ts';
import type { Observer } from '../gateway/observer.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import type { NodeView } from '../gateway/port.ts';
import type { PositionWaiters, Waiting } from '../gateway/positionWaiters.ts';
import { askSince, type StreamHandle, type Topic } from '../topics/port.ts';
import type { SubscribeParams } from './clientFrame.ts';
import type { Connection } from './connection.ts';
import type { Delivery, Progress } from './delivery.ts';
import { PendingStarts } from './pendingStarts.ts';
import { StreamCounts } from './streamCounts.ts';
import type { Subscription } from './subscription.ts';

interface SubscriptionsDeps {
  readonly topics: readonly Topic[];
  readonly nodeView: NodeView;
  readonly positionWaiters: PositionWaiters;
  readonly delivery: Delivery;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly options: GatewayOptions;
  readonly limits: ConstructorParameters<typeof PendingStarts>[1];
}

export class Subscriptions {
  /** Number of changes of epoch so far. */
  generation = 0;
  /** Called with a socket that does not read its frames. */
  onBehind: (connection: Connection) => void = () => {};
  readonly #parts: SubscriptionsDeps;
  readonly #topics: ReadonlyMap<string, Topic>;
  readonly #pendingStarts: PendingStarts;
  readonly #streams: StreamCounts;

  constructor(parts: SubscriptionsDeps) {
    this.#parts = parts;
    this.#topics = new Map(parts.topics.map((topic) => [topic.name, topic]));
    this.#pendingStarts = new PendingStarts(parts.clock, parts.limits);
    this.#streams = new StreamCounts(parts.options);
  }

  subscribe(connection: Connection, params: SubscribeParams): void {
    const { requestId } = params;
    const { options, limits } = this.#parts;
    const { caller, subscriptions, requested } = connection;
    this.#remove(connection, requestId);
    const isFull = subscriptions.size + requested.size >= options.maxSubscriptions;
    const refused = params.refused ?? (isFull ? tooMany(options) : null);
    const wait = refused ?? this.#request(connection, params);
    if (wait instanceof Failure) {
      limits.charge('read', caller, 1);
      this.#refuse(connection, requestId, wait);
    } else if (wait !== null) requested.set(keyOf(requestId), wait);
  }

  /**
   * In its turn, its data is checked, its source opened and its first frames sent: at once (null),
   * or later. A Failure: too many wait.
   */
  #request(connection: Connection, params: SubscribeParams): Waiting | null | Failure {
    const { requestId } = params;
    let accepted: Subscription | Failure | null = null;
    const prepare = (isOver: () => boolean) => {
      accepted ??= this.#accept(connection, params);
      return accepted instanceof Failure || this.prepare(accepted, isOver);
    };
    const run = () => {
      connection.requested.delete(keyOf(requestId));
      const before = connection.sentBytes;
      try {
        accepted ??= this.#accept(connection, params);
        // Other sockets of the caller may have started theirs since it was accepted.
        const started =
          accepted instanceof Failure
            ? accepted
            : (this.#streams.refusal(connection.caller, accepted.counted) ?? accepted);
        if (started instanceof Failure) this.#refuse(connection, requestId, started);
        else this.#begin(connection, started);
      } catch (error) {
        this.#fault(connection, requestId, error);
      }
      return connection.sentBytes - before;
    };
    const { caller } = connection;
    const isPaid = connection.prepaidStarts > 0;
    if (isPaid) connection.prepaidStarts -= 1;
    return this.#pendingStarts.runSoon({ caller, isPaid, prepare, run });
  }

  /** The fault of a request by itself, before any source is opened; null: nothing. */
  refusal(params: SubscribeParams): Failure | null {
    const accepted = this.#check(params);
    return accepted instanceof Failure ? accepted : null;
  }

  unsubscribe(connection: Connection, requestId: RequestId): void {
    const ended = this.#remove(connection, requestId);
    if (!connection.acks && !ended?.params.wantsAck) return;
    const facts = this.#parts.delivery.facts();
    const data = { recovered: false, seq: facts.seq };
    connection.send(requestId, 'Unsubscribed', data, facts);
  }

  /** After its socket has closed. */
  endAll(connection: Connection): void {
    const { clock, observer } = this.#parts;
    for (const wait of connection.requested.values()) wait.cancel();
    connection.requested.clear();
    const step = (isOver: () => boolean) => {
      for (const { requestId } of connection.subscriptions.values()) {
        this.#remove(connection, requestId);
        if (isOver()) break;
      }
      return connection.subscriptions.size === 0;
    };
    Slices.of(clock).begin(`closed sockets of ${connection.caller.key}`, step, (error) =>
      observer.handlerFailed('end of subscriptions', error),
    );
  }

  /**
   * Starts a subscription that was paid for at once, or when its turn comes. false: its socket has
   * no room, and it starts when that reads again.
   */
  start(connection: Connection, subscription: Subscription): boolean {
    const { caller } = connection;
    let [hasRoom, isLater] = [true, false];
    subscription.state = { is: 'unstarted' };
    const run = () => {
      subscription.state = { is: 'unstarted' };
      if (isLater && connection.behindSinceMs !== null) return 0;
      const before = connection.sentBytes;
      hasRoom = this.#startNow(connection, subscription);
      return connection.sentBytes - before;
    };
    const prepare = (isOver: () => boolean) => this.prepare(subscription, isOver);
    const wait = this.#pendingStarts.runSoon({ caller, isPaid: true, prepare, run });
    isLater = true;
    if (wait instanceof Failure) this.guarded(connection, subscription, () => wait);
    else if (wait !== null) subscription.state = { is: 'waiting', wait };
    return hasRoom;
  }

  /** Joins the stream and brings the client up to date; the stream's frames follow. */
  #startNow(connection: Connection, subscription: Subscription): boolean {
    let hasRoom = true;
    this.guarded(connection, subscription, () => {
      const outdated = this.reopen(subscription);
      if (outdated !== null) return outdated;
      const handle = this.openHandle(connection, subscription);
      const progress = this.#firstFrames(connection, subscription, handle);
      if (progress === null || progress instanceof Failure) handle.release();
      if (progress instanceof Failure) return progress;
      if (progress === null) {
        hasRoom = false;
        subscription.state = { is: 'unstarted' };
        this.onBehind(connection);
        return null;
      }
      this.setLiveOrHeld(connection, subscription, handle, progress);
      return null;
    });
    return hasRoom;
  }

  /** Joins the stream; when the stream ends, so does the subscription. */
  openHandle(connection: Connection, subscription: Subscription): StreamHandle {
    const { delivery } = this.#parts;
    return delivery.openHandle(connection, subscription, (failure) => {
      this.guarded(connection, subscription, () => failure);
    });
  }

  /** Live when everything went out; held, with its socket behind, when something was dropped. */
  setLiveOrHeld(
    connection: Connection,
    subscription: Subscription,
    handle: StreamHandle,
    progress: Progress,
  ): void {
    if (progress.whole) {
      if (progress.from !== null) handle.standsAt(progress.from.prev);
      handle.resume();
      connection.listen(handle.channel);
      subscription.state = { is: 'live', handle };
      return;
    }
    handle.pause();
    subscription.state = { is: 'held', handle, from: progress.from };
    this.onBehind(connection);
  }

  /** Runs `run`; a failure is sent to the client and ends the subscription. */
  guarded(connection: Connection, { requestId }: Subscription, run: () => Failure | null): void {
    try {
      const failure = run();
      if (failure === null) return;
      this.#remove(connection, requestId);
      this.#refuse(connection, requestId, failure);
    } catch (error) {
      this.#remove(connection, requestId);
      this.#fault(connection, requestId, error);
    }
  }

  /** Does some of what its source would take long for. True: it can answer, or fails. */
  prepare(subscription: Subscription, isOver: () => boolean): boolean {
    const isCurrent = this.reopen(subscription) === null;
    return !isCurrent || (subscription.source.prepare?.(isOver) ?? true);
  }

  /** After a change of epoch the same data means another object. */
  reopen(subscription: Subscription): Failure | null {
    if (subscription.generation === this.generation) return null;
    const source = subscription.open();
    if (source instanceof Failure) return source;
    subscription.source = source;
    subscription.generation = this.generation;
    return null;
  }

  #accept(connection: Connection, params: SubscribeParams): Subscription | Failure {
    const { nodeView } = this.#parts;
    const checked = this.#check(params);
    if (checked instanceof Failure) return checked;
    const { topic, open } = checked;
    if (!topic.periodic && !nodeView.synced()) {
      return new Failure('NOT_READY', 'this node is still syncing; try again');
    }
    const source = open();
    if (source instanceof Failure) return source;
    const cadenceMs = Math.max(topic.cadenceMs, params.maxHz === null ? 0 : 1000 / params.maxHz);
    const counted = StreamCounts.of(source, cadenceMs);
    const full = this.#streams.refusal(connection.caller, counted);
    if (full !== null) return full;
    return {
      requestId: params.requestId,
      topic,
      open,
      cadenceMs,
      params,
      source,
      counted,
      isSinceGone: false,
      state: { is: 'unstarted' },
      pendingResync: null,
      generation: this.generation,
    };
  }

  #check(params: SubscribeParams): Pick<Subscription, 'topic' | 'open'> | Failure {
    if (params.refused !== null) return params.refused;
    const topic = typeof params.topic === 'string' ? this.#topics.get(params.topic) : undefined;
    if (topic === undefined) {
      const names = [...this.#topics.keys()].join(', ');
      return new Failure('TOPIC_NOT_FOUND', `topic must be one of ${names}`);
    }
    const open = topic.accept(params.data ?? {});
    return open instanceof Failure ? open : { topic, open };
  }

  #begin(connection: Connection, subscription: Subscription): void {
    const { positionWaiters, nodeView, options } = this.#parts;
    const { since } = subscription.params;
    connection.subscriptions.set(keyOf(subscription.requestId), subscription);
    this.#streams.add(connection.caller, subscription.counted);
    if (since !== null && !subscription.topic.periodic && !hasReached(nodeView.applied(), since)) {
      const owner = { of: connection, caller: connection.caller };
      const wait = positionWaiters.wait(owner, since, (outcome) => {
        subscription.isSinceGone = outcome === 'gone';
        if (outcome === 'late') this.guarded(connection, subscription, notThere);
        else if (connection.behindSinceMs === null) this.start(connection, subscription);
        else subscription.state = { is: 'unstarted' };
      });
      // Too many waiters: the wait is refused at once, and the subscription has ended already.
      subscription.state = { is: 'waiting', wait };
      return;
    }
    if (connection.bufferedBytes > options.behindBytes) this.onBehind(connection);
    // One whose socket does not read is started when that reads again.
    if (connection.behindSinceMs === null) this.#startNow(connection, subscription);
  }

  /** null: its socket had no room for the acknowledgement. */
  #firstFrames(
    connection: Connection,
    subscription: Subscription,
    handle: StreamHandle,
  ): Progress | Failure | null {
    const { delivery, nodeView } = this.#parts;
    const { topic, source, params } = subscription;
    const { epoch, seq } = nodeView.applied();
    const acknowledge = (recovered: boolean, at: number) =>
      delivery.acknowledge(connection, subscription, { recovered, seq: at });
    const mayResume = !topic.periodic && !subscription.isSinceGone;
    const resumes = mayResume && params.since !== null && params.since.epoch === epoch;
    if (source.beginsWhole === true) {
      const payload = handle.snapshot();
      if (payload instanceof Failure) return payload;
      if (!acknowledge(resumes, seq)) return null;
      return delivery.snapshot(connection, subscription, handle);
    }
    if (mayResume && params.since !== null && params.since.epoch === epoch) {
      const changes = askSince(source, params.since.seq, seq);
      if (changes instanceof Failure) return changes;
      if (changes !== null && changes.completeTo >= seq) {
        const since = params.since.seq;
        if (!acknowledge(true, since)) return null;
        const from = { ...handle.traffic(), prev: since, complete: since };
        return delivery.parts(connection, subscription, changes.parts, from);
      }
    }
    if (!params.snapshot && params.since === null) {
      if (!acknowledge(false, seq)) return null;
      return { whole: true, from: { ...handle.traffic(), prev: seq, complete: seq } };
    }
    const payload = handle.snapshot();
    if (payload instanceof Failure) return payload;
    if (!acknowledge(false, seq)) return null;
    return delivery.snapshot(connection, subscription, handle);
  }

  #remove(connection: Connection, requestId: RequestId): Subscription | undefined {
    const key = keyOf(requestId);
    connection.requested.get(key)?.cancel();
    connection.requested.delete(key);
    const subscription = connection.subscriptions.get(key);
    if (subscription === undefined) return undefined;
    connection.subscriptions.delete(key);
    this.#streams.remove(connection.caller, subscription.counted);
    const { state } = subscription;
    if (state.is === 'waiting') state.wait.cancel();
    if (state.is === 'live' || state.is === 'held') {
      connection.ignore(state.handle.channel);
      state.handle.release();
    }
    subscription.state = { is: 'unstarted' };
    return subscription;
  }

  #refuse(connection: Connection, requestId: RequestId, failure: Failure): void {
    connection.refuse(requestId, failure, this.#parts.delivery.facts());
  }

  #fault(connection: Connection, requestId: RequestId, error: unknown): void {
    this.#parts.observer.handlerFailed('subscribe', error);
    this.#refuse(
      connection,
      requestId,
      new Failure('SERVER_ERROR', 'the server failed; try again'),
    );
  }
}

function tooMany({ maxSubscriptions }: GatewayOptions): Failure {
  const most = `a socket may hold ${maxSubscriptions} subscriptions`;
  return new Failure('LIMIT_EXCEEDED', `${most}: unsubscribe from some, or open another socket`);
}

function notThere(): Failure {
  return new Failure('NOT_READY', 'this node has not reached the position in `since` yet');
}

/** 1 and "1" are two request ids. */
function keyOf(requestId: RequestId): string {
  return JSON.stringify(requestId);
}
