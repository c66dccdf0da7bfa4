/**
 * Follows a chain and writes it into the log: blocks as market events, roll-backs, and changes of
 * the mempool.
 *
 * Runs on the leader only. The fold says where to continue and what a transaction means; every new
 * stream reports the whole mempool again. A new block is appended alone, blocks that are behind the
 * tip in batches, and empty blocks far behind it as one entry (see BlockBatch). Where blocks are
 * rare, the leader's clock ends minutes; a block with an earlier time then counts as late.
 *
 * Loses no block: it asks for a block again until the block's entry is in the log.
 */
import { KEPT_POINTS } from '../engine/fold/chainRows.ts';
import type { Fold } from '../engine/fold/fold.ts';
import type { EntryDraft } from '../engine/log/writer.ts';
import { intervalStart, MINUTE_MS } from '../engine/market/resolution.ts';
import { MarketTimeDrafter } from '../engine/node/marketTimeDrafter.ts';
import { type Clock, nextTurn } from '../engine/runtime/clock.ts';
import type { PathObserver } from '../engine/runtime/entryPath.ts';
import { Task } from '../engine/runtime/task.ts';
import type { PointRecord } from '../engine/store/records.ts';
import { BlockBatch, withLaunchTimes } from './blockBatch.ts';
import { chainTip, findPoint, type RollBackDeps, rollBackTo } from './chainPoints.ts';
import type { FirstSlotOf } from './kupo/kupo.ts';
import type { OverlayWriter } from './mempoolOverlay.ts';
import { NodeLagGuard } from './nodeLag.ts';
import { PendingTransactions, splitMempool } from './pendingTransactions.ts';
import { type ChainPolicy, chainClock } from './policy.ts';
import type { Block, ChainSource, ChainTip, MempoolEvent, Point } from './port.ts';
import { knownState } from './recognise/knownState.ts';
import type { RefusedTerm, Rules } from './recognise/rules.ts';
import { openStream, StreamIterator } from './sourceStream.ts';

/** Further behind than this, a mempool event cannot be recognised and is skipped. */
const FAR_BLOCKS = 10;
/** A batch ends when no block came for this long. */
const QUIET_MS = 100;
/** Age at which a batch is appended. */
const BATCH_MS = 1_000;
/** How long blocks may hold the event loop. */
const SLICE_MS = 4;
/** Longest wait before the end of a minute is checked again: clocks are set, chains fall behind. */
const CHECK_MS = 1_000;
/** While the newest block is older than this, only blocks move market time. */
const PRESENT_MS = 20 * 60_000;

export interface FollowerDeps extends RollBackDeps {
  readonly source: ChainSource;
  readonly rules: Rules;
  readonly clock: Clock;
  readonly policy: ChainPolicy;
  /** The chain's newest block as the node last reported it; null while the node is away. */
  tip(): ChainTip | null;
  /** Notified of mempool changes, of blocks once they are applied, and of roll-backs. */
  readonly overlay?: OverlayWriter;
  /** First slot of a pool's NFT, for a pool whose launch was not followed. */
  readonly firstSlotOf?: FirstSlotOf;
  /** Several nodes share the log, whose messages have a largest size. */
  readonly isShared?: boolean;
}

interface FollowerObserver {
  /** Our node went back behind what other nodes logged; the follower waits for it. */
  nodeBehind(height: number, loggedHeight: number): void;
  chainFollowed(height: number, transactions: number, events: number): void;
  chainRolledBack(toHeight: number, blocks: number): void;
  /** An output is no order only because it misses a term of the deployment. */
  orderRefused(term: RefusedTerm): void;
  followerFailed(error: unknown): void;
  readonly entryAt?: PathObserver;
}

export class Follower {
  readonly #deps: FollowerDeps;
  readonly #observer: FollowerObserver;
  /** They report refused orders of blocks; refused orders of the mempool are not reported. */
  readonly #rules: Rules;
  readonly #pending: PendingTransactions;
  readonly #lagGuard = new NodeLagGuard();
  readonly #following: Task;
  #stream: StreamIterator | null = null;
  #batch: BlockBatch | null = null;
  #batchMs = 0;
  #sliceMs = 0;
  /** A mempool event was skipped because blocks were far behind. */
  #missedMempool = false;
  /** The stream was reopened because it went back to an unknown block. */
  #hasReopened = false;
  #failed = false;

