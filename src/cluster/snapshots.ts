/**
 * What a leader leaves for nodes that are new or far behind: every so many entries, and when an
 * epoch began, a copy of state and ledger in the object store; the log keeps what follows the older
 * of the two newest. On a real chain a copy of the state alone.
 *
 * The state is copied first, at some entry; the ledger after it is then ahead of it and has the
 * state's newest block, unless the chain went back between: then the pair is given up. So whatever
 * the log says later, the first block that such a ledger lacks comes after the state's entry.
 *
 * Never: two at once, or the end of anything when one fails: that is told, and tried again.
 * Both copies are made in threads; the ledger answers nothing while its own is made.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isOnChain } from '../chain/onChain.ts';
import type { Point } from '../chain/port.ts';
import type { EmulatedChain } from '../devnet/emulated.ts';
import { type DataFiles, isDamaged, removeDatabase } from '../engine/actors/files.ts';
import type { Node } from '../engine/actors/node.ts';
import type { Log } from '../engine/log/port.ts';
import { type Clock, sleepUnless } from '../engine/runtime/clock.ts';
import { Failure } from '../engine/runtime/errors.ts';
import { epochNumber } from '../engine/runtime/position.ts';
import { copyState } from '../engine/store/copy.ts';
import type { Duty } from './leadership.ts';
import { type Pair, type PairFiles, type Pairs, pairOf } from './pairs.ts';

export interface SnapshotsObserver {
  snapshotTaken(seq: number, trimmedTo: number, seconds: number): void;
  snapshotFailed(error: unknown): void;
}

export interface SnapshotsPlace {
  readonly node: Node;
  readonly log: Log;
  /** null: the chain is made elsewhere. */
  readonly ledger: Pick<EmulatedChain, 'snapshot' | 'open'> | null;
  readonly files: DataFiles;
  readonly pairs: Pairs;
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
  readonly #files: PairFiles;
  #stopping = false;
  #running: Promise<void> = Promise.resolve();
  #wake: () => void = () => {};

  constructor(place: SnapshotsPlace, observer: SnapshotsObserver) {
    this.#place = place;
    this.#observer = observer;
    const { directory } = place.files;
    this.#files = {
      state: join(directory, 'snapshot-state.sqlite'),
      ledger: place.ledger === null ? null : join(directory, 'snapshot-ledger.sqlite'),
    };
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
    let newest: Pair | null | undefined;
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

  #isDue(newest: Pair | null): boolean {
    const { node, every } = this.#place;
    const { epoch, seq } = node.applied();
    // A log that does not begin at the beginning has the state of before, and no ledger.
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

  async #take(): Promise<Pair> {
    const { node, files, pairs, clock } = this.#place;
    const startMs = clock.monotonicMs();
    if (isDamaged(files)) throw new Error('pools are quarantined: no other node should have that');
    this.#removeFiles();
    await node.fold.store.commit();
    const copy = await copyState({ from: files.state, to: this.#files.state });
    const { checkpoint, newestBlock } = copy;
    if (checkpoint === null) throw new Error('nothing was committed yet');
    await this.#copyLedger(newestBlock);
    const pair = pairOf(checkpoint, this.#files.ledger !== null);
    orThrow(await pairs.put(pair, this.#files));
    await this.#tidy();
    const first = await this.#place.log.first();
    const seconds = (clock.monotonicMs() - startMs) / 1000;
    this.#observer.snapshotTaken(checkpoint.seq, first, seconds);
    return pair;
  }

  async #copyLedger(newestBlock: Point | null): Promise<void> {
    const { ledger } = this.#place;
    if (ledger === null || this.#files.ledger === null) return;
    orThrow(await ledger.snapshot(this.#files.ledger));
    const isBehind = newestBlock !== null && !(await isOnChain(ledger, newestBlock));
    if (isBehind) throw new Error('the chain went back meanwhile');
  }

  /** Keeps the newest two, and of the log what the older one needs; answers the newest. */
  async #tidy(): Promise<Pair | null> {
    const { pairs, log } = this.#place;
    const kept = orThrow(await pairs.keepNewest(KEPT));
    // The entry of a state stays: by it a node sees that the log is the same.
    if (kept.length === KEPT) await log.trim(Math.min(...kept.map((pair) => pair.checkpoint.seq)));
    return kept[0] ?? null;
  }

  #removeFiles(): void {
    const { state, ledger } = this.#files;
    for (const file of [state, ledger]) {
      if (file === null) continue;
      removeDatabase(file);
      rmSync(`${file}-journal`, { force: true });
    }
  }
}

function orThrow<T>(result: T | Failure): T {
  if (result instanceof Failure) throw new Error(result.message);
  return result;
}
