/**
 * What a reader has still to be told. Blocks wait in order up to a bound; what a roll-back takes
 * away before it was told is never told, and several roll-backs become one. What waits in the
 * mempool is not queued: it is compared with what was told at the moment the reader asks.
 *
 * Told as added: what waits and is in no block that was received. Told as removed: what was told,
 * waits no more, and is in no such block either. After a roll-back all is told anew; what may yet
 * return (it was told, or lost its block) is removed only when it has not come back for a while.
 */

import type { RefusalReason } from '../../cardano/ledger/port.ts';
import type { Point, Removal } from '../port.ts';
import type { SerializedBlock, SerializedEvent, SerializedTransaction } from './messages.ts';

/** What waits, in order, as far as it may matter. */
type MempoolImage = ReadonlyMap<string, SerializedTransaction>;

interface OutboxDeps {
  /** Whether a transaction is in a block that was received. */
  isInBlock(id: string): boolean;
  reasonOf(id: string): RefusalReason;
  nowMs(): number;
  readonly returnMs: number;
}

const MOST_EVENTS = 256;
/** A batch is read by the main thread in one go: its transactions are what that costs. */
const MOST_TRANSACTIONS = 200;
/** No chain takes back more. */
const MOST_TOLD = 2_161;

interface Back {
  readonly point: Point | null;
  readonly needsWatchList: boolean;
}

export class Outbox {
  readonly #deps: OutboxDeps;
  #blocks: SerializedBlock[] = [];
  #back: Back | null = null;
  /** Of the block that was told last. */
  #toldHash: string | null;
  #image: MempoolImage | null = null;
  #toldOfMempool = false;
  readonly #told = new Set<string>();
  /** Id → since when it is missed. */
  readonly #limbo = new Map<string, number>();
  /** What was told with each block, so that it can be missed: newest last. */
  #toldBlocks: { readonly hash: string; readonly ids: readonly string[] }[] = [];

  /** `at`: where it was opened, which is told first; null: before the first block. */
  constructor(deps: OutboxDeps, at: Point | null) {
    this.#deps = deps;
    this.#toldHash = at?.hash ?? null;
    if (at !== null) this.#back = { point: at, needsWatchList: true };
  }

  /** Blocks that were not told yet. */
  get size(): number {
    return this.#blocks.length;
  }

  /** Whether it was told and not taken back from the reader since. */
  hasTold(id: string): boolean {
    return this.#told.has(id);
  }

  /** Whether it may yet be told as removed. */
  remembers(id: string): boolean {
    return this.#told.has(id) || this.#limbo.has(id);
  }

  forward(block: SerializedBlock): void {
    this.#blocks.push(block);
  }

  /** `needsWatchList`: the reader must say anew what is looked for. */
  backTo(point: Point | null, needsWatchList: boolean): void {
    this.#forgetMempool();
    const hash = point?.hash ?? null;
    const at = this.#blocks.findLastIndex((block) => block.point.hash === hash);
    this.#blocks.length = at + 1;
    if (at >= 0) return;
    const isThere = hash === (this.#back === null ? this.#toldHash : this.#back.point?.hash);
    if (isThere && !needsWatchList) return;
    this.#back = { point, needsWatchList: needsWatchList || this.#back?.needsWatchList === true };
  }

  /** What waits now, of a moment at which the newest block received was the node's tip. */
  mempool(image: MempoolImage): void {
    this.#image = image;
  }

  /** The mempool cannot be read: who waits for word of it is told that nothing waits. */
  mempoolLost(): void {
    if (!this.#toldOfMempool) this.#image ??= new Map();
  }

  /** When something that may return has been missed for long enough; null: nothing is missed. */
  get missedUntilMs(): number | null {
    let firstMs: number | null = null;
    for (const sinceMs of this.#limbo.values()) {
      if (firstMs === null || sinceMs < firstMs) firstMs = sinceMs;
    }
    return firstMs === null ? null : firstMs + this.#deps.returnMs;
  }

  /** What is new, in order; empty when nothing is. */
  read(): SerializedEvent[] {
    const events: SerializedEvent[] = [];
    if (this.#back !== null) events.push(this.#goBack(this.#back));
    let transactions = 0;
    let taken = 0;
    for (const block of this.#blocks) {
      if (taken >= MOST_EVENTS || transactions >= MOST_TRANSACTIONS) break;
      this.#tell(block);
      events.push({ kind: 'forward', block });
      transactions += block.transactions.length;
      taken += 1;
    }
    this.#blocks.splice(0, taken);
    if (this.#blocks.length > 0) return events;
    const change = this.#mempoolChange();
    return change === null ? events : [...events, change];
  }

  #goBack({ point, needsWatchList }: Back): SerializedEvent {
    this.#back = null;
    this.#toldHash = point?.hash ?? null;
    const at = this.#toldBlocks.findLastIndex(({ hash }) => hash === this.#toldHash);
    for (const { ids } of this.#toldBlocks.splice(at + 1)) for (const id of ids) this.#miss(id);
    return { kind: 'back', point, needsWatchList };
  }

  #tell({ point, transactions }: SerializedBlock): void {
    this.#toldHash = point.hash;
    const ids = transactions.map(({ id }) => id);
    for (const id of ids) {
      this.#told.delete(id);
      this.#limbo.delete(id);
    }
    this.#toldBlocks.push({ hash: point.hash, ids });
    if (this.#toldBlocks.length > 2 * MOST_TOLD)
      this.#toldBlocks = this.#toldBlocks.slice(-MOST_TOLD);
  }

  #forgetMempool(): void {
    this.#image = null;
    this.#toldOfMempool = false;
    for (const id of this.#told) this.#miss(id);
    this.#told.clear();
  }

  #miss(id: string): void {
    if (!this.#limbo.has(id)) this.#limbo.set(id, this.#deps.nowMs());
  }

  #mempoolChange(): SerializedEvent | null {
    if (this.#image === null) return null;
    const added: SerializedTransaction[] = [];
    for (const [id, tx] of this.#image) {
      if (this.#told.has(id) || this.#deps.isInBlock(id)) continue;
      this.#told.add(id);
      this.#limbo.delete(id);
      added.push(tx);
    }
    const removed = this.#gone(this.#image);
    if (this.#toldOfMempool && added.length === 0 && removed.length === 0) return null;
    const whole = !this.#toldOfMempool;
    this.#toldOfMempool = true;
    return { kind: 'mempool', whole, added, removed };
  }

  #gone(image: MempoolImage): Removal[] {
    const removed: Removal[] = [];
    const remove = (id: string) => removed.push({ id, reason: this.#deps.reasonOf(id) });
    for (const id of this.#told) {
      if (image.has(id)) continue;
      this.#told.delete(id);
      if (!this.#deps.isInBlock(id)) remove(id);
    }
    const lateMs = this.#deps.nowMs() - this.#deps.returnMs;
    for (const [id, sinceMs] of this.#limbo) {
      if (this.#deps.isInBlock(id)) this.#limbo.delete(id);
      else if (sinceMs <= lateMs) {
        this.#limbo.delete(id);
        remove(id);
      }
    }
    return removed;
  }
}
