/**
 * The WebSocket endpoint: opens and closes sockets and dispatches their frames. An exception here
 * is reported and answered; it never reaches uWebSockets.js, which would end the process.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { withApiKey } from '../gateway/address.ts';
import { type ApiKeys, unknownKey } from '../gateway/apiKeys.ts';
import type { RequestId } from '../gateway/frame.ts';
import type { Observer } from '../gateway/observer.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import type { WebSocketBehavior } from '../gateway/server.ts';
import { FRAME_BYTES_A_READ, type RateLimits } from '../http/rateLimits.ts';
import { type ClientFrame, type ConnectFrame, readFrame } from './clientFrame.ts';
import { Connection, type Origin, type Socket } from './connection.ts';
import type { Delivery } from './delivery.ts';
import { FrameRateGuard } from './frameRateGuard.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { SlowSockets } from './slowSockets.ts';
import { mayOpen, type SocketCounts, tooManyOf } from './socketCounts.ts';
import type { Subscriptions } from './subscriptions.ts';
import { type UpgradeDeps, upgrade } from './upgrade.ts';

interface EndpointDeps {
  readonly connections: Set<Connection>;
  readonly subscriptions: Subscriptions;
  readonly slow: SlowSockets;
  readonly delivery: Delivery;
  readonly heartbeat: Heartbeat;
  readonly counts: SocketCounts;
  readonly callers: UpgradeDeps['callers'];
  readonly apiKeys: ApiKeys;
  readonly limits: Pick<RateLimits, 'charge' | 'isOverdrawn'>;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly observer: Observer;
  readonly options: GatewayOptions;
}

/** Larger frames end the connection inside the library; up to here they get an `Error`. */
const MAX_PAYLOAD_FACTOR = 4;
/** The library's limit for peers that vanished while their last bytes were on the way. */
const IDLE_SECONDS = 60;

export class Endpoint {
  /** No new sockets from now on. */
  stopping = false;
  readonly #parts: EndpointDeps;

  constructor(parts: EndpointDeps) {
    this.#parts = parts;
  }

  behavior(): WebSocketBehavior<Origin> {
    const { options, callers, apiKeys, slow } = this.#parts;
    const upgradeParts: UpgradeDeps = {
      clock: this.#parts.clock,
      callers,
      apiKeys,
      options,
      counts: this.#parts.counts,
      stopping: () => this.stopping,
    };
    return {
      maxPayloadLength: MAX_PAYLOAD_FACTOR * options.maxFrameBytes,
      maxBackpressure: options.bufferBytes,
      closeOnBackpressureLimit: false,
      idleTimeout: IDLE_SECONDS,
      sendPingsAutomatically: false,
      upgrade: (res, req, context) => {
        try {
          upgrade(res, req, context, upgradeParts);
        } catch (error) {
          this.#parts.observer.handlerFailed('socket upgrade', error);
          res.close();
        }
      },
      open: (socket) => this.#guard('open', () => this.#open(socket)),
      message: (socket, bytes, isBinary) => {
        this.#with('message', socket, (connection) => this.#receive(connection, bytes, isBinary));
      },
      ping: (socket) => this.#with('ping', socket, (connection) => this.#alive(connection)),
      pong: (socket) => this.#with('pong', socket, (connection) => this.#alive(connection)),
      dropped: (socket) => this.#with('dropped', socket, (c) => slow.dropped(c)),
      drain: (socket) => this.#with('drain', socket, (c) => this.#drained(c)),
      close: (socket, code) => {
        this.#with('close', socket, (connection) => this.#close(connection, code));
      },
    };
  }

