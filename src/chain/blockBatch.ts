/**
 * Drafts the entries of several blocks, to be appended together. Each block is recognised against
 * the fold and the blocks before it in the batch, so it does not wait until those are applied.
 *
 * Assumes: the fold is at the block before the first one, and does not change meanwhile. A batch is
 *          used once.
 * The drafts do not depend on how blocks are split into batches, except for runs of empty blocks:
 * those end at a round height, or with the batch.
 */

import type { Transaction } from '../cardano/codec/transaction.ts';
import type { Fold } from '../engine/fold/fold.ts';
import type { ChainBlock } from '../engine/log/entry.ts';
import type { EntryDraft } from '../engine/log/writer.ts';
import type { MarketEvent } from '../engine/market/events.ts';
import { MarketTimeDrafter } from '../engine/node/marketTimeDrafter.ts';
import { assert } from '../engine/runtime/assert.ts';
import { chainTip } from './chainPoints.ts';
import type { FirstSlotOf } from './kupo/kupo.ts';
import type { PendingTransactions } from './pendingTransactions.ts';
import type { Block } from './port.ts';
import { recogniseNext } from './recognise/block.ts';
import { BlockState, knownState } from './recognise/knownState.ts';
import type { Rules } from './recognise/rules.ts';

/** Sealing and appending hold the event loop: about 2 ms for this many. */
const MAX_DRAFTS = 256;
/** The log keeps this many events in memory, so the fold does not read them from the file. */
const MAX_EVENTS = 1_500;
/** A slot has been one second since the Shelley era, before any launchpad existed. */
const SLOT_MS = 1_000;
/** A run of empty blocks ends at a height that this divides. */
const RUN_BLOCKS = 1_000;

export class BlockBatch {
  readonly #fold: Fold;
  readonly #rules: Rules;
  readonly #pending: PendingTransactions;
  readonly #state: BlockState;
  readonly #marketTime: MarketTimeDrafter;
  readonly #drafts: EntryDraft[] = [];
  /** Empty blocks at the end of the batch, not drafted yet. */
  #emptyRun: { readonly last: Block; readonly blocks: number } | null = null;
  #height: number | null;
  #isFull = false;
  /** Transactions of blocks that a fork can still reach. The others are not needed later. */
  readonly transactions: Transaction[] = [];
  /** All of them. */
  transactionCount = 0;
  events = 0;
  /** Slot of the newest block in the batch. */
  slot = 0;

  constructor(fold: Fold, rules: Rules, pending: PendingTransactions) {
    this.#fold = fold;
    this.#rules = rules;
    this.#pending = pending;
    this.#state = new BlockState(knownState(fold.store));
    this.#marketTime = new MarketTimeDrafter(fold);
    this.#height = chainTip(fold.store)?.height ?? null;
  }

  /** Height of the batch's newest block, or of the block before it; null before the first. */
  get height(): number | null {
    return this.#height;
  }

  /** Append it before adding another block. */
  get isFull(): boolean {
    return this.#isFull || this.#drafts.length >= MAX_DRAFTS || this.events >= MAX_EVENTS;
  }

  /** `isDeep`: no fork can reach the block, so an empty one joins the run of empty blocks. */
  add(block: Block, isDeep: boolean): void {
    const { point, height, transactions, txIndexes: places } = block;
    const before = this.#height;
    assert(before === null || height === before + 1, `block ${height} follows ${before}`);
    this.#height = height;
    this.slot = point.slot;
    const events = this.#fold.store.atOnce(() =>
      recogniseNext(point.slot, transactions, this.#state, this.#rules, places),
    );
    const confirmed = this.#pending.confirm(transactions, this.#fold.mempool);
    this.transactionCount += transactions.length;
    if (!isDeep) for (const tx of transactions) this.transactions.push(tx);
    this.events += events.length;
    const isEmpty = events.length + confirmed.settled.length + confirmed.dropped.length === 0;
    if (isEmpty && isDeep) this.#addEmpty(block);
    else this.#draft(block, events, { ...confirmed, ...(isDeep ? { isDeep } : {}) });
  }

  /** Drafts of all added blocks. */
  drafts(): readonly EntryDraft[] {
    this.#endRun();
    return this.#drafts;
  }

  #draft(
    { point, height, timeMs: atMs }: Block,
    events: readonly MarketEvent[],
    rest: Pick<ChainBlock, 'settled' | 'dropped' | 'isDeep'>,
  ): void {
    this.#endRun();
    const chain = { slot: point.slot, hash: point.hash, height, events, ...rest };
    const timeMs = this.#moveTime(atMs);
    const payload = { kind: 'block', atMs, trades: [], chain } as const;
    this.#drafts.push({ timeMs, payload });
    if (events.some(({ kind }) => kind === 'filled')) this.#marketTime.opens(atMs);
  }

  #addEmpty(block: Block): void {
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

  /** Only a roll-back moves market time back: an earlier block keeps its time in `atMs`. */
  #moveTime(atMs: number): number {
    this.#drafts.push(...this.#marketTime.endsUpTo(atMs));
    const timeMs = Math.max(this.#marketTime.marketMs, atMs);
    this.#drafts.push(...this.#marketTime.startAt(timeMs));
    return timeMs;
  }
}

/** Pools whose launch was never seen get its time, where that is known. */
export async function withLaunchTimes(
  drafts: readonly EntryDraft[],
  firstSlotOf: FirstSlotOf | undefined,
): Promise<readonly EntryDraft[]> {
  if (firstSlotOf === undefined) return drafts;
  const dated = async (draft: EntryDraft): Promise<EntryDraft> => {
    const { payload } = draft;
    if (payload.kind !== 'block' || payload.chain === undefined) return draft;
    const { chain, atMs } = payload;
    if (!chain.events.some(({ kind }) => kind === 'adopted')) return draft;
    const events = chain.events.map(async (event): Promise<MarketEvent> => {
      if (event.kind !== 'adopted') return event;
      const slot = await firstSlotOf(event.pool.nft);
      // The pool was launched earlier, so this output is not its first one.
      if (slot === null || slot >= chain.slot) return event;
      return { ...event, createdMs: atMs - (chain.slot - slot) * SLOT_MS };
    });
    const all = await Promise.all(events);
    return { ...draft, payload: { ...payload, chain: { ...chain, events: all } } };
  };
  return Promise.all(drafts.map(dated));
}
