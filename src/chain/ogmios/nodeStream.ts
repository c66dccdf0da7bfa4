/**
 * A stream of the node's chain, in the thread: joins blocks and mempool in the order of the port,
 * and passes on only transactions that may matter.
 */

import type { JsonObject } from '../../cardano/codec/json.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import type { RefusalReason } from '../../cardano/ledger/port.ts';
import { isFault } from '../../engine/runtime/assert.ts';
import type { Timer } from '../../engine/runtime/clock.ts';
import type { Point } from '../port.ts';
import { ChainSyncClient, type ChainSyncDeps } from './chainSyncClient.ts';
import { MempoolClient, type Snapshot } from './mempoolClient.ts';
import {
  type FilterTargets,
  type SerializedEvent,
  type SerializedTransaction,
  serializeTransaction,
  spentRefs,
  type WatchList,
} from './messages.ts';
import { Outbox } from './outbox.ts';
import { type FilterMatch, spentBy, TransactionFilter } from './transactionFilter.ts';
import { type BlockHeader, readTransaction, transactionsOf } from './transactionJson.ts';

/** A transaction missing in a snapshot taken this long after its acceptance is gone. */
const ACCEPTED_MS = 1_000;

interface NodeStreamDeps extends ChainSyncDeps {
  /** null: every transaction passes. */
  readonly targets: FilterTargets | null;
  /** Whether a transaction was submitted here. */
  isOurs(id: string): boolean;
  /** There may be events to read. */
  onReadable(): void;
}

export class NodeStream {
  readonly #deps: NodeStreamDeps;
  readonly #filter: TransactionFilter | null;
  readonly #outbox: Outbox;
  readonly #chain: ChainSyncClient;
  readonly #mempool: MempoolClient;
  #pending: ReadonlyMap<string, SerializedTransaction> = new Map();
  /** The newest snapshot; null: none since the chain went back. */
  #snapshot: Snapshot | null = null;
  /** Accepted by the node from us, and in no snapshot yet: they count as pending. */
  readonly #accepted = new Map<
    string,
    { readonly tx: SerializedTransaction; readonly atMs: number }
  >();
  #acceptedTimer: Timer | null = null;
  /** Pending transactions by the outputs that they spend. */
  #spenders: ReadonlyMap<string, string> = new Map();
  /** Why transactions left the mempool. */
  readonly #reasons = new Map<string, RefusalReason>();
  #timer: Timer | null = null;

