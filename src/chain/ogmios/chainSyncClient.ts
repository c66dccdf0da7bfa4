/**
 * Follows the node's chain: finds the newest common block, requests blocks in advance, and after a
 * lost connection continues where it was, so that a follower sees one stream.
 *
 * It requests nothing until `begin` follows a watch list. A roll-back beyond the blocks remembered
 * here needs a new watch list, and `begin` again. A node counts as lost when it sends nothing
 * although its tip is another block, and when its blocks form no chain.
 */

import { type JsonObject, objectOf } from '../../cardano/codec/json.ts';
import { Backoff } from '../../engine/runtime/backoff.ts';
import { pause } from '../../engine/runtime/clock.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { Task } from '../../engine/runtime/task.ts';
import type { Point } from '../port.ts';
import { type ConnectionDeps, NodeConnection } from './connection.ts';
import type { Eras } from './eras.ts';
import { NodeFault } from './fault.ts';
import type { SerializedBlock } from './messages.ts';
import type { NodeReporter } from './observer.ts';
import { intersect, type RecentBlock, RecentBlocks } from './recentBlocks.ts';
import { type BlockHeader, readHeader, readPoint, readTip } from './transactionJson.ts';

export interface ChainSyncDeps extends ConnectionDeps {
  readonly rng: Rng;
  readonly eras: Eras;
  readonly report: NodeReporter;
}

/** Receives blocks, roll-backs and faults of the chain. */
interface ChainSyncListener {
  /** Blocks received and not read yet. */
  backlog(): number;
  /** null: a block without a slot, which is not reported. */
  forward(block: SerializedBlock | null): void;
  back(point: Point | null, needsWatchList: boolean): void;
  /** The transactions of a block to report. May throw. */
  pick(
    block: JsonObject,
    header: BlockHeader,
  ): Pick<RecentBlock, 'ids' | 'matches'> & Pick<SerializedBlock, 'transactions' | 'txIndexes'>;
  /** Outputs whose spending or removal is final. */
  forget(refs: readonly string[]): void;
}

const MAX_MISSES = 2;

export class ChainSyncClient {
  readonly #deps: ChainSyncDeps;
  readonly #listener: ChainSyncListener;
  readonly #backoff: Backoff;
  /** Woken by a block, by `begin` and by a roll-back. */
  readonly #reading: Task;
  #recent: RecentBlocks;
  #connection: NodeConnection | null = null;
  #isBegun = false;
  #inFlight = 0;
  #heardMs = 0;
  /** Blocks received while the eras are being refreshed. */
  #held: JsonObject[] | null = null;
  #newestSlot = 0;

  constructor(
    at: Point | null,
    older: readonly Point[],
    deps: ChainSyncDeps,
    listener: ChainSyncListener,
  ) {
    this.#deps = deps;
    this.#listener = listener;
    this.#reading = new Task({ clock: deps.clock });
    this.#backoff = new Backoff(deps.limits.retry, deps.rng);
    this.#recent = new RecentBlocks(at, older, listener.forget);
  }

  /** Reads until `close`. */
  start(): void {
    this.#reading.start(() => this.#run());
  }

  begin(): void {
    this.#isBegun = true;
    this.#reading.wake();
  }

  close(): void {
    void this.#reading.stop();
    this.#connection?.end(new NodeFault('closed', 'it is no longer needed'));
  }

  /** Slot of the newest received block. */
  get newestSlot(): number {
    return this.#newestSlot;
  }

  holds(id: string): boolean {
    return this.#recent.holds(id);
  }

