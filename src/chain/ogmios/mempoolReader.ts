/**
 * Reads the node's mempool, on a connection of its own: one snapshot after the other, each as soon
 * as the mempool has changed. A snapshot counts once the blocks have come as far as the node's tip
 * was after it was taken: then what is missing in it is either in one of them or gone.
 *
 * When it cannot be read, blocks go on; it is tried again.
 */
import { pause } from '../../engine/runtime/clock.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { Backoff } from './backoff.ts';
import { readPoint } from './blockJson.ts';
import { type ConnectionPlace, NodeConnection } from './connection.ts';
import { NodeFault } from './fault.ts';
import { hexOf, type JsonObject, objectOf } from './json.ts';
import type { Report } from './report.ts';

export interface MempoolReaderPlace extends ConnectionPlace {
  readonly rng: Rng;
  readonly report: Report;
  /** Whether the newest block that came is this one, or becomes it in time. */
  isAt(hash: string | null, waitMs: number): Promise<boolean>;
}

export type Snapshot = ReadonlyMap<string, JsonObject>;

export interface MempoolReaderUse {
  taken(snapshot: Snapshot): void;
  lost(): void;
}

/** Several times what a node's mempool holds. */
const MOST_WAITING = 20_000;
const WAIT_MS = 1_000;
/** Requests for a transaction that are in flight. */
const MOST_AHEAD = 64;

export class MempoolReader {
  readonly #place: MempoolReaderPlace;
  readonly #use: MempoolReaderUse;
  readonly #backoff: Backoff;
  readonly #stop = new AbortController();
  #connection: NodeConnection | null = null;
  #snapshot: Snapshot | null = null;
  #isNew = false;
  #wake = () => {};

  constructor(place: MempoolReaderPlace, use: MempoolReaderUse) {
    this.#place = place;
    this.#use = use;
    this.#backoff = new Backoff(place.rng, place.limits);
  }

  /** Runs until it is closed. */
  async run(): Promise<void> {
    const { clock, report } = this.#place;
    while (!this.#stop.signal.aborted) {
      try {
        await this.#session();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        const retryInMs = this.#backoff.nextMs();
        report.lost('mempool', NodeFault.of(error), retryInMs);
        this.#use.lost();
        await pause(clock, retryInMs, this.#stop.signal);
      }
    }
  }

  close(): void {
    this.#stop.abort();
    this.#connection?.end(new NodeFault('closed', 'it is no longer needed'));
    this.#wake();
  }

  /** The chain went back: the present snapshot has to be judged anew. */
  renew(): void {
    this.#isNew = this.#snapshot !== null;
    this.#wake();
  }

  async #session(): Promise<void> {
    const connection = await NodeConnection.open(this.#place);
    this.#connection = connection;
    this.#snapshot = null;
    this.#isNew = false;
    try {
      // What waits means nothing while blocks are missing.
      while (!(await this.#isAtTip(connection))) if (this.#stop.signal.aborted) return;
      this.#place.report.connected('mempool');
      await Promise.race([this.#take(connection), this.#judge(connection), connection.ended]);
    } finally {
      this.#connection = null;
      connection.end(new NodeFault('closed', 'the session is over'));
      this.#wake();
    }
  }

  async #isAtTip(connection: NodeConnection): Promise<boolean> {
    const tip = readPoint(await connection.networkTip(), 'the tip');
    return this.#place.isAt(tip?.hash ?? null, WAIT_MS);
  }

  async #take(connection: NodeConnection): Promise<void> {
    for (;;) {
      await connection.acquireChangedMempool();
      const snapshot = new Map<string, JsonObject>();
      // As many as the last snapshot had and the end, in one round trip.
      for (let ahead = (this.#snapshot?.size ?? 0) + 2; ; ahead = MOST_AHEAD) {
        const asked = Math.min(ahead, MOST_AHEAD);
        const answers = Array.from({ length: asked }, () => connection.nextTransaction());
        const found = await Promise.all(answers);
        for (const transaction of found) {
          if (transaction === null) break;
          const fields = objectOf(transaction, 'a transaction that waits');
          snapshot.set(hexOf(fields.id, 'its id', 32), fields);
        }
        if (found.at(-1) === null) break;
        if (snapshot.size > MOST_WAITING) {
          throw new NodeFault('oversized', `more than ${MOST_WAITING} transactions wait`);
        }
      }
      this.#snapshot = snapshot;
      this.#isNew = true;
      this.#wake();
    }
  }

  /** Ends with the connection. */
  async #judge(connection: NodeConnection): Promise<void> {
    while (!this.#stop.signal.aborted && connection === this.#connection) {
      const snapshot = this.#snapshot;
      if (!this.#isNew || snapshot === null) {
        await this.#quiet(connection);
        continue;
      }
      this.#isNew = false;
      const isAtTip = await this.#isAtTip(connection);
      if (this.#isNew) continue;
      this.#isNew = !isAtTip;
      if (!isAtTip) continue;
      this.#backoff.reset();
      this.#use.taken(snapshot);
    }
  }

  /** Until there is something to judge; meanwhile the connection is looked after. */
  async #quiet(connection: NodeConnection): Promise<void> {
    const { clock, limits } = this.#place;
    let isWoken = false;
    const woken = new Promise<void>((resolve) => {
      this.#wake = () => {
        isWoken = true;
        resolve();
      };
    });
    const timer = clock.after(limits.quietMs, this.#wake);
    const startMs = clock.monotonicMs();
    await woken;
    timer.cancel();
    const isIdle = isWoken && !this.#isNew && clock.monotonicMs() - startMs >= limits.quietMs;
    if (isIdle && connection === this.#connection) await connection.networkTip();
  }
}