  constructor(deps: FollowerDeps, observer: FollowerObserver) {
    const { clock, node, rules } = deps;
    this.#deps = deps;
    this.#observer = observer;
    this.#rules = { ...rules, refused: (term) => observer.orderRefused(term) };
    this.#pending = new PendingTransactions(() => knownState(node.fold.store), rules);
    this.#following = new Task({
      clock,
      failed: (error) => {
        this.#failed = true;
        observer.followerFailed(error);
      },
    });
  }

  /** The rows served are right but no longer new. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Our Cardano node is behind the log; see NodeLagGuard. */
  get waitsForNode(): boolean {
    return this.#lagGuard.isActive;
  }

  /** Resolves once the log has reached the chain's present tip; following then continues. */
  async start(): Promise<void> {
    const { node, writer } = this.#deps;
    await node.reached(writer.tail.seq);
    await this.#undoStrange();
    await this.#open();
    if (this.#following.isStopping) return;
    const caughtUp = Promise.withResolvers<void>();
    this.#following.start(async () => {
      try {
        await this.#run(caughtUp.resolve);
      } catch (error) {
        caughtUp.reject(error);
        throw error;
      }
    });
    await caughtUp.promise;
  }

  async stop(): Promise<void> {
    const ended = this.#following.stop();
    await this.#stream?.close();
    await ended;
  }

  /**
   * Trades behind the newest block, and where blocks alone move time a later time, are no chain's:
   * a stranger wrote them into the log.
   */
  async #undoStrange(): Promise<void> {
    const { node, policy } = this.#deps;
    const { store, marketMs } = node.fold;
    const tip = chainTip(store);
    if (tip === null) return;
    const isLater = !policy.timeEntries && marketMs > tip.timeMs;
    if (isLater || (store.points.newest?.seq ?? 0) > tip.seq) await this.#rollBack(tip);
  }

  /** At the newest block that fold and chain share, else at the policy's start. */
  async #open(): Promise<void> {
    const { source, node, policy } = this.#deps;
    const { signal } = this.#following;
    const opened = await openStream(source, node.fold.store, policy.start, signal);
    if (opened === null) return;
    this.#stream = new StreamIterator(opened.stream);
    if (opened.isFromStart) await this.#rollBackOrWait(null);
  }

  /** A stream reports the mempool after all blocks there are. */
  async #run(caughtUp: () => void): Promise<void> {
    const { clock } = this.#deps;
    while (!this.#following.isStopping) {
      const event = (await this.#stream?.next(this.#waitMs(), clock)) ?? null;
      if (event === 'quiet' || event?.kind === 'forward') {
        await (event === 'quiet' ? this.#onQuiet() : this.#onBlock(event.block));
        if (this.#missedMempool && this.#batch === null && !this.#isBehind()) await this.#reopen();
      } else {
        await this.#append();
        if (event === null) break;
        if (event.kind === 'back') await this.#onBack(event.point);
        else {
          await this.#onMempool(event);
          caughtUp();
        }
      }
    }
    caughtUp();
  }

  /** How long to wait for an event before `#onQuiet` has work. */
  #waitMs(): number {
    const { node, policy, clock } = this.#deps;
    if (this.#batch !== null) return QUIET_MS;
    if (!policy.timeEntries) return Number.POSITIVE_INFINITY;
    const overMs = minuteOverMs(node.fold, policy.finalGraceMs);
    return Math.min(Math.max(QUIET_MS, overMs - clock.nowMs()), CHECK_MS);
  }

  async #onQuiet(): Promise<void> {
    const { node, writer, clock, policy } = this.#deps;
    if (this.#batch !== null) return this.#append();
    if (!policy.timeEntries || !this.#isAtTip()) return;
    const { finalGraceMs } = policy;
    const nowMs = clock.nowMs();
    const newestMs = chainTip(node.fold.store)?.timeMs ?? 0;
    if (nowMs > newestMs + finalGraceMs + PRESENT_MS) return;
    if (nowMs < minuteOverMs(node.fold, finalGraceMs)) return;
    await node.reached(await writer.append(overdueMinutes(node.fold, nowMs, finalGraceMs)));
  }

  /** Else blocks are missing, and their times end minutes. */
  #isAtTip(): boolean {
    const { node, tip } = this.#deps;
    const newest = chainTip(node.fold.store);
    return newest !== null && newest.hash === tip()?.hash;
  }

  async #onBlock(block: Block): Promise<void> {
    const { node, clock, tip } = this.#deps;
    this.#hasReopened = false;
    if (this.#lagGuard.isActive) return this.#whileBehind(block);
    this.#observer.entryAt?.('read', 0);
    if (this.#batch === null) {
      this.#batch = new BlockBatch(node.fold, this.#rules, this.#pending);
      this.#batchMs = clock.monotonicMs();
    }
    const batch = this.#batch;
    const missing = (tip()?.height ?? 0) - block.height;
    batch.add(block, missing > KEPT_POINTS);
    if (missing <= 0 || batch.isFull) return this.#append();
    const nowMs = clock.monotonicMs();
    if (nowMs > this.#batchMs + BATCH_MS) return this.#append();
    if (nowMs < this.#sliceMs + SLICE_MS) return;
    await nextTurn(clock);
    this.#sliceMs = clock.monotonicMs();
  }

  /** All that was read; resolves when it is applied. */
  async #append(): Promise<void> {
    const batch = this.#batch;
    this.#batch = null;
    if (batch === null) return;
    const { node, writer, overlay } = this.#deps;
    const drafts = await withLaunchTimes(batch.drafts(), this.#deps.firstSlotOf);
    await node.reached(await writer.append(drafts));
    overlay?.confirm(batch.transactions, batch.slot);
    this.#observer.chainFollowed(batch.height ?? 0, batch.transactionCount, batch.events);
  }

  /** Appends at once, so that clients see their transactions before a block has them. */
  async #onMempool(event: MempoolEvent): Promise<void> {
    if (this.#isBehind()) {
      // Recognition needs the missing blocks; a new stream reports the mempool again.
      this.#missedMempool = true;
      return;
    }
    const { node, writer, clock, policy, overlay, isShared = false } = this.#deps;
    overlay?.apply(event);
    const { mempool, marketMs } = node.fold;
    const seenMs = chainClock(policy, clock, () => marketMs).nowMs();
    const payload = this.#pending.apply(event, seenMs, mempool);
    if (payload !== null) {
      const parts = isShared ? splitMempool(payload) : [payload];
      const drafts = parts.map((part) => ({ timeMs: marketMs, payload: part }));
      await node.reached(await writer.append(drafts));
    }
    overlay?.markShown(event.added);
  }

  /** null: before the chain's first block. */
  async #onBack(point: Point | null): Promise<void> {
    const { node, policy } = this.#deps;
    const { store } = node.fold;
    if (chainTip(store)?.hash === point?.hash) return;
    if (point === null || point.hash === policy.start?.hash) return this.#rollBackOrWait(null);
    const known = findPoint(store, point);
    if (known !== null) return this.#rollBackOrWait(known);
    if (this.#lagGuard.isActive) return; // The log holds none of this fork's blocks.
    if (this.#hasReopened) {
      throw new Error(`the chain went back to ${point.slot}.${point.hash}, which is unknown here`);
    }
    // It may lie inside a run of empty blocks: a new stream starts at a block that both have.
    this.#hasReopened = true;
    await this.#reopen();
  }

  /** Our node went back to `known`; among several nodes it may only be behind the log. */
  async #rollBackOrWait(known: PointRecord | null): Promise<void> {
    const { node, policy, isShared = false } = this.#deps;
    const tip = chainTip(node.fold.store);
    if (!isShared || policy.believesShorter || tip === null) return this.#rollBack(known);
    if (!this.#lagGuard.isActive) this.#observer.nodeBehind(known?.height ?? 0, tip.height);
    this.#lagGuard.start(known);
  }

  /** After waiting, a new stream brings the blocks again, with the right watch list. */
  async #whileBehind(block: Block): Promise<void> {
    const { sharedPoint } = this.#lagGuard;
    const found = this.#lagGuard.check(block, this.#deps.node.fold.store);
    if (found === 'behind') return;
    if (found === 'other') await this.#rollBack(sharedPoint);
    await this.#reopen();
  }

  async #reopen(): Promise<void> {
    this.#missedMempool = false;
    this.#lagGuard.stopMeasuring();
    await this.#stream?.close();
    await this.#open();
  }

  #isBehind(): boolean {
    const { tip, node } = this.#deps;
    const newest = tip()?.height ?? 0;
    const isFar = newest > (chainTip(node.fold.store)?.height ?? 0) + FAR_BLOCKS;
    return isFar || this.#lagGuard.isActive;
  }

  async #rollBack(known: PointRecord | null): Promise<void> {
    const tip = chainTip(this.#deps.node.fold.store);
    if (tip === null) return;
    this.#pending.clear();
    this.#deps.overlay?.clear();
    await rollBackTo(known, this.#deps);
    const height = known?.height ?? 0;
    this.#observer.chainRolledBack(height, tip.height - height);
  }
}

/** When the minute of market time is certainly over; never before the first block. */
function minuteOverMs({ marketMs }: Fold, graceMs: number): number {
  if (marketMs === 0) return Number.POSITIVE_INFINITY;
  return intervalStart('min1', marketMs) + MINUTE_MS + graceMs;
}

/** Entries for the intervals that end and start up to the newest minute that is over. */
function overdueMinutes(fold: Fold, nowMs: number, graceMs: number): EntryDraft[] {
  const marketTime = new MarketTimeDrafter(fold);
  const minuteMs = intervalStart('min1', nowMs - graceMs);
  return [...marketTime.endsUpTo(minuteMs), ...marketTime.startAt(minuteMs)];
}