  /** Whether the newest received block is this one, now or within `waitMs`; null: none. */
  async isAt(hash: string | null, waitMs: number): Promise<boolean> {
    const { clock } = this.#deps;
    const end = clock.monotonicMs() + waitMs;
    while (!this.#reading.isStopping) {
      if (this.#isBegun && this.#recent.newestHash === hash) return true;
      const leftMs = end - clock.monotonicMs();
      if (leftMs <= 0) return false;
      await this.#reading.untilWoken(leftMs);
    }
    return false;
  }

  /** Call it when blocks were read. */
  requestMore(): void {
    if (this.#connection === null) return;
    const { inFlight, underWay } = this.#deps.limits;
    const came = this.#listener.backlog() + (this.#held?.length ?? 0);
    // Half of them at a time: each write to the network costs as much as a small block.
    if (this.#inFlight > inFlight / 2) return;
    const missing = Math.min(inFlight, underWay - came) - this.#inFlight;
    if (missing <= 0) return;
    this.#inFlight += missing;
    this.#connection.nextBlocks(missing);
  }

  async #run(): Promise<void> {
    while (!this.#reading.isStopping) {
      if (!this.#isBegun) {
        await this.#reading.untilWoken();
        continue;
      }
      try {
        await this.#session();
      } catch (error) {
        if (this.#reading.isStopping) return;
        if (!this.#isBegun) continue;
        const retryInMs = this.#backoff.nextMs();
        this.#deps.report.lost('chain', NodeFault.of(error), retryInMs);
        await this.#reading.pause(retryInMs);
      }
    }
  }

  async #session(): Promise<void> {
    const over = new AbortController();
    const connection = await NodeConnection.open(this.#deps, {
      onBlock: (result) => this.#receive(result),
    });
    this.#held = null;
    this.#inFlight = 0;
    try {
      await this.#deps.eras.refresh(connection);
      const found = await intersect(connection, this.#recent.points());
      if (this.#reading.isStopping) return;
      if (found === undefined) throw new NodeFault('foreign', FOREIGN);
      this.#goBack(found);
      this.#reading.wake();
      if (!this.#isBegun) return;
      this.#deps.report.connected('chain');
      this.#connection = connection;
      this.#heardMs = this.#deps.clock.monotonicMs();
      this.requestMore();
      await Promise.race([connection.ended, this.#watch(connection, over.signal)]);
    } finally {
      this.#connection = null;
      over.abort();
      connection.end(new NodeFault('closed', 'the session is over'));
    }
  }

  /** Returns when the session must end. */
  async #watch(connection: NodeConnection, signal: AbortSignal): Promise<void> {
    const { clock, limits } = this.#deps;
    let misses = 0;
    for (;;) {
      const heardMs = this.#heardMs;
      await pause(clock, limits.quietMs, signal);
      if (signal.aborted || !this.#isBegun) return;
      if (this.#heardMs !== heardMs) continue;
      const tip = readPoint(await connection.networkTip(), 'the tip');
      const isBehind = (tip?.hash ?? null) !== this.#recent.newestHash;
      if (this.#heardMs !== heardMs || !isBehind || this.#inFlight === 0) misses = 0;
      else misses += 1;
      if (misses < MAX_MISSES) continue;
      throw new NodeFault('stalled', `no block in ${limits.quietMs} ms, but the node has others`);
    }
  }

  #receive(result: JsonObject): void {
    this.#inFlight -= 1;
    this.#heardMs = this.#deps.clock.monotonicMs();
    if (this.#held !== null) this.#held.push(result);
    else this.#handle(result);
    this.requestMore();
  }

  #handle(result: JsonObject): void {
    const { direction, block, point } = result;
    const tip = readTip(result.tip);
    if (direction === 'backward') this.#goBack(readPoint(point, 'point'));
    else if (direction === 'forward') this.#goForward(objectOf(block, 'block'), result);
    else throw new NodeFault('garbage', `a block came in no direction: ${String(direction)}`);
    this.#deps.report.tip(tip);
    this.#reading.wake();
  }

  #goForward(block: JsonObject, result: JsonObject): void {
    const header = readHeader(block);
    const { hash, ancestor, height, slot } = header;
    const newest = this.#recent.newestHash;
    if (newest !== null && ancestor !== newest) {
      throw new NodeFault('unreadable', `block ${hash} follows ${ancestor}, not ${newest}`);
    }
    if (slot === null) {
      this.#recent.add({ hash, slot, height, ids: [], matches: [] });
      this.#listener.forward(null);
      return;
    }
    const timeMs = this.#deps.eras.timeMs(slot);
    if (timeMs === null) {
      this.#hold(result, hash);
      return;
    }
    const { ids, matches, transactions, txIndexes } = this.#listener.pick(block, header);
    this.#recent.add({ hash, slot, height, ids, matches });
    this.#newestSlot = slot;
    this.#backoff.reset();
    this.#listener.forward({
      point: { slot, hash },
      height,
      timeMs,
      ids,
      transactions,
      txIndexes,
    });
  }

  /** The block's slot is beyond the known eras: refreshes them. */
  #hold(result: JsonObject, hash: string): void {
    const connection = this.#connection;
    if (connection === null) return;
    if (this.#held !== null) {
      throw new NodeFault('unreadable', `block ${hash} lies in no era that the node knows`);
    }
    this.#held = [result];
    this.#deps.eras.refresh(connection).then(
      () => this.#release(connection),
      (error: unknown) => connection.end(NodeFault.of(error)),
    );
  }

  #release(connection: NodeConnection): void {
    const held = this.#held;
    if (held === null || connection !== this.#connection) return;
    try {
      // As long as `#held` is set, a block beyond the eras is a fault.
      for (const result of held.splice(0)) this.#handle(result);
      this.#held = null;
      this.requestMore();
    } catch (error) {
      connection.end(NodeFault.of(error));
    }
  }

  #goBack(point: Point | null): void {
    const hash = point?.hash ?? null;
    if (hash === this.#recent.newestHash) return;
    const older = this.#recent.points().filter((each) => each !== null);
    const left = this.#recent.backTo(hash);
    if (left !== undefined) {
      this.#listener.back(left, false);
      return;
    }
    const at = older.findIndex((each) => each.hash === hash);
    this.#recent = new RecentBlocks(
      point,
      at < 0 ? [] : older.slice(at + 1),
      this.#listener.forget,
    );
    this.#isBegun = false;
    this.#listener.back(point, true);
    this.#connection?.end(new NodeFault('closed', 'the connection restarts with the new search'));
  }
}

const FOREIGN =
  'the node has none of the newest blocks that are known here: it is still far behind, or of ' +
  'another network';
