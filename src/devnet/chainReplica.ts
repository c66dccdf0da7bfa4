/**
 * Keeps the ledger of a node that does not lead where its fold is: the blocks of the leader and
 * what waits there, from the entries of the log, one by one, never further than they are applied.
 *
 * Assumes: entries have the transactions in them (`FollowerPlace.withRaw`). The ledger is a replica
 *          and nobody else works on it from `start` to `stop`; in between it may lead.
 * Blocks here that no log has (this node led, and died) are taken back at `start`.
 */

import { rangesBetween, SnapshotNeeded } from '../chain/lineage.ts';
import { CHAIN_START } from '../engine/actors/chainRows.ts';
import type { Node } from '../engine/actors/node.ts';
import type { SealedEntry } from '../engine/log/entry.ts';
import type { Log } from '../engine/log/port.ts';
import { assert } from '../engine/runtime/assert.ts';
import { type Clock, sleep } from '../engine/runtime/clock.ts';
import { type MempoolRecord, type PointRecord, readRecord } from '../engine/store/records.ts';
import { Copier, type CopyingLedger } from './copier.ts';
import type { EmulatedChain } from './emulated.ts';

export interface ReplicaPlace {
  readonly ledger: CopyingLedger & Pick<EmulatedChain, 'reconcile'>;
  readonly node: Node;
  readonly log: Log;
  readonly clock: Clock;
}

export interface ReplicaObserver {
  /** What this node says of the ledger is old from now on. */
  ledgerDiverged(error: unknown): void;
  /** The ledger's disk refuses; it is tried again until it does not. */
  ledgerStalled(message: string): void;
}

/** What the fold knew of the chain, all at one position. */
interface Known {
  readonly epoch: string;
  readonly seq: number;
  readonly hash: string;
  readonly term: number;
  /** Newest first. */
  readonly points: readonly PointRecord[];
  /** Entry before the first block. */
  readonly chainStart: number;
  /** What waits, in hex, in the order in which it came. */
  readonly waiting: readonly string[];
}

const READ = 512;
const MOST_POINTS = 2162;
const MOST_WAITING = 1_000_000;
const RETRY_MS = 500;

interface Waiter {
  readonly seq: number;
  resolve(): void;
  reject(error: Error): void;
}

export class LedgerReplica {
  readonly #place: ReplicaPlace;
  readonly #observer: ReplicaObserver;
  readonly #copier: Copier;
  #waiters: Waiter[] = [];
  #seq = 0;
  #hash = '';
  #running: Promise<void> = Promise.resolve();
  #isStopping = true;
  #fault: Error | null = null;
  #wake: () => void = () => {};

