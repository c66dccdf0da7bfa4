/**
 * Follows a chain and writes it into the log: blocks as market events, roll-backs as what they are,
 * and what waits in the mempool.
 *
 * Runs on the leader only. Where it goes on from, and what a transaction means, are read from the
 * fold, so the block before must be applied first; what waits is told anew by every stream.
 *
 * Nothing is lost: a block is asked for again until its entry is in the log.
 */

import { CHAIN_START, TIP } from '../actors/chainRows.ts';
import type { Node } from '../actors/node.ts';
import { Passage } from '../actors/passage.ts';
import { nextEpoch } from '../actors/recovery.ts';
import { toHex } from '../cardano/hex.ts';
import type { Log } from '../log/port.ts';
import type { LogWriter } from '../log/writer.ts';
import { assert } from '../runtime/assert.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Rng } from '../runtime/rng.ts';
import { type PointRecord, readRecord } from '../store/records.ts';
import { foldMarket } from './foldMarket.ts';
import { inPieces } from './mempoolPieces.ts';
import type { Block, ChainEvent, ChainSource, ChainStream, Point } from './port.ts';
import { recogniseBlock } from './recognise/block.ts';
import type { Rules } from './recognise/rules.ts';
import { Waiting } from './waiting.ts';

export interface FollowerPlace {
  readonly source: ChainSource;
  readonly node: Node;
  readonly writer: LogWriter;
  readonly log: Log;
  readonly rules: Rules;
  readonly rng: Rng;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Entries hold the transactions themselves, so that other nodes can have the chain from them. */
  readonly withRaw?: boolean;
}

export interface FollowerObserver {
  chainFollowed(height: number, transactions: number, events: number): void;
  chainRolledBack(toHeight: number, blocks: number): void;
  followerFailed(error: unknown): void;
}

const MAX_POINTS = 2161;

export class Follower {
  readonly #place: FollowerPlace;
  readonly #observer: FollowerObserver;
  readonly #waiting: Waiting;
  #stream: ChainStream | null = null;
  #running: Promise<void> = Promise.resolve();
  #stopping = false;
  #failed = false;

  constructor(place: FollowerPlace, observer: FollowerObserver) {
    const { node, rules, withRaw = false } = place;
    this.#place = place;
    this.#observer = observer;
    this.#waiting = new Waiting(() => foldMarket(node.fold.store), rules, { withRaw });
  }

  /** What is served is right but no longer new. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Resolves once the log has what the chain has now; more follows by itself. */
  async start(): Promise<void> {
    const { source, node, writer } = this.#place;
    await node.reached(writer.tail.seq);
    const points = this.#points();
    const stream = await source.open(points);
    if (stream === null) await this.#rollBackTo(null);
    this.#stream = stream ?? (await source.open([]));
    if (this.#stream === null) throw new Error('the chain cannot be followed from its beginning');
    const caughtUp = Promise.withResolvers<void>();
    this.#running = this.#run(this.#stream, caughtUp.resolve).catch((error: unknown) => {
      caughtUp.reject(error);
      if (this.#stopping) return;
      this.#failed = true;
      this.#observer.followerFailed(error);
    });
    await caughtUp.promise;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#stream?.close();
    await this.#running;
  }

  /** What waits in the mempool is told after all blocks there are. */
  async #run(stream: ChainStream, caughtUp: () => void): Promise<void> {
    while (!this.#stopping) {
      const event = await stream.next();
      if (event === null) return caughtUp();
      if (event.kind === 'forward') await this.#follow(event.block);
      else if (event.kind === 'back') await this.#rollBackTo(event.point);
      else {
        await this.#followMempool(event);
        caughtUp();
      }
    }
  }

  async #follow(block: Block): Promise<void> {
    const { node, writer, rules, withRaw } = this.#place;
    const { fold } = node;
    const { point, height, transactions } = block;
    const tip = this.#tip();
    assert(tip === null || height === tip.height + 1, `block ${height} follows ${tip?.height}`);
    const events = recogniseBlock(point.slot, transactions, foldMarket(fold.store), rules);
    const passage = new Passage(fold);
    const drafts = passage.endsUpTo(block.timeMs);
    // Market time never goes back but in a roll-back; the block keeps its own moment.
    const timeMs = Math.max(passage.marketMs, block.timeMs);
    drafts.push(...passage.startAt(timeMs));
    const met = this.#waiting.settle(transactions, fold.mempool);
    const raw = withRaw === true ? { raw: transactions.map(({ bytes }) => toHex(bytes)) } : {};
    const chain = { slot: point.slot, hash: point.hash, height, events, ...met, ...raw };
    const payload = { kind: 'block', atMs: block.timeMs, trades: [], chain } as const;
    drafts.push({ timeMs, payload });
    await node.reached(await writer.append(drafts));
    this.#observer.chainFollowed(height, transactions.length, events.length);
  }

  /** Told at once: what a client sent shows before it is in a block. */
  async #followMempool(event: Extract<ChainEvent, { kind: 'mempool' }>): Promise<void> {
    const { node, writer, clock, withRaw } = this.#place;
    const { mempool, marketMs } = node.fold;
    const payload = this.#waiting.take(event, clock.nowMs(), mempool);
    if (payload === null) return;
    const pieces = withRaw === true ? inPieces(payload) : [payload];
    const drafts = pieces.map((piece) => ({ timeMs: marketMs, payload: piece }));
    await node.reached(await writer.append(drafts));
  }

  /** null: before the chain's first block. */
  async #rollBackTo(point: Point | null): Promise<void> {
    const tip = this.#tip();
    if (tip === null || tip.hash === point?.hash) return;
    this.#waiting.forget();
    const { node, writer, rng } = this.#place;
    const { store } = node.fold;
    const known = point === null ? null : (this.#find(point) ?? null);
    if (point !== null && known === null) {
      throw new Error(`the chain went back to ${point.slot}.${point.hash}, which is unknown here`);
    }
    const toSeq = known?.seq ?? Number(store.get('market', CHAIN_START) ?? 1);
    const timeMs = known?.timeMs ?? 0;
    if (toSeq >= store.horizonSeq) {
      await node.reached(await writer.append([{ timeMs, payload: { kind: 'rollback', toSeq } }]));
    } else {
      await this.#checkReach(toSeq);
      const payload = { kind: 'epoch', reason: 'rollback', base: { seq: toSeq } } as const;
      const epoch = nextEpoch(node.applied().epoch, rng);
      await node.reached(await writer.append([{ timeMs, payload }], epoch));
    }
    const height = known?.height ?? 0;
    this.#observer.chainRolledBack(height, tip.height - height);
  }

  /** Nothing is written that no start could make a state of. */
  async #checkReach(toSeq: number): Promise<void> {
    if (toSeq >= (await this.#place.log.first())) return;
    const what = 'the chain went back to before what the log still holds';
    throw new Error(`${what}: remove log.sqlite and state.sqlite from DATA_DIR and start again`);
  }

  #tip(): PointRecord | null {
    const text = this.#place.node.fold.store.get('market', TIP);
    return text === null ? null : readRecord<PointRecord>(text);
  }

  /** Blocks that the fold can go back to, newest first. */
  #points(): PointRecord[] {
    const rows = this.#place.node.fold.store.withPrefix('points', '', MAX_POINTS + 1);
    return rows.map(({ value }) => readRecord<PointRecord>(value)).reverse();
  }

  #find(point: Point): PointRecord | undefined {
    return this.#points().find(({ hash }) => hash === point.hash);
  }
}
