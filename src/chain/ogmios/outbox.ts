/**
 * The events that a follower has not received yet. Blocks queue in order up to a bound; blocks that
 * a roll-back removes while queued are never sent, and several roll-backs become one. The mempool
 * is not queued: when the follower asks, the mempool is compared with the transactions that were
 * sent.
 *
 * Sent as added: pending transactions that no received block contains. Sent as removed:
 * transactions that were sent, are no longer pending and are in no received block. After a
 * roll-back all pending transactions are sent again. A transaction that may return (it was sent, or
 * its block was rolled back) is removed only after a while.
 */

import type { RefusalReason } from '../../cardano/ledger/port.ts';
import type { Point, Removal } from '../port.ts';
import type { SerializedBlock, SerializedEvent, SerializedTransaction } from './messages.ts';

/** Pending transactions that may matter, in order. */
type MempoolImage = ReadonlyMap<string, SerializedTransaction>;

interface OutboxDeps {
  /** Whether a transaction is in a received block. */
  isInBlock(id: string): boolean;
  reasonOf(id: string): RefusalReason;
  nowMs(): number;
  readonly returnMs: number;
}

const MAX_EVENTS = 256;
/** The main thread reads a batch in one turn, which takes time by its transactions. */
const MAX_TRANSACTIONS = 200;
/** The longest fork. */
const MAX_SENT_BLOCKS = 2_161;

interface Back {
  readonly point: Point | null;
  readonly needsWatchList: boolean;
}

export class Outbox {
  readonly #deps: OutboxDeps;
  #blocks: SerializedBlock[] = [];
  #back: Back | null = null;
  /** Hash of the newest sent block. */
  #sentHash: string | null;
  #image: MempoolImage | null = null;
  #hasSentMempool = false;
  readonly #sent = new Set<string>();
  /** Transactions that may return: since when they are missing, by id. */
  readonly #missingSinceMs = new Map<string, number>();
  /** Transactions sent with each block, which may return after a roll-back; newest last. */
  #sentBlocks: { readonly hash: string; readonly ids: readonly string[] }[] = [];

  /** `at`: where the stream was opened, sent first as `back`; null: before the first block. */
  constructor(deps: OutboxDeps, at: Point | null) {
    this.#deps = deps;
    this.#sentHash = at?.hash ?? null;
    if (at !== null) this.#back = { point: at, needsWatchList: true };
  }

  /** Blocks not sent yet. */
  get size(): number {
    return this.#blocks.length;
  }

  /** Whether the transaction was sent as pending and not withdrawn since. */
  hasSent(id: string): boolean {
    return this.#sent.has(id);
  }

  /** Whether the transaction may still be sent as removed. */
  remembers(id: string): boolean {
    return this.#sent.has(id) || this.#missingSinceMs.has(id);
  }

  forward(block: SerializedBlock): void {
    this.#blocks.push(block);
  }

  /** `needsWatchList`: the follower must send a new watch list. */
  backTo(point: Point | null, needsWatchList: boolean): void {
    this.#forgetMempool();
    const hash = point?.hash ?? null;
    const at = this.#blocks.findLastIndex((block) => block.point.hash === hash);
    this.#blocks.length = at + 1;
    if (at >= 0) return;
    const isThere = hash === (this.#back === null ? this.#sentHash : this.#back.point?.hash);
    if (isThere && !needsWatchList) return;
    this.#back = { point, needsWatchList: needsWatchList || this.#back?.needsWatchList === true };
  }

  /** The pending transactions at a moment when the newest received block was the node's tip. */
  setMempool(image: MempoolImage): void {
    this.#image = image;
  }

  /** The mempool cannot be read: a follower that still waits for it gets an empty one. */
  mempoolLost(): void {
    if (!this.#hasSentMempool) this.#image ??= new Map();
  }

  /** When the first missing transaction counts as removed; null: none is missing. */
  get removalDueMs(): number | null {
    let firstMs: number | null = null;
    for (const sinceMs of this.#missingSinceMs.values()) {
      if (firstMs === null || sinceMs < firstMs) firstMs = sinceMs;
    }
    return firstMs === null ? null : firstMs + this.#deps.returnMs;
  }

  /** New events, in order. */
  read(): SerializedEvent[] {
    const events: SerializedEvent[] = [];
    if (this.#back !== null) events.push(this.#goBack(this.#back));
    let transactions = 0;
    let taken = 0;
    for (const block of this.#blocks) {
      if (taken >= MAX_EVENTS || transactions >= MAX_TRANSACTIONS) break;
      this.#send(block);
      events.push({ kind: 'forward', block });
      transactions += block.ids.length;
      taken += 1;
    }
    this.#blocks.splice(0, taken);
    if (this.#blocks.length > 0) return events;
    const change = this.#mempoolChange();
    return change === null ? events : [...events, change];
  }

  #goBack({ point, needsWatchList }: Back): SerializedEvent {
    this.#back = null;
    this.#sentHash = point?.hash ?? null;
    const at = this.#sentBlocks.findLastIndex(({ hash }) => hash === this.#sentHash);
    for (const { ids } of this.#sentBlocks.splice(at + 1))
      for (const id of ids) this.#markMissing(id);
    return { kind: 'back', point, needsWatchList };
  }

  #send({ point, ids }: SerializedBlock): void {
    this.#sentHash = point.hash;
    for (const id of ids) {
      this.#sent.delete(id);
      this.#missingSinceMs.delete(id);
    }
    this.#sentBlocks.push({ hash: point.hash, ids });
    if (this.#sentBlocks.length > 2 * MAX_SENT_BLOCKS)
      this.#sentBlocks = this.#sentBlocks.slice(-MAX_SENT_BLOCKS);
  }

  #forgetMempool(): void {
    this.#image = null;
    this.#hasSentMempool = false;
    for (const id of this.#sent) this.#markMissing(id);
    this.#sent.clear();
  }

  #markMissing(id: string): void {
    if (!this.#missingSinceMs.has(id)) this.#missingSinceMs.set(id, this.#deps.nowMs());
  }

  #mempoolChange(): SerializedEvent | null {
    if (this.#image === null) return null;
    const added: SerializedTransaction[] = [];
    for (const [id, tx] of this.#image) {
      if (this.#sent.has(id) || this.#deps.isInBlock(id)) continue;
      this.#sent.add(id);
      this.#missingSinceMs.delete(id);
      added.push(tx);
    }
    const removed = this.#gone(this.#image);
    if (this.#hasSentMempool && added.length === 0 && removed.length === 0) return null;
    const whole = !this.#hasSentMempool;
    this.#hasSentMempool = true;
    return { kind: 'mempool', whole, added, removed };
  }

  #gone(image: MempoolImage): Removal[] {
    const removed: Removal[] = [];
    const remove = (id: string) => removed.push({ id, reason: this.#deps.reasonOf(id) });
    for (const id of this.#sent) {
      if (image.has(id)) continue;
      this.#sent.delete(id);
      if (!this.#deps.isInBlock(id)) remove(id);
    }
    const lateMs = this.#deps.nowMs() - this.#deps.returnMs;
    for (const [id, sinceMs] of this.#missingSinceMs) {
      if (this.#deps.isInBlock(id)) this.#missingSinceMs.delete(id);
      else if (sinceMs <= lateMs) {
        this.#missingSinceMs.delete(id);
        remove(id);
      }
    }
    return removed;
  }
}
