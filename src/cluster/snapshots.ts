/**
 * What a leader leaves for nodes that are new or far behind: every so many entries, and when an
 * epoch began, a copy of the state in the object store; the log keeps what follows the older of the
 * two newest.
 *
 * Never: two at once, or the end of anything when one fails: that is told, and tried again.
 * The copy is made in a thread.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type DataFiles, isDamaged, removeDatabase } from '../engine/actors/files.ts';
import type { Node } from '../engine/actors/node.ts';
import type { Log } from '../engine/log/port.ts';
import { type Clock, sleepUnless } from '../engine/runtime/clock.ts';
import { Failure } from '../engine/runtime/errors.ts';
import { epochNumber } from '../engine/runtime/position.ts';
import { copyState } from '../engine/store/copy.ts';
import type { Duty } from './leadership.ts';
import { type Snapshot, type SnapshotSet, snapshotOf } from './snapshotSet.ts';

export interface SnapshotsObserver {
  snapshotTaken(seq: number, trimmedTo: number, seconds: number): void;
  snapshotFailed(error: unknown): void;
}

export interface SnapshotsPlace {
  readonly node: Node;
  readonly log: Log;
  readonly files: DataFiles;
  readonly snapshots: SnapshotSet;
  readonly clock: Clock;
  /** Entries from one to the next. */
  readonly every: number;
  readonly retryMs?: number;
}

const KEPT = 2;
const RETRY_MS = 10_000;

export class Snapshots implements Duty {
  readonly #place: SnapshotsPlace;
  readonly #observer: SnapshotsObserver;
  readonly #stopAsked = Promise.withResolvers<void>();
  readonly #file: string;
  #stopping = false;
  #running: Promise<void> = Promise.resolve();
  #wake: () => void = () => {};

  constructor(place: SnapshotsPlace, observer: SnapshotsObserver) {
    this.#place = place;
    this.#observer = observer;
    const { directory } = place.files;
    this.#file = join(directory, 'snapshot-state.sqlite');
  }

  start(): void {
    const unlisten = this.#place.node.onApplied(() => this.#wake());
    this.#running = this.#run().finally(unlisten);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#stopAsked.resolve();
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, retryMs = RETRY_MS } = this.#place;
    let newest: Snapshot | null | undefined;
    while (!this.#stopping) {
      try {
        // First what a leader before us may have left undone.
        if (newest === undefined) newest = await this.#tidy();
        else if (this.#isDue(newest)) newest = await this.#take();
        else await this.#applied();
      } catch (error) {
        // What it left is looked at first, too.
        newest = undefined;
        this.#observer.snapshotFailed(error);
        await sleepUnless(clock, retryMs, this.#stopAsked.promise);
      } finally {
        this.#removeFiles();
      }
    }
  }

  #isDue(newest: Snapshot | null): boolean {
    const { node, every } = this.#place;
    const { epoch, seq } = node.applied();
    // A log that does not begin at the beginning starts with the state of before.
    if (newest === null) return seq >= every || epochNumber(epoch) > 1;
    const { checkpoint } = newest;
    return checkpoint.epoch !== epoch || seq - checkpoint.seq >= every;
  }

  #applied(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#stopping) resolve();
    });
  }

  async #take(): Promise<Snapshot> {
    const { node, files, snapshots, clock } = this.#place;
    const startMs = clock.monotonicMs();
    if (isDamaged(files)) throw new Error('pools are quarantined: no other node should have that');
    this.#removeFiles();
    await node.fold.store.commit();
    const { checkpoint } = await copyState({ from: files.state, to: this.#file });
    if (checkpoint === null) throw new Error('nothing was committed yet');
    const snapshot = snapshotOf(checkpoint);
    orThrow(await snapshots.put(snapshot, this.#file));
    await this.#tidy();
    const first = await this.#place.log.first();
    const seconds = (clock.monotonicMs() - startMs) / 1000;
    this.#observer.snapshotTaken(checkpoint.seq, first, seconds);
    return snapshot;
  }

  /** Keeps the newest two, and of the log what the older one needs; answers the newest. */
  async #tidy(): Promise<Snapshot | null> {
    const { snapshots, log } = this.#place;
    const kept = orThrow(await snapshots.keepNewest(KEPT));
    // The entry of a state stays: by it a node sees that the log is the same.
    if (kept.length === KEPT)
      await log.trim(Math.min(...kept.map(({ checkpoint }) => checkpoint.seq)));
    return kept[0] ?? null;
  }

  #removeFiles(): void {
    removeDatabase(this.#file);
    rmSync(`${this.#file}-journal`, { force: true });
  }
}

function orThrow<T>(result: T | Failure): T {
  if (result instanceof Failure) throw new Error(result.message);
  return result;
}
