/**
 * Chooses servers and makes connections as the client of @nats-io does: in turn, a server at most
 * once in the wait that the options draw, without end once the first connection was there.
 */
import { ConnectionError, type ConnectionOptions, TimeoutError } from '@nats-io/transport-node';
import { type Clock, sleepUnless } from '../../../src/engine/runtime/clock.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import type { ClientEnd, Dialing, ServerSession } from './session.ts';

interface DialerDeps {
  readonly dialing: Dialing;
  readonly options: ConnectionOptions;
  /** Clock of the client's node. */
  readonly clock: Clock;
  readonly rng: Rng;
  /** Resolves when the client is closed. */
  readonly closed: Promise<unknown>;
}

const DEFAULT_WAIT_MS = 2_000;
const DEFAULT_TIMEOUT_MS = 20_000;

export class Dialer {
  readonly #deps: DialerDeps;
  /** Numbers of servers, the next one first. */
  #servers: number[];
  readonly #triedMs = new Map<number, number>();
  #isClosed = false;

  constructor(deps: DialerDeps) {
    this.#deps = deps;
    const servers = Array.from({ length: deps.dialing.servers }, (_, server) => server);
    this.#servers = shuffled(servers, deps.rng);
    void deps.closed.then(() => {
      this.#isClosed = true;
    });
  }

  /** Each server once. */
  async first(end: () => ClientEnd): Promise<ServerSession> {
    let last: unknown = new ConnectionError('connection refused');
    for (const server of [...this.#servers]) {
      try {
        return await this.#dial(server, end());
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }

  /** null: the client was closed meanwhile. `end` is called for each attempt. */
  async again(end: () => ClientEnd): Promise<ServerSession | null> {
    const { clock, closed, options } = this.#deps;
    while (!this.#isClosed) {
      const waitMs = options.reconnectDelayHandler?.() ?? DEFAULT_WAIT_MS;
      const server = this.#turn();
      const nextMs = (this.#triedMs.get(server) ?? Number.NEGATIVE_INFINITY) + waitMs;
      const nowMs = clock.monotonicMs();
      if (nextMs > nowMs) {
        await sleepUnless(clock, nextMs - nowMs, closed);
        continue;
      }
      try {
        return await this.#dial(server, end());
      } catch {
        // The next one, or the same after its wait.
      }
    }
    return null;
  }

  #turn(): number {
    const [next = 0, ...others] = this.#servers;
    this.#servers = [...others, next];
    return next;
  }

  async #dial(server: number, end: ClientEnd): Promise<ServerSession> {
    const { clock, dialing, options, closed } = this.#deps;
    this.#triedMs.set(server, clock.monotonicMs());
    const late = Promise.withResolvers<never>();
    const limitMs = options.timeout ?? DEFAULT_TIMEOUT_MS;
    const timer = clock.after(limitMs, () => late.reject(new TimeoutError()));
    const given = closed.then(() => Promise.reject(new ConnectionError('closed')));
    const session = dialing.dial(server, end);
    let isOver = false;
    // A connection that is made too late is given up.
    session.then((made) => isOver && made.close()).catch(() => {});
    try {
      return await Promise.race([session, late.promise, given]);
    } finally {
      isOver = true;
      timer.cancel();
    }
  }
}

function shuffled(servers: readonly number[], rng: Rng): number[] {
  const left = [...servers];
  const order: number[] = [];
  while (left.length > 0) order.push(...left.splice(Math.floor(rng.unit() * left.length), 1));
  return order;
}
