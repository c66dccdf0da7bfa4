/**
 * Server-sent events: the subscriptions of a socket as the answer to one request. Frames, slow
 * readers, changes of epoch and limits work as for sockets; only what carries the frames differs.
 *
 * An EventSource tries again only after status 200, so everything but malformed input is answered
 * with it: an `Error` event names the fault, and the stream ends.
 */
import { type Clock, sleep } from '../../engine/runtime/clock.ts';
import { Failure, failureIn, invalid, invalidField } from '../../engine/runtime/errors.ts';
import type { Json } from '../../engine/runtime/json.ts';
import { formatPosition, type Position, parsePosition } from '../../engine/runtime/position.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { Slices, type Step } from '../../engine/runtime/slices.ts';
import type { Caller } from '../gateway/address.ts';
import { unknownKey } from '../gateway/apiKeys.ts';
import {
  EncodedPayload,
  type FrameMeta,
  headOf,
  joinFrame,
  type RequestId,
  tailOf,
} from '../gateway/frame.ts';
import { isRecord } from '../gateway/input.ts';
import type { Observer } from '../gateway/observer.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import type { NodeView } from '../gateway/port.ts';
import { CORS_LINES } from '../http/cors.ts';
import type { RequestContext, ResponseWriter } from '../http/responseWriter.ts';
import { readSubscribeParams, type SubscribeParams } from './clientFrame.ts';
import { Connection } from './connection.ts';
import type { Delivery } from './delivery.ts';
import { EventSink } from './eventSink.ts';
import { FrameRateGuard } from './frameRateGuard.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { SlowSockets } from './slowSockets.ts';
import { mayOpen, type SocketCounts, tooManyOf } from './socketCounts.ts';
import type { Subscriptions } from './subscriptions.ts';

interface EventStreamsDeps {
  readonly connections: Set<Connection>;
  readonly counts: SocketCounts;
  readonly subscriptions: Subscriptions;
  readonly slow: SlowSockets;
  /** Sweeps them as sockets. */
  readonly heartbeat: Heartbeat;
  readonly delivery: Delivery;
  readonly nodeView: NodeView;
  readonly responses: ResponseWriter;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly observer: Observer;
  readonly options: GatewayOptions;
}

const RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** The stream said why, or the server goes away: see `EventSink`. */
const ENDED = 1000;
const HEAD =
  '\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nX-Accel-Buffering: no';

export class EventStreams {
  /** No new streams from now on. */
  stopping = false;
  readonly #deps: EventStreamsDeps;

  constructor(deps: EventStreamsDeps) {
    this.#deps = deps;
  }

  /** `items`: the subscriptions as the client sent them; `place`: where they stand. */
  open(context: RequestContext, items: readonly unknown[], place: string): void {
    const { responses, clock } = this.#deps;
    const { exchange, caller } = context;
    const step: Step = () => {
      if (exchange.alive) this.#open(context, items, place);
      return true;
    };
    const later = Slices.of(clock).begin(`event streams of ${caller.key}`, step, (error) =>
      responses.fault(context, error),
    );
    if (later !== null && !exchange.deferred) responses.defer(context);
  }

  #open(context: RequestContext, items: readonly unknown[], place: string): void {
    const { responses, counts, options } = this.#deps;
    const since = sinceOf(context.exchange.lastEventId);
    const params = since instanceof Failure ? since : this.#read(items, place, since);
    if (params instanceof Failure) {
      responses.failure(context, params);
      return;
    }
    if (context.exchange.isHead) {
      responses.empty(context, CORS_LINES + HEAD, 200);
      return;
    }
    if (this.stopping) {
      this.refuse(context, new Failure('NOT_READY', 'this node is going away; connect again'));
      return;
    }
    if (!mayOpen(context.caller, counts, options)) {
      const failure = new Failure('LIMIT_EXCEEDED', tooManyOf(context.caller), { retry: true });
      this.refuse(context, failure);
      return;
    }
    this.#begin(context, params);
  }

  /** Status 200, an `Error` event and the end. */
  refuse(context: RequestContext, failure: Failure): void {
    const { clock, delivery } = this.#deps;
    const stream = this.#connect(context, () => {});
    const retryMs = (failure.retryAfterSeconds ?? 0) * 1000;
    stream.sink.retry(Math.min(MAX_RETRY_MS, Math.max(RETRY_MS, retryMs)));
    // In another turn: the library must not close a connection while it hands over a request.
    void sleep(clock, 0).then(() => stream.refuse(null, failure, delivery.facts()));
  }

  #begin(context: RequestContext, params: readonly SubscribeParams[]): void {
    const { connections, counts, heartbeat, subscriptions, observer } = this.#deps;
    const stream = this.#connect(context, (code) => {
      heartbeat.remove(stream);
      connections.delete(stream);
      counts.add(stream.caller.key, -1);
      subscriptions.endAll(stream);
      observer.socketClosed(code);
    });
    stream.pings = heartbeat.add(stream);
    connections.add(stream);
    counts.add(stream.caller.key, 1);
    observer.socketOpened();
    stream.sink.retry(RETRY_MS);
    for (const each of params) if (stream.isOpen) subscriptions.subscribe(stream, each);
    this.#pingLater(stream);
  }

  #connect(context: RequestContext, ended: (code: number) => void): EventStream {
    const { responses, clock, rng, options } = this.#deps;
    const { exchange, caller } = context;
    const guard = new FrameRateGuard(clock, options);
    responses.stream(context, HEAD, () => stream.sink.gone());
    const stream: EventStream = new EventStream(
      (more) => new EventSink({ res: exchange.res, ...more }),
      { caller, id: rng.token(12), guard, ended },
      this.#deps,
    );
    return stream;
  }

  /** In slices: streams that a crowd opened together are pinged together. */
  #pingLater(stream: EventStream): void {
    const { clock, options, observer } = this.#deps;
    const step: Step = () => {
      if (!stream.isOpen) return true;
      if (stream.behindSinceMs === null) this.#ping(stream);
      this.#pingLater(stream);
      return true;
    };
    clock.after(options.heartbeatMs, () => {
      Slices.of(clock).begin('pings of event streams', step, (error) =>
        observer.handlerFailed('ping', error),
      );
    });
  }

  #ping(stream: EventStream): void {
    const { nodeView, delivery } = this.#deps;
    const { slot, hash, lagMs } = nodeView.tip();
    const facts = delivery.facts();
    const seq = stream.completeTo() ?? 0;
    const data = { timestamp: facts.tsMs, seq, tip: { slot, hash, lagMs } };
    stream.ping(data, { ...facts, seq });
  }

  #read(
    items: readonly unknown[],
    place: string,
    since: Position | null,
  ): SubscribeParams[] | Failure {
    const all: SubscribeParams[] = [];
    const ids = new Set<string>();
    for (const [index, item] of items.entries()) {
      const at = `${place}.${index}`;
      if (!isRecord(item)) return invalidField(at, 'must be an object: {topic, data, …}');
      const params = readSubscribeParams({ requestId: String(index), ...item }, {}, true);
      const refused = this.#deps.subscriptions.refusal(params);
      if (refused !== null) return placed(refused, at);
      const id = JSON.stringify(params.requestId);
      if (ids.has(id)) return invalidField(`${at}.requestId`, `${id} names another one already`);
      ids.add(id);
      all.push(since === null ? params : { ...params, since });
    }
    return all;
  }
}