  #with(where: string, socket: Socket, run: (connection: Connection) => void): void {
    const { connection } = socket.getUserData();
    if (connection !== null) this.#guard(where, () => run(connection));
  }

  #guard(where: string, run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#parts.observer.handlerFailed(`socket ${where}`, error);
    }
  }

  #open(socket: Socket): void {
    const { rng, clock, heartbeat, connections, observer, options } = this.#parts;
    const origin = socket.getUserData();
    if (origin.refusal !== null) {
      observer.socketOpened();
      observer.socketClosed(origin.refusal.code);
      socket.end(origin.refusal.code, origin.refusal.reason);
      return;
    }
    const frameRateGuard = new FrameRateGuard(clock, options);
    const id = rng.token(12);
    const connection = new Connection(socket, origin, id, frameRateGuard, clock.monotonicMs());
    connection.pings = heartbeat.add(connection);
    origin.connection = connection;
    connections.add(connection);
    this.#parts.counts.add(connection.caller.key, 1);
    connection.listen(connection.pings);
    observer.socketOpened();
  }

  #close(connection: Connection, code: number): void {
    const { connections, heartbeat, subscriptions, observer } = this.#parts;
    connection.isOpen = false;
    heartbeat.remove(connection);
    connections.delete(connection);
    this.#parts.counts.add(connection.caller.key, -1);
    subscriptions.endAll(connection);
    observer.socketClosed(code);
  }

  #alive(connection: Connection): void {
    connection.lastHeardMs = this.#parts.clock.monotonicMs();
  }

  #drained(connection: Connection): void {
    if (connection.behindSinceMs !== null) this.#parts.slow.resumeHeld(connection);
  }

  #receive(connection: Connection, bytes: ArrayBuffer, isBinary: boolean): void {
    const { options, limits } = this.#parts;
    const { caller } = connection;
    this.#alive(connection);
    // Also of frames that are refused: they were read.
    limits.charge('read', caller, bytes.byteLength / FRAME_BYTES_A_READ);
    const verdict = connection.frameRateGuard.frame(limits.isOverdrawn(caller));
    if (verdict === 'close') connection.close(4429, 'too many frames');
    if (verdict === 'warn') this.#refuse(connection, null, this.#tooManyFrames);
    if (verdict !== 'fine') {
      this.#receiveTooMany(connection, bytes, isBinary);
      return;
    }
    if (bytes.byteLength > options.maxFrameBytes) {
      const message = `a frame may have at most ${options.maxFrameBytes} bytes: send several`;
      this.#bad(connection, new Failure('LIMIT_EXCEEDED', message));
      return;
    }
    const frame = readFrame(bytes, isBinary, options.maxSubscriptions);
    if (frame instanceof Failure) this.#bad(connection, frame);
    else this.#dispatch(connection, frame);
  }

  get #tooManyFrames(): Failure {
    const { framesPerSecond } = this.#parts.options;
    const limit = `at most ${framesPerSecond} frames a second`;
    const message = `${limit}, and no more than your reads pay for: slow down or be closed`;
    return new Failure('RATE_LIMITED', message);
  }

  /**
   * A frame above the limit is not executed, and its subscriptions are refused under their request
   * ids: a client that heard nothing would wait for ever. It may still unsubscribe.
   */
  #receiveTooMany(connection: Connection, bytes: ArrayBuffer, isBinary: boolean): void {
    const { options, subscriptions } = this.#parts;
    if (!connection.isOpen || bytes.byteLength > options.maxFrameBytes) return;
    const frame = readFrame(bytes, isBinary, options.maxSubscriptions);
    if (frame instanceof Failure) return;
    const refused = this.#tooManyFrames;
    if (frame.kind === 'subscribe') {
      for (const params of frame.subscriptions) {
        subscriptions.subscribe(connection, { ...params, refused });
      }
    } else if (frame.kind === 'connect') this.#refuse(connection, frame.requestId, refused);
    else if (frame.kind === 'unsubscribe') subscriptions.unsubscribe(connection, frame.requestId);
  }

  #dispatch(connection: Connection, frame: ClientFrame): void {
    const { subscriptions, delivery } = this.#parts;
    switch (frame.kind) {
      case 'connect':
        if (!this.#identify(connection, frame)) break;
        connection.acks = frame.acks;
        this.#welcome(connection, frame.requestId);
        break;
      case 'subscribe':
        // The library corks frames that are sent while it hands over a frame: the answers are one
        // write.
        for (const params of frame.subscriptions) subscriptions.subscribe(connection, params);
        break;
      case 'refused':
        this.#refuse(connection, frame.requestId, frame.failure);
        break;
      case 'unsubscribe':
        subscriptions.unsubscribe(connection, frame.requestId);
        break;
      case 'ping': {
        const facts = delivery.facts();
        connection.send(frame.requestId, 'Pong', { timestamp: facts.tsMs }, facts);
        break;
      }
      case 'pong':
        break;
    }
  }

  /** From here on the socket counts against the key that it presents; false: it is closed. */
  #identify(connection: Connection, { requestId, key }: ConnectFrame): boolean {
    if (key === null) return true;
    const { apiKeys, counts, options } = this.#parts;
    const apiKey = apiKeys.find(key);
    if (apiKey === null) {
      this.#refuse(connection, requestId, unknownKey());
      connection.close(4501, 'no such API key');
      return false;
    }
    const before = connection.caller;
    const caller = withApiKey(before, apiKey);
    if (caller.key !== before.key && !mayOpen(caller, counts, options)) {
      connection.close(4403, tooManyOf(caller));
      return false;
    }
    counts.add(before.key, -1);
    counts.add(caller.key, 1);
    connection.caller = caller;
    return true;
  }

  #welcome(connection: Connection, requestId: RequestId): void {
    const { delivery, options } = this.#parts;
    const facts = delivery.facts();
    const limits = {
      subscriptions: options.maxSubscriptions,
      frameBytes: options.maxFrameBytes,
      framesPerSecond: options.framesPerSecond,
      bufferBytes: options.bufferBytes,
    };
    const { heartbeatMs } = options;
    const data = { timestamp: facts.tsMs, connectionId: connection.id, limits, heartbeatMs };
    connection.send(requestId, 'ConnectionSucceeded', data, facts);
  }

  #bad(connection: Connection, failure: Failure): void {
    this.#parts.observer.badFrame(failure.cause);
    this.#refuse(connection, null, failure);
    if (connection.frameRateGuard.badFrame() === 'close') {
      connection.close(4501, 'too many bad frames');
    }
  }

  #refuse(connection: Connection, requestId: RequestId, failure: Failure): void {
    connection.refuse(requestId, failure, this.#parts.delivery.facts());
  }
}
