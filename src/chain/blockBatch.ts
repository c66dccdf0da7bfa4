/**
 * Blocks as entries that are appended together. The blocks of a batch are read in the light of the
 * fold and of those before them in the batch, so none waits until the one before is applied.
 *
 * Assumes: the fold stands at the block before the first one and is not changed until `drafts` are
 *          appended; after that the next batch begins anew.
 * What is drafted does not depend on how blocks were cut into batches, runs of passed blocks apart:
 * those end at a round height, or with the batch.
 */

import type { Transaction } from '../cardano/codec/transaction.ts';
import type { Fold } from '../engine/actors/fold.ts';
import { MarketTimeDrafter } from '../engine/actors/marketTimeDrafter.ts';
import type { ChainBlock } from '../engine/log/entry.ts';
import type { EntryDraft } from '../engine/log/writer.ts';
import type { MarketEvent } from '../engine/market/events.ts';
import { assert } from '../engine/runtime/assert.ts';
import { chainTip } from './chainPoints.ts';
import type { PendingTransactions } from './pendingTransactions.ts';
import type { Block } from './port.ts';
import { recogniseBlock } from './recognise/block.ts';
import { BlockMarket, foldMarket } from './recognise/knownMarket.ts';
import type { Rules } from './recognise/rules.ts';

/** Sealing and appending a batch holds the loop: about 2 ms for so many. */
const MOST_DRAFTS = 256;
const MOST_EVENTS = 4_000;
/** Blocks of one run; it ends at a height that this divides. */
const RUN_BLOCKS = 1_000;

export class BlockBatch {
  readonly #fold: Fold;
  readonly #rules: Rules;
  readonly #pending: PendingTransactions;
  readonly #market: BlockMarket;
  readonly #marketTime: MarketTimeDrafter;
  readonly #drafts: EntryDraft[] = [];
  /** Blocks in which nothing happened, at the end of the batch. */
  #emptyRun: { readonly last: Block; readonly blocks: number } | null = null;
  #height: number | null;
  #isFull = false;
  readonly transactions: Transaction[] = [];
  events = 0;
  /** Of the newest block in it. */
  slot = 0;

  constructor(fold: Fold, rules: Rules, pending: PendingTransactions) {
    this.#fold = fold;
    this.#rules = rules;
    this.#pending = pending;
    this.#market = new BlockMarket(foldMarket(fold.store));
    this.#marketTime = new MarketTimeDrafter(fold);
    this.#height = chainTip(fold.store)?.height ?? null;
  }

  /** Of the newest block in it, or of the block before it; null before the first one. */
  get height(): number | null {
    return this.#height;
  }

  /** It should be appended before the next block. */
  get isFull(): boolean {
    return this.#isFull || this.#drafts.length >= MOST_DRAFTS || this.events >= MOST_EVENTS;
  }

  /** `mayPass`: no fork can reach it, so it needs no entry of its own when nothing happened. */
  add(block: Block, mayPass: boolean): void {
    const { point, height, transactions, txIndexes: places } = block;
    const before = this.#height;
    assert(before === null || height === before + 1, `block ${height} follows ${before}`);
    this.#height = height;
    this.slot = point.slot;
    const events = recogniseBlock(point.slot, transactions, this.#market, this.#rules, places);
    for (const event of events) this.#market.note(event);
    const met = this.#pending.confirm(transactions, this.#fold.mempool);
    for (const tx of transactions) this.transactions.push(tx);
    this.events += events.length;
    const isQuiet = events.length + met.settled.length + met.dropped.length === 0;
    if (isQuiet && mayPass) this.#pass(block);
    else this.#write(block, events, met);
  }

  /** All of it. */
  drafts(): readonly EntryDraft[] {
    this.#endRun();
    return this.#drafts;
  }

  #write(
    { point, height, timeMs: atMs }: Block,
    events: readonly MarketEvent[],
    met: Pick<ChainBlock, 'settled' | 'dropped'>,
  ): void {
    this.#endRun();
    const chain = { slot: point.slot, hash: point.hash, height, events, ...met };
    const timeMs = this.#moveTime(atMs);
    const payload = { kind: 'block', atMs, trades: [], chain } as const;
    this.#drafts.push({ timeMs, payload });
    if (events.some(({ kind }) => kind === 'filled')) this.#marketTime.opens(atMs);
  }

  #pass(block: Block): void {
    this.#emptyRun = { last: block, blocks: (this.#emptyRun?.blocks ?? 0) + 1 };
    if (block.height % RUN_BLOCKS !== 0) return;
    this.#endRun();
    this.#isFull = true;
  }

  #endRun(): void {
    if (this.#emptyRun === null) return;
    const { last, blocks } = this.#emptyRun;
    this.#emptyRun = null;
    const { point, height, timeMs: atMs } = last;
    const timeMs = this.#moveTime(atMs);
    const { slot, hash } = point;
    const payload = { kind: 'passed', atMs, slot, hash, height, blocks } as const;
    this.#drafts.push({ timeMs, payload });
  }

  /** Market time never goes back but in a roll-back; a block keeps its own moment. */
  #moveTime(atMs: number): number {
    this.#drafts.push(...this.#marketTime.endsUpTo(atMs));
    const timeMs = Math.max(this.#marketTime.marketMs, atMs);
    this.#drafts.push(...this.#marketTime.startAt(timeMs));
    return timeMs;
  }
}