function sinceOf(lastEventId: string): Position | null | Failure {
  if (lastEventId === '') return null;
  const since = parsePosition(lastEventId);
  return (
    since ?? invalidField('headers.last-event-id', 'must be the <epoch>:<seq> of an `id` line')
  );
}

/** The same as bad input, whose paths say which of the subscriptions. */
function placed(failure: Failure, at: string): Failure {
  if (failure.cause === 'TOPIC_NOT_FOUND') return invalid(`${at}.topic`, failure.message);
  const { message, details } = failureIn(at, failure);
  return new Failure('INVALID_PARAMS', message, { details: details ?? [] });
}

interface EventStreamFacts {
  readonly caller: Caller;
  readonly id: string;
  readonly guard: FrameRateGuard;
  readonly ended: (code: number) => void;
}

type SinkDeps = Omit<ConstructorParameters<typeof EventSink>[0], 'res'>;

class EventStream extends Connection {
  readonly sink: EventSink;
  readonly #deps: Pick<EventStreamsDeps, 'subscriptions' | 'nodeView'>;

  constructor(
    open: (more: SinkDeps) => EventSink,
    { caller, id, guard, ended }: EventStreamFacts,
    deps: Pick<EventStreamsDeps, 'subscriptions' | 'nodeView' | 'slow' | 'clock' | 'options'>,
  ) {
    const { clock, options, slow } = deps;
    const sink = open({
      clock,
      options,
      position: () => this.#position(),
      dropped: () => slow.dropped(this),
      drained: () => {
        if (this.behindSinceMs !== null) slow.resumeHeld(this);
      },
      ended: (code) => {
        this.isOpen = false;
        ended(code);
      },
    });
    // It says nothing, so its silence means nothing.
    super(sink, { encoding: 'events', caller }, id, guard, Number.POSITIVE_INFINITY);
    this.sink = sink;
    this.prepaidStarts = 1;
    this.#deps = deps;
  }

  /**
   * Up to where every subscription has had its frames; null: some subscription waits or is behind.
   */
  completeTo(): number | null {
    const { subscriptions, nodeView } = this.#deps;
    let { seq } = nodeView.applied();
    for (const { state, generation, topic } of this.subscriptions.values()) {
      if (state.is !== 'live' || generation !== subscriptions.generation) return null;
      if (!topic.periodic) seq = Math.min(seq, state.handle.completeTo());
    }
    return this.subscriptions.size === 0 || this.requested.size > 0 ? null : seq;
  }

  ping(data: Json, facts: FrameMeta): void {
    this.deliver();
    const head = headOf('events', null, 'Ping', { messageType: 'Request' });
    this.sink.send(joinFrame(head, tailOf('events', new EncodedPayload(data), facts)));
  }

  override send(
    requestId: RequestId,
    event: string,
    data: Json | EncodedPayload,
    facts: FrameMeta,
  ): boolean {
    if (event === 'Shutdown' && isRecord(data)) this.sink.retry(Number(data.reconnectAfterMs));
    return super.send(requestId, event, data, facts);
  }

  /** A client cannot repeat a single subscription, so the stream ends with the first refusal. */
  override refuse(requestId: RequestId, failure: Failure, facts: FrameMeta): void {
    super.refuse(requestId, failure, facts);
    this.close(ENDED, failure.cause);
  }

  override revoke(facts: FrameMeta): void {
    this.refuse(null, unknownKey(), facts);
  }

  #position(): string | null {
    const seq = this.completeTo();
    return seq === null ? null : formatPosition({ ...this.#deps.nodeView.applied(), seq });
  }
}
