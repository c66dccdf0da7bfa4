/**
 * Follows a chain and writes it into the log: blocks as market events, roll-backs as what they are,
 * and what waits in the mempool.
 *
 * Runs on the leader only. Where it goes on from, and what a transaction means, are read from the
 * fold; what waits is told anew by every stream. Blocks are appended one by one as they are made,
 * in batches while there are more to come, and as runs while a chain is far away; see BlockBatch.
 *
 * Nothing is lost: a block is asked for again until its entry is in the log.
 */
import { KEPT_POINTS } from '../engine/actors/chainRows.ts';
import { nextTurn } from '../engine/runtime/clock.ts';
import type { PointRecord } from '../engine/store/records.ts';
import { BlockBatch } from './blockBatch.ts';
import { chainPoints, chainTip, findPoint, isYoung } from './chainPoints.ts';
import { foldMarket } from './foldMarket.ts';
import type { FollowerDeps, FollowerObserver, MempoolEvent } from './followerPlace.ts';
import { splitMempool } from './mempoolPieces.ts';
import { NodeLagGuard } from './nodeLag.ts';
import { openUnless } from './openUnless.ts';
import { minuteOverMs, passedMinutes } from './pastIntervals.ts';
import { PendingTransactions } from './pendingTransactions.ts';
import { chainClock } from './policy.ts';
import type { Block, ChainStream, Point } from './port.ts';
import { rollBackTo } from './rewind.ts';
import { StreamReader } from './streamReader.ts';
import { otherChain, unknownPoint, unknownStart } from './unfollowable.ts';

/** Blocks that may be on the way while what waits is told. */
const FAR_BLOCKS = 10;
/** A batch waits so long for the next block, and grows no longer than that. */
const QUIET_MS = 100;
const BATCH_MS = 1_000;
/** Blocks are read for so long before others have a turn. */
const SLICE_MS = 4;
/** The end of a minute is looked for so often: clocks are set, and chains fall behind. */
const LOOK_MS = 1_000;
/** A chain whose newest block is older is not at the present: only its blocks tell the time. */
const PRESENT_MS = 20 * 60_000;

export class Follower {
  readonly #deps: FollowerDeps;
  readonly #observer: FollowerObserver;
  readonly #pending: PendingTransactions;
  readonly #lagGuard = new NodeLagGuard();
  #stream: StreamReader | null = null;
  #batch: BlockBatch | null = null;
  #batchMs = 0;
  #turnMs = 0;
  /** What waits was told while blocks were far behind, so it was not heard. */
  #isDeaf = false;
  /** The stream was opened anew because it went back to an unknown block. */
  #isReopened = false;
  #running: Promise<void> = Promise.resolve();
  readonly #stop = new AbortController();
  #failed = false;

  constructor(deps: FollowerDeps, observer: FollowerObserver) {
    const { node, rules } = deps;
    this.#deps = deps;
    this.#observer = observer;
    this.#pending = new PendingTransactions(() => foldMarket(node.fold.store), rules);
  }

  /** What is served is right but no longer new. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Our node is waited for; see Holding. */
  get waitsForNode(): boolean {
    return this.#lagGuard.isActive;
  }