  constructor(place: ReplicaPlace, observer: ReplicaObserver) {
    this.#place = place;
    this.#observer = observer;
    this.#copier = new Copier(
      place.ledger,
      place.clock,
      (message) => observer.ledgerStalled(message),
      () => this.#isStopping,
    );
  }

  /** What the ledger says is old, and stays so: this has ended with a fault. */
  get failed(): boolean {
    return this.#fault !== null;
  }

  /**
   * Resolves once the ledger has what the fold had when this was called; more follows by itself.
   * Rejects with `SnapshotNeeded`, which says what to do, and with `LedgerDiverged`.
   */
  async start(): Promise<void> {
    assert(this.#isStopping, 'a replica is started once, and again after it stopped');
    this.#isStopping = false;
    this.#fault = null;
    const begun = this.#begin();
    this.#running = begun.catch(() => {});
    try {
      await begun;
    } catch (error) {
      this.#end(asError(error));
      throw error;
    }
    if (this.#isStopping) return;
    const unlisten = this.#place.node.onApplied(() => this.#wake());
    this.#running = this.#run()
      .catch((error: unknown) => this.#fail(error))
      .finally(unlisten);
  }

  /** After the call in hand; then the ledger may lead. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    await this.#running;
    this.#end(null);
  }

  /** Resolves once the ledger has what the fold had at `seq`; rejects when it never will. */
  reached(seq: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ seq, resolve, reject });
      if (this.#fault !== null) this.#end(this.#fault);
      else this.#tell();
    });
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const { seq } = this.#place.node.applied();
      if (seq !== this.#seq) await this.#advance(seq);
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  async #advance(to: number): Promise<void> {
    const { log } = this.#place;
    const entries = to < this.#seq ? [] : await log.read(this.#seq + 1, READ);
    const next = this.#chained(entries.filter(({ entry }) => entry.seq <= to));
    const last = next.at(-1);
    // The fold has changed to another log, or to a state that no entries of this one made.
    if (last === undefined) return this.#begin();
    for (const [index, { entry }] of next.entries()) {
      if (entry.payload.kind !== 'epoch') continue;
      await this.#takeAll(next.slice(0, index));
      return this.#changeEpoch(next[index]);
    }
    await this.#takeAll(next);
  }

  async #takeAll(entries: readonly SealedEntry[]): Promise<void> {
    const last = entries.at(-1);
    if (last === undefined) return;
    await this.#copier.take(entries);
    if (!this.#isStopping) this.#arrive(last.entry.seq, last.hash);
  }

  /** As a rollback to where the epoch begins, when that is a place of this log. */
  async #changeEpoch(sealed: SealedEntry | undefined): Promise<void> {
    const payload = sealed?.entry.payload;
    const base = payload?.kind === 'epoch' ? payload.base : undefined;
    if (sealed === undefined || base === undefined || base.seq > this.#seq) return this.#begin();
    await this.#copier.goBackTo(base.seq);
    if (!this.#isStopping) this.#arrive(sealed.entry.seq, sealed.hash);
  }

  /** Those that follow what was taken last. */
  #chained(entries: readonly SealedEntry[]): readonly SealedEntry[] {
    let [seq, hash] = [this.#seq, this.#hash];
    for (const [index, { entry, hash: own }] of entries.entries()) {
      const isNext = entry.seq === seq + 1;
      const follows = entry.payload.kind === 'epoch' || entry.prevEntryHash === hash;
      if (!isNext || !follows) return entries.slice(0, index);
      [seq, hash] = [entry.seq, own];
    }
    return entries;
  }

  /** Wherever the ledger is, to where the fold is; anew where an epoch began meanwhile. */
  async #begin(): Promise<void> {
    for (let known = this.#known(); ; known = this.#known()) {
      try {
        return await this.#catchUp(known);
      } catch (error) {
        if (this.#place.node.applied().epoch === known.epoch) throw error;
      }
    }
  }

  async #catchUp(known: Known): Promise<void> {
    const { points, chainStart } = known;
    const common = await this.#reconcile(points);
    const after = points.find(({ hash }) => hash === common?.hash)?.seq ?? chainStart;
    // What follows the newest block is the mempool's, which the fold has: a log may begin there.
    // And what lies between two blocks that follow each other was undone: it may be gone, too.
    const next = points.findLast(({ seq }) => seq > after);
    const ranges =
      next === undefined ? [] : await rangesBetween(next.seq - 1, known.seq, this.#place.log);
    const blocks = points.filter(({ seq }) => seq <= after).toReversed();
    this.#copier.begin(common === null ? [] : blocks.map(copied), known.term);
    for (const { from, to } of ranges) await this.#replay(from, to);
    await this.#copier.setMempool(known.waiting);
    if (!this.#isStopping) this.#arrive(known.seq, known.hash);
  }

  async #replay(from: number, to: number): Promise<void> {
    for (let next = from; next <= to && !this.#isStopping; ) {
      const entries = await this.#place.log.read(next, Math.min(READ, to - next + 1));
      const last = entries.at(-1)?.entry.seq;
      if (last === undefined) throw new SnapshotNeeded(`entry ${next} is no longer in the log`);
      await this.#copier.take(entries);
      next = last + 1;
    }
  }

  async #reconcile(points: readonly PointRecord[]): Promise<{ readonly hash: string } | null> {
    const { ledger, clock } = this.#place;
    const oldest = points.at(-1);
    const reachesStart = oldest === undefined || oldest.height === 1;
    const asked = points.map(({ slot, hash }) => ({ slot, hash }));
    for (let attempt = 1; ; attempt += 1) {
      const found = await ledger.reconcile(asked, reachesStart);
      if (found.outcome === 'common') return found.point;
      if (found.outcome === 'none') {
        throw new SnapshotNeeded(
          'the ledger has none of the blocks that the log can go back to: ' +
            "replace ledger.sqlite by a snapshot of another node's",
        );
      }
      if (attempt === 1) this.#observer.ledgerStalled(found.message);
      if (this.#isStopping) throw new Error(found.message);
      await sleep(clock, RETRY_MS);
    }
  }

  #known(): Known {
    const { store } = this.#place.node.fold;
    const { epoch = '', seq = 0, entryHash: hash = '', term = 0 } = store.checkpoint ?? {};
    const rows = store.withPrefix('points', '', MOST_POINTS);
    const points = rows.map(({ value }) => readRecord<PointRecord>(value)).reverse();
    const waiting = store
      .withPrefix('mempool', '', MOST_WAITING)
      .map(({ value }) => readRecord<MempoolRecord>(value))
      .sort((a, b) => (a.place < b.place ? -1 : 1))
      .flatMap(({ raw }) => raw ?? []);
    const chainStart = Number(store.get('market', CHAIN_START) ?? seq);
    return { epoch, seq, hash, term, points, chainStart, waiting };
  }

  #arrive(seq: number, hash: string): void {
    [this.#seq, this.#hash] = [seq, hash];
    this.#tell();
  }

  #tell(): void {
    if (this.#isStopping) return;
    const isReached = (waiter: Waiter) => waiter.seq <= this.#seq;
    for (const waiter of this.#waiters.filter(isReached)) waiter.resolve();
    this.#waiters = this.#waiters.filter((waiter) => !isReached(waiter));
  }

  #fail(error: unknown): void {
    if (this.#isStopping) return;
    this.#end(asError(error));
    this.#observer.ledgerDiverged(error);
  }

  #end(fault: Error | null): void {
    this.#isStopping = true;
    this.#fault = fault;
    const error = fault ?? new Error('the copy of the ledger was stopped');
    for (const { reject } of this.#waiters) reject(error);
    this.#waiters = [];
  }
}

function copied({ seq, height, slot, hash }: PointRecord) {
  return { seq, head: { height, slot, hash } };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
