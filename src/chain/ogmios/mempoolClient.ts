/**
 * Reads the node's mempool on a separate connection: a snapshot whenever the mempool has changed. A
 * snapshot counts once the received blocks have reached the node's tip of after it was taken. From
 * then on, a transaction that the snapshot lacks is in one of those blocks, or has been dropped.
 *
 * While the mempool cannot be read, blocks continue; this client retries.
 */

import { type JsonObject, objectOf } from '../../cardano/codec/json.ts';
import { Backoff } from '../../engine/runtime/backoff.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { Task } from '../../engine/runtime/task.ts';
import { type ConnectionDeps, NodeConnection } from './connection.ts';
import { NodeFault } from './fault.ts';
import type { NodeReporter } from './observer.ts';
import { readPoint, withSubTransactions } from './transactionJson.ts';

interface MempoolClientDeps extends ConnectionDeps {
  readonly rng: Rng;
  readonly report: NodeReporter;
  /** Whether the newest received block is this one, now or within `waitMs`. */
  isAt(hash: string | null, waitMs: number): Promise<boolean>;
}

export type Snapshot = ReadonlyMap<string, JsonObject>;

interface MempoolClientListener {
  onSnapshot(snapshot: Snapshot): void;
  onLost(): void;
}

/** Several times the capacity of a node's mempool. */
const MAX_PENDING = 20_000;
const WAIT_MS = 1_000;
const WAITING = 'a transaction that waits';
/** Requests for a transaction that are in flight. */
const MAX_AHEAD = 64;

export class MempoolClient {
  readonly #deps: MempoolClientDeps;
  readonly #listener: MempoolClientListener;
  readonly #backoff: Backoff;
  readonly #reading: Task;
  #connection: NodeConnection | null = null;
  #snapshot: Snapshot | null = null;
  #isUnevaluated = false;

  constructor(deps: MempoolClientDeps, listener: MempoolClientListener) {
    this.#deps = deps;
    this.#listener = listener;
    this.#reading = new Task({ clock: deps.clock });
    this.#backoff = new Backoff(deps.limits.retry, deps.rng);
  }

  /** Reads until `close`. */
  start(): void {
    this.#reading.start(() => this.#run());
  }

  close(): void {
    void this.#reading.stop();
    this.#connection?.end(new NodeFault('closed', 'it is no longer needed'));
  }

  /** The chain went back: evaluates the present snapshot again. */
  reevaluate(): void {
    this.#isUnevaluated = this.#snapshot !== null;
    this.#reading.wake();
  }

  async #run(): Promise<void> {
    while (!this.#reading.isStopping) {
      try {
        await this.#session();
      } catch (error) {
        if (this.#reading.isStopping) return;
        const retryInMs = this.#backoff.nextMs();
        this.#deps.report.lost('mempool', NodeFault.of(error), retryInMs);
        this.#listener.onLost();
        await this.#reading.pause(retryInMs);
      }
    }
  }

  async #session(): Promise<void> {
    const connection = await NodeConnection.open(this.#deps);
    this.#connection = connection;
    this.#snapshot = null;
    this.#isUnevaluated = false;
    try {
      // Pending transactions cannot be recognised while blocks are missing.
      while (!(await this.#isAtTip(connection))) if (this.#reading.isStopping) return;
      this.#deps.report.connected('mempool');
      await Promise.race([
        this.#readSnapshots(connection),
        this.#evaluate(connection),
        connection.ended,
      ]);
    } finally {
      this.#connection = null;
      connection.end(new NodeFault('closed', 'the session is over'));
      this.#reading.wake();
    }
  }

  async #isAtTip(connection: NodeConnection): Promise<boolean> {
    const tip = readPoint(await connection.networkTip(), 'the tip');
    return this.#deps.isAt(tip?.hash ?? null, WAIT_MS);
  }

  async #readSnapshots(connection: NodeConnection): Promise<void> {
    for (;;) {
      await connection.acquireChangedMempool();
      const snapshot = new Map<string, JsonObject>();
      // As many as the last snapshot had and the end, in one round trip.
      for (let ahead = (this.#snapshot?.size ?? 0) + 2; ; ahead = MAX_AHEAD) {
        const asked = Math.min(ahead, MAX_AHEAD);
        const answers = Array.from({ length: asked }, () => connection.nextTransaction());
        const found = await Promise.all(answers);
        for (const transaction of found) {
          if (transaction === null) break;
          const fields = objectOf(transaction, WAITING);
          for (const each of withSubTransactions(fields, WAITING)) {
            snapshot.set(each.id, each.fields);
          }
        }
        if (found.at(-1) === null) break;
        if (snapshot.size > MAX_PENDING) {
          throw new NodeFault('oversized', `more than ${MAX_PENDING} transactions wait`);
        }
      }
      this.#snapshot = snapshot;
      this.#isUnevaluated = true;
      this.#reading.wake();
    }
  }

  /** Runs until the connection ends. */
  async #evaluate(connection: NodeConnection): Promise<void> {
    while (!this.#reading.isStopping && connection === this.#connection) {
      const snapshot = this.#snapshot;
      if (!this.#isUnevaluated || snapshot === null) {
        await this.#waitForSnapshot(connection);
        continue;
      }
      this.#isUnevaluated = false;
      const isAtTip = await this.#isAtTip(connection);
      if (this.#isUnevaluated) continue;
      this.#isUnevaluated = !isAtTip;
      if (!isAtTip) continue;
      this.#backoff.reset();
      this.#listener.onSnapshot(snapshot);
    }
  }

  /** Waits for a snapshot; an idle connection is checked by a request. */
  async #waitForSnapshot(connection: NodeConnection): Promise<void> {
    const { clock, limits } = this.#deps;
    const startMs = clock.monotonicMs();
    await this.#reading.untilWoken(limits.quietMs);
    const isIdle = !this.#isUnevaluated && clock.monotonicMs() - startMs >= limits.quietMs;
    if (isIdle && connection === this.#connection) await connection.networkTip();
  }
}