  /** `at`: null is before the first block. `older`: points before it, newest first. */
  constructor(at: Point | null, older: readonly Point[], deps: NodeStreamDeps) {
    this.#deps = deps;
    this.#filter = deps.targets === null ? null : TransactionFilter.of(deps.targets);
    const { clock, limits } = deps;
    this.#chain = new ChainSyncClient(at, older, deps, {
      backlog: () => this.#outbox.size,
      forward: (block) => {
        if (block !== null) this.#outbox.forward(block);
        deps.onReadable();
      },
      back: (point, needsWatchList) => {
        this.#snapshot = null;
        this.#accepted.clear();
        this.#outbox.backTo(point, needsWatchList);
        this.#mempool.reevaluate();
        deps.onReadable();
      },
      pick: (block, header) => this.#pick(block, header),
      forget: (refs) => this.#filter?.forget(refs),
    });
    const isAt = (hash: string | null, waitMs: number) => this.#chain.isAt(hash, waitMs);
    this.#mempool = new MempoolClient(
      { ...deps, isAt },
      {
        onSnapshot: (snapshot) => this.#onSnapshot(snapshot),
        onLost: () => this.#mempoolLost(),
      },
    );
    this.#outbox = new Outbox(
      {
        isInBlock: (id) => this.#chain.holds(id),
        reasonOf: (id) => this.#reasonOf(id),
        nowMs: () => clock.monotonicMs(),
        returnMs: limits.returnMs,
      },
      at,
    );
  }

  /** Reads until `close`. */
  start(): void {
    this.#chain.start();
    this.#mempool.start();
  }

  startFrom(watchList: WatchList): void {
    this.#filter?.reset(watchList);
    this.#chain.begin();
  }

  /** The set of our transactions has changed: evaluates the snapshot again. */
  expect(): void {
    this.#mempool.reevaluate();
  }

  /** Reports our submission at once, before a snapshot has it. */
  accepted(tx: Transaction): void {
    if (this.#chain.holds(tx.id) || this.#pending.has(tx.id)) return;
    const { clock } = this.#deps;
    const atMs = clock.monotonicMs();
    // While the mempool cannot be read, no snapshot removes old ones.
    for (const [id, { atMs: sinceMs }] of this.#accepted) {
      if (atMs - sinceMs > ACCEPTED_MS) this.#accepted.delete(id);
    }
    const serialized = serializeTransaction(tx);
    this.#accepted.set(tx.id, { tx: serialized, atMs });
    if (this.#snapshot !== null) this.#add(serialized);
    this.#acceptedTimer?.cancel();
    this.#acceptedTimer = clock.after(ACCEPTED_MS + 1, () => {
      if (this.#snapshot !== null) this.#onSnapshot(this.#snapshot);
    });
  }

  /** Without reading the other pending transactions again. */
  #add(tx: SerializedTransaction): void {
    const image = new Map(this.#pending).set(tx.id, tx);
    const spenders = new Map(this.#spenders);
    for (const ref of spentRefs(tx)) spenders.set(ref, tx.id);
    this.#pending = image;
    this.#spenders = spenders;
    this.#outbox.setMempool(image);
    this.#deps.onReadable();
  }

  close(): void {
    this.#timer?.cancel();
    this.#acceptedTimer?.cancel();
    this.#chain.close();
    this.#mempool.close();
  }

  read(): SerializedEvent[] {
    const events = this.#outbox.read();
    this.#chain.requestMore();
    this.#timer?.cancel();
    const { removalDueMs } = this.#outbox;
    if (removalDueMs !== null && events.length === 0) {
      const delayMs = Math.max(1, removalDueMs - this.#deps.clock.monotonicMs());
      this.#timer = this.#deps.clock.after(delayMs, () => this.#deps.onReadable());
    }
    return events;
  }

  /** Whether a transaction is in a block or pending. */
  knows(id: string): boolean {
    return this.#chain.holds(id) || this.#pending.has(id);
  }

  #pick(block: JsonObject, header: BlockHeader) {
    const ids: string[] = [];
    const transactions: SerializedTransaction[] = [];
    const txIndexes: number[] = [];
    const matches: FilterMatch[] = [];
    for (const [at, { id, fields }] of transactionsOf(block, header).entries()) {
      const found = this.#filter?.match(fields, id) ?? null;
      if (found !== null) matches.push(found);
      const touches = this.#touchesPending(id, fields);
      if (this.#filter !== null && found === null && !touches) continue;
      ids.push(id);
      const tx = this.#transaction(fields, `block ${header.hash}`);
      transactions.push(serializeTransaction(tx));
      txIndexes.push(at);
    }
    return { ids, matches, transactions, txIndexes };
  }

  #transaction(fields: JsonObject, what: string): Transaction {
    return readTransaction(fields, what, this.#deps.report.passedOver);
  }

  /** The transaction was pending, is ours, or spends an input of a pending one. */
  #touchesPending(id: string, fields: JsonObject): boolean {
    if (this.#outbox.hasSent(id) || this.#deps.isOurs(id)) return true;
    if (this.#spenders.size === 0) return false;
    let isRival = false;
    for (const ref of spentBy(fields)) {
      const loser = this.#spenders.get(ref);
      if (loser === undefined || loser === id) continue;
      this.#reasons.set(loser, 'INPUT_SPENT');
      isRival = true;
    }
    return isRival;
  }

  #onSnapshot(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    const image = new Map<string, SerializedTransaction>();
    const spenders = new Map<string, string>();
    const filter = this.#filter?.forMempool() ?? null;
    for (const [id, fields] of snapshot) {
      const tx = this.#read(id, fields, filter);
      if (tx === null) continue;
      image.set(id, tx);
      for (const ref of spentRefs(tx)) spenders.set(ref, id);
    }
    for (const [id, { tx, atMs }] of this.#accepted) {
      const isOld = this.#deps.clock.monotonicMs() - atMs > ACCEPTED_MS;
      if (isOld || image.has(id) || this.#chain.holds(id)) this.#accepted.delete(id);
      else {
        image.set(id, tx);
        for (const ref of spentRefs(tx)) spenders.set(ref, id);
      }
    }
    for (const [id, { validToSlot }] of this.#pending) {
      const isOver = validToSlot !== null && validToSlot <= this.#chain.newestSlot;
      if (!image.has(id) && isOver) this.#reasons.set(id, 'EXPIRED');
    }
    this.#pending = image;
    this.#spenders = spenders;
    this.#outbox.setMempool(image);
    for (const id of this.#reasons.keys()) {
      if (image.has(id) || !this.#outbox.remembers(id)) this.#reasons.delete(id);
    }
    this.#deps.onReadable();
  }

  /** null: it does not matter, or is unreadable; a block may still have it. */
  #read(
    id: string,
    fields: JsonObject,
    filter: TransactionFilter | null,
  ): SerializedTransaction | null {
    try {
      const matters = filter === null || filter.match(fields, id) !== null;
      const known = this.#pending.get(id);
      if (known !== undefined) return known;
      if (!matters && !this.#deps.isOurs(id)) return null;
      return serializeTransaction(this.#transaction(fields, 'the mempool'));
    } catch (error) {
      if (isFault(error, 'unreadableMessage')) return null;
      throw error;
    }
  }

  #mempoolLost(): void {
    this.#outbox.mempoolLost();
    this.#deps.onReadable();
  }

  #reasonOf(id: string): RefusalReason {
    const reason = this.#reasons.get(id) ?? 'REFUSED';
    this.#reasons.delete(id);
    return reason;
  }
}