  /** Resolves once the log has what the chain has now; more follows by itself. */
  async start(): Promise<void> {
    const { node, writer } = this.#deps;
    await node.reached(writer.tail.seq);
    await this.#open();
    const caughtUp = Promise.withResolvers<void>();
    this.#running = this.#run(caughtUp.resolve).catch((error: unknown) => {
      caughtUp.reject(error);
      if (this.#stopping) return;
      this.#failed = true;
      this.#observer.followerFailed(error);
    });
    await caughtUp.promise;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#stream?.close();
    await this.#running;
  }

  /** At the newest block that fold and chain share, else where following begins. */
  async #open(): Promise<void> {
    const { node, policy } = this.#deps;
    const points = chainPoints(node.fold.store);
    const found = points.length === 0 ? null : await this.#openAt(points);
    if (this.#stopping) return;
    if (found !== null) {
      this.#stream = new StreamReader(found);
      return;
    }
    const { start } = policy;
    if (!isYoung(points, start)) throw new Error(otherChain(points[0]));
    const first = await this.#openAt(start === null ? [] : [start]);
    if (this.#stopping) return;
    if (first === null) throw new Error(unknownStart(start));
    this.#stream = new StreamReader(first);
    await this.#undo(null);
  }

  /** null also when stopped. */
  #openAt(points: readonly Point[]): Promise<ChainStream | null> {
    return openUnless(this.#deps.source, points, this.#stop.signal);
  }

  get #stopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /** What waits in the mempool is told after all blocks there are. */
  async #run(caughtUp: () => void): Promise<void> {
    const { clock } = this.#deps;
    while (!this.#stopping) {
      const event = (await this.#stream?.next(this.#patienceMs(), clock)) ?? null;
      if (event === 'quiet' || event?.kind === 'forward') {
        await (event === 'quiet' ? this.#whenQuiet() : this.#take(event.block));
        if (this.#isDeaf && this.#batch === null && !this.#isLate()) await this.#reopen();
      } else {
        await this.#append();
        if (event === null) break;
        if (event.kind === 'back') await this.#goBack(event.point);
        else {
          await this.#followMempool(event);
          caughtUp();
        }
      }
    }
    caughtUp();
  }

  /** How long the next event may let wait what has to be done without one. */
  #patienceMs(): number {
    const { node, policy, clock } = this.#deps;
    if (this.#batch !== null) return QUIET_MS;
    if (!policy.timeEntries) return Number.POSITIVE_INFINITY;
    const overMs = minuteOverMs(node.fold, policy.finalGraceMs);
    return Math.min(Math.max(QUIET_MS, overMs - clock.nowMs()), LOOK_MS);
  }

  async #whenQuiet(): Promise<void> {
    const { node, writer, clock, policy } = this.#deps;
    if (this.#batch !== null) return this.#append();
    if (!policy.timeEntries || !this.#isAtTip()) return;
    const { finalGraceMs } = policy;
    const nowMs = clock.nowMs();
    const newestMs = chainTip(node.fold.store)?.timeMs ?? 0;
    if (nowMs > newestMs + finalGraceMs + PRESENT_MS) return;
    if (nowMs < minuteOverMs(node.fold, finalGraceMs)) return;
    await node.reached(await writer.append(passedMinutes(node.fold, nowMs, finalGraceMs)));
  }

  /** While blocks are missing, their times say what has ended. */
  #isAtTip(): boolean {
    const { node, tip } = this.#deps;
    const newest = chainTip(node.fold.store);
    return newest !== null && newest.hash === tip()?.hash;
  }

  async #take(block: Block): Promise<void> {
    const { node, rules, clock, tip } = this.#deps;
    this.#isReopened = false;
    if (this.#lagGuard.isActive) return this.#whileBehind(block);
    if (this.#batch === null) {
      this.#batch = new BlockBatch(node.fold, rules, this.#pending);
      this.#batchMs = clock.monotonicMs();
    }
    const batch = this.#batch;
    const toCome = (tip()?.height ?? 0) - block.height;
    batch.add(block, toCome > KEPT_POINTS);
    if (toCome <= 0 || batch.isFull) return this.#append();
    const nowMs = clock.monotonicMs();
    if (nowMs > this.#batchMs + BATCH_MS) return this.#append();
    if (nowMs < this.#turnMs + SLICE_MS) return;
    await nextTurn(clock);
    this.#turnMs = clock.monotonicMs();
  }

  /** What is in hand, if anything. */
  async #append(): Promise<void> {
    const batch = this.#batch;
    this.#batch = null;
    if (batch === null) return;
    const { node, writer, overlay } = this.#deps;
    await node.reached(await writer.append(batch.drafts()));
    overlay?.confirm(batch.transactions, batch.slot);
    this.#observer.chainFollowed(batch.height ?? 0, batch.transactions.length, batch.events);
  }

  /** Told at once: what a client sent shows before it is in a block. */
  async #followMempool(event: MempoolEvent): Promise<void> {
    if (this.#isLate()) {
      // Without the blocks that are missing it cannot be understood; a new stream tells it again.
      this.#isDeaf = true;
      return;
    }
    const { node, writer, clock, policy, overlay, isShared = false } = this.#deps;
    overlay?.apply(event);
    const { mempool, marketMs } = node.fold;
    const seenMs = chainClock(policy, clock, () => marketMs).nowMs();
    const payload = this.#pending.apply(event, seenMs, mempool);
    if (payload !== null) {
      const pieces = isShared ? splitMempool(payload) : [payload];
      const drafts = pieces.map((piece) => ({ timeMs: marketMs, payload: piece }));
      await node.reached(await writer.append(drafts));
    }
    overlay?.markShown(event.added);
  }

  /** null: before the chain's first block. */
  async #goBack(point: Point | null): Promise<void> {
    const { node, policy } = this.#deps;
    const { store } = node.fold;
    if (chainTip(store)?.hash === point?.hash) return;
    if (point === null || point.hash === policy.start?.hash) return this.#undo(null);
    const known = findPoint(store, point);
    if (known !== null) return this.#undo(known);
    if (this.#lagGuard.isActive) return; // Inside a fork of which the log has nothing.
    if (this.#isReopened) throw new Error(unknownPoint(point));
    // Inside a run of blocks that were passed, say: the chain is asked for what it and we have.
    this.#isReopened = true;
    await this.#reopen();
  }

  /** `known` is where our node went back to; among several nodes it may only be late. */
  async #undo(known: PointRecord | null): Promise<void> {
    const { node, policy, isShared = false } = this.#deps;
    const tip = chainTip(node.fold.store);
    if (!isShared || policy.believesShorter || tip === null) return this.#rewind(known);
    if (!this.#lagGuard.isActive) this.#observer.nodeBehind(known?.height ?? 0, tip.height);
    this.#lagGuard.start(known);
  }

  /** The blocks come again in a new stream, which is told what to look for from there. */
  async #whileBehind(block: Block): Promise<void> {
    const { sharedPoint: at } = this.#lagGuard;
    const found = this.#lagGuard.check(block, this.#deps.node.fold.store);
    if (found === 'late') return;
    if (found === 'other') await this.#rewind(at);
    await this.#reopen();
  }

  async #reopen(): Promise<void> {
    this.#isDeaf = false;
    this.#lagGuard.end();
    await this.#stream?.close();
    await this.#open();
  }

  #isLate(): boolean {
    const { tip, node } = this.#deps;
    const newest = tip()?.height ?? 0;
    const isFar = newest > (chainTip(node.fold.store)?.height ?? 0) + FAR_BLOCKS;
    return isFar || this.#lagGuard.isActive;
  }

  async #rewind(known: PointRecord | null): Promise<void> {
    const tip = chainTip(this.#deps.node.fold.store);
    if (tip === null) return;
    this.#pending.clear();
    this.#deps.overlay?.clear();
    await rollBackTo(known, this.#deps);
    const height = known?.height ?? 0;
    this.#observer.chainRolledBack(height, tip.height - height);
  }
}
