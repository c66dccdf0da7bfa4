/**
 * The node's run loop. Its mailbox is the log: in order, whole entries, as many as it asks for.
 *
 * Order, always: appended and acknowledged, applied in memory, published, committed behind.
 * Readers (requests, flushes) run between batches, so all they see is at `applied()`.
 */

import { Fold } from '../fold/fold.ts';
import type { EpochBase, SealedEntry } from '../log/entry.ts';
import type { Log } from '../log/port.ts';
import { type DataFiles, damagedPairs, isDamaged, markDamaged } from '../recovery/dataFiles.ts';
import { hasBase, isNewEpoch, readContinuation } from '../recovery/logContinuity.ts';
import { isAtBase } from '../recovery/recovery.ts';
import { isFault } from '../runtime/assert.ts';
import { type Clock, nextTurn } from '../runtime/clock.ts';
import { hasReached, type Position } from '../runtime/position.ts';
import { Task } from '../runtime/task.ts';
import { isDamage } from '../store/damage.ts';
import { StateStore } from '../store/state.ts';
import { threadWriter } from '../store/stateWriter.ts';
import { Committer } from './committer.ts';
import { type AppliedListener, FoldListeners, type TopicHub } from './foldListeners.ts';
import type { NodeObserver, NodeOptions } from './nodeOptions.ts';
import { StateRepair, StateReplacement } from './stateReplacement.ts';
import { UnfitEntries } from './unfitEntries.ts';

const READ = 512;
const SLICE_MS = 2;

export class Node {
  readonly #log: Log;
  readonly #files: DataFiles;
  readonly #clock: Clock;
  readonly #options: NodeOptions;
  readonly #observer: NodeObserver;
  readonly #listeners = new FoldListeners();
  #fold: Fold;
  #hub: TopicHub | null = null;
  readonly #folding: Task;
  #failed = false;
  #diverged = false;
  #syncedTo: number;
  readonly #committer: Committer;
  readonly #replacement: StateReplacement;
  #adopted: SealedEntry | null = null;
  #mayRejoin = false;
  readonly #repair: StateRepair;
  readonly #unfit = new UnfitEntries(() => this.#isShared);
  /** An entry could not be applied: the state in memory may lack part of it. */
  #halfApplied = false;

  /** `store` is recovered; `syncedTo` is the tail to be reached before reads are served. */
  constructor(
    store: StateStore,
    syncedTo: number,
    log: Log,
    files: DataFiles,
    clock: Clock,
    options: NodeOptions,
    observer: NodeObserver,
  ) {
    this.#log = log;
    this.#files = files;
    this.#clock = clock;
    this.#options = options;
    this.#observer = observer;
    this.#folding = new Task({ clock, failed: (error) => this.#foldFailed(error) });
    this.#syncedTo = syncedTo;
    this.#fold = new Fold(store, this.#foldOptions());
    this.#fold.keepQuarantined(damagedPairs(files));
    this.#committer = new Committer(clock, observer, options.commitEveryMs, () => {
      return this.#fold.store;
    });
    const rebuilding = { ...options, ...this.#foldOptions(), clock };
    this.#repair = new StateRepair(log, files, rebuilding, observer);
    this.#replacement = new StateReplacement(log, files, rebuilding, this.#committer);
  }

  /** The fold in force; ask again after every await, a new epoch replaces it. */
  get fold(): Fold {
    return this.#fold;
  }

  applied(): Position {
    const checkpoint = this.#fold.store.checkpoint;
    return { epoch: checkpoint?.epoch ?? '0-none', seq: checkpoint?.seq ?? 0 };
  }

  /**
   * Position of the log's last entry, asked of its file, or of the leader of its stream. null:
   * there is none, or this node is ahead of it, so a new epoch is about to begin.
   */
  async logEnd(): Promise<Position | null> {
    const { epoch, seq } = await this.#log.last();
    const end = epoch === null ? null : { epoch, seq };
    return end === null || !hasReached(end, this.applied()) ? null : end;
  }

  stateHash(): string {
    return this.#fold.store.checkpoint?.stateHash ?? '';
  }

  /** Entry after which the state hash was taken. */
  hashedSeq(): number {
    return this.#fold.store.checkpoint?.hashedSeq ?? 0;
  }

  synced(): boolean {
    return (
      !this.#failed && !this.#halfApplied && !this.#diverged && this.applied().seq >= this.#syncedTo
    );
  }

  onApplied(listener: AppliedListener): () => void {
    return this.#listeners.add(listener);
  }

  /**
   * Resolves once `seq` is applied (of `epoch`, if given, or later). Rejects if the fold stops
   * before it, if the log does not continue this state, and if the caller gives up.
   */
  reached(seq: number, givenUp?: AbortSignal, epoch?: string): Promise<void> {
    const isStuck = () => this.#diverged && this.#adopted === null;
    const isStopped = () => this.#failed || this.#folding.isStopping || isStuck();
    const isDone = () => hasReached(this.applied(), { epoch: epoch ?? this.applied().epoch, seq });
    return this.#listeners.until(isDone, isStopped, `entry ${seq}`, givenUp);
  }

  start(hub: TopicHub): void {
    this.#hub = hub;
    this.#folding.start(() => this.#run());
  }

  /** Why the disk does not take the state, while it refuses; null: it does. */
  get diskRefusal(): string | null {
    return this.#committer.refusal;
  }

  /**
   * A row cannot be read: makes a new state from the log beside the present one and switches to it.
   * Among several nodes, the next start does this: their log may have lost its beginning.
   */
  repair(error: unknown): void {
    if (this.#folding.isStopping || this.#failed) return;
    if (this.#isShared) this.repairAtNextStart(error);
    else
      void this.#repair.makeReplacement(error, this.applied().seq).then(() => this.#folding.wake());
  }

  repairAtNextStart(error: unknown): void {
    if (!isDamaged(this.#files)) markDamaged(this.#files, 'state', error);
  }

  get #isShared(): boolean {
    return this.#options.shared !== undefined;
  }

  get hasDiverged(): boolean {
    return this.#diverged;
  }

  /** Switches to an epoch that starts from another state; `sealed` is its first entry. */
  switchEpoch(sealed: SealedEntry): void {
    if (this.#unfit.reasonOf(sealed) !== null) return;
    this.#adopted = sealed;
    this.#folding.wake();
  }

  /** Continues from a snapshot, if there is one, once the log has lost this state's next entry. */
  rejoin(): void {
    this.#mayRejoin = true;
    this.#folding.wake();
  }

  /** Stops after the batch in hand, writes the staged rows, closes log and state. */
  async stop(): Promise<void> {
    const ended = this.#folding.stop();
    this.#committer.stop();
    this.#listeners.notify();
    await this.#repair.cancel();
    await this.#log.close();
    await ended;
    await this.#committer.idle();
    // If the disk still refuses, nothing is lost: the next start folds the log from there.
    await this.#fold.store.commit().catch((error: unknown) => {
      this.#observer.commitFailed(error, 1, 0);
    });
    await this.#fold.store.close();
  }

  async #run(): Promise<void> {
    while (!this.#folding.isStopping) {
      try {
        await this.#step();
      } catch (error) {
        // Others write this log: their entries, or a stranger's, must not end this node.
        if (!this.#isShared || !isFault(error, 'unreadableEntry', 'unfitEntry')) throw error;
        this.#adopted = null;
        this.#setDiverged(error.message);
        if (isFault(error, 'unfitEntry')) await this.#reopen();
        await this.#untilWoken();
      }
    }
  }

  #foldFailed(error: unknown): void {
    if (isFault(error, 'interrupted')) return;
    this.#failed = true;
    this.#observer.foldFailed(error);
    this.#listeners.notify();
  }

  async #step(): Promise<void> {
    const adopted = this.#adopted;
    if (adopted !== null) {
      if (adopted.entry.epoch !== this.applied().epoch) await this.#changeEpoch(adopted);
      if (this.#adopted === adopted) this.#adopted = null;
      return;
    }
    if (this.#mayRejoin) await this.#rejoin();
    if (this.#repair.isReady) await this.#takeRepaired();
    const seq = this.applied().seq + 1;
    const { checkpoint } = this.#fold.store;
    const next = await readContinuation(this.#log, checkpoint, READ, this.#isShared);
    const reason = next.entries === null ? next.reason : this.#unfit.reasonOf(next.entries[0]);
    this.#setDiverged(reason);
    if (next.entries === null || reason !== null) await this.#untilWoken();
    else if (next.entries.length > 0) await this.#applyOrRepair(next.entries);
    else {
      void this.#log.reached(seq).then(() => this.#folding.wake());
      await this.#untilWoken();
    }
  }

  /** By the log, `adopt`, `rejoin`, a repair or `stop`; at once if one of these is pending. */
  async #untilWoken(): Promise<void> {
    const isPending = this.#adopted !== null || this.#mayRejoin || this.#repair.isReady;
    if (!isPending) await this.#folding.untilWoken();
  }

  /** null: it has not. */
  #setDiverged(reason: string | null): void {
    if (this.#diverged === (reason !== null)) return;
    this.#diverged = reason !== null;
    if (reason !== null) this.#options.shared?.diverged(reason);
    this.#listeners.notify();
  }

  async #rejoin(): Promise<void> {
    this.#mayRejoin = false;
    if (!this.#diverged || !(await this.#replacement.useSnapshot(this.#fold.store))) return;
    this.#openState([]);
    this.#hub?.epochChanged();
    this.#listeners.notify();
  }

  /** An entry that meets an unreadable row is applied to the state that is made again. */
  async #applyOrRepair(entries: readonly SealedEntry[]): Promise<void> {
    try {
      await this.#applyAll(entries);
    } catch (error) {
      if (!isDamage(error) || this.#isShared) throw error;
      this.#halfApplied = true;
      await this.#repair.makeReplacement(error, this.applied().seq);
      if (!this.#repair.isReady || !(await this.#takeRepaired())) throw error;
      this.#halfApplied = false;
    }
  }

  /** False: it could not be brought to where this node is. */
  async #takeRepaired(): Promise<boolean> {
    const { store } = this.#fold;
    const repaired = await this.#repair.takeReplacement(store.checkpoint?.seq ?? 0);
    if (repaired === null) return false;
    const { broken, startedMs } = repaired;
    await this.#replacement.useRebuilt(store, broken);
    this.#openState([...broken.keys()]);
    this.#observer.stateRebuilt((this.#clock.monotonicMs() - startedMs) / 1000);
    this.#hub?.epochChanged();
    this.#listeners.notify();
    return true;
  }

  /** Applies in slices of at most 2 ms, each published whole. */
  async #applyAll(entries: readonly SealedEntry[]): Promise<void> {
    let index = 0;
    while (index < entries.length && !this.#folding.isStopping) {
      const sealed = entries[index];
      if (sealed !== undefined && isNewEpoch(sealed, this.applied())) {
        return this.#changeEpoch(sealed);
      }
      // A rollback reads committed rows, so the rows before it are committed first.
      if (sealed?.entry.payload.kind === 'rollback') await this.#committer.commitNow();
      if (!this.#folding.isStopping) {
        index = this.#fold.store.atOnce(() => this.#applySlice(entries, index));
      }
      await this.#committer.commitWhenDue();
      await nextTurn(this.#clock);
    }
  }

  /** From `index` on, until the slice is over or an entry needs preparation; the next index. */
  #applySlice(entries: readonly SealedEntry[], index: number): number {
    const tags = new Set<string>();
    const startMs = this.#clock.monotonicMs();
    let nowMs = startMs;
    let next = index;
    do {
      const sealed = entries[next];
      if (sealed === undefined) break;
      const { kind } = sealed.entry.payload;
      if (next > index && (kind === 'rollback' || kind === 'epoch')) break;
      if (sealed.entry.seq > this.applied().seq) this.#apply(sealed, tags);
      next += 1;
      nowMs = this.#clock.monotonicMs();
    } while (nowMs - startMs < SLICE_MS);
    this.#observer.batchApplied(next - index, (nowMs - startMs) / 1000);
    this.#observer.entryAt?.('applied', this.applied().seq);
    this.#hub?.applied(tags);
    this.#listeners.notify(tags);
    return next;
  }

  #apply(sealed: SealedEntry, tags: Set<string>): void {
    const { seq, payload } = sealed.entry;
    try {
      this.#fold.apply(sealed, tags);
    } catch (error) {
      throw this.#unfit.refuse(sealed, error);
    }
    if (payload.kind === 'rollback') this.#observer.rollbackApplied(seq - 1 - payload.toSeq);
  }

  #changeEpoch(sealed: SealedEntry): Promise<void> {
    return this.#switchTo(sealed).catch((error: unknown) => {
      throw this.#unfit.refuse(sealed, error);
    });
  }

  /** Switches to the state at the epoch's base, unless this node has that state already. */
  async #switchTo(sealed: SealedEntry): Promise<void> {
    const { payload, epoch } = sealed.entry;
    if (payload.kind !== 'epoch') return;
    const wasRepairing = await this.#repair.cancel();
    if (payload.base !== undefined && !this.#isAt(payload.base)) {
      if (!(await hasBase(sealed, this.#log, this.#isShared))) return;
      // Until the switch, this node's state differs from the state that the other nodes continue.
      this.#setDiverged(this.#isShared ? `epoch ${epoch} starts from another state` : null);
      const isWanted = () =>
        !this.#folding.isStopping && (this.#adopted?.entry.epoch ?? epoch) === epoch;
      const { store } = this.#fold;
      const broken = await this.#replacement.useEpochSnapshot(sealed, payload, store, isWanted);
      if (broken === null) return this.#untilWoken();
      this.#openState(broken);
    }
    this.#fold.apply(sealed, new Set());
    this.#syncedTo = Math.min(this.#syncedTo, sealed.entry.seq);
    this.#diverged = false;
    this.#observer.epochStarted(epoch, payload.reason);
    if (wasRepairing) this.repair(new Error('a new epoch began while the state was made again'));
    this.#hub?.epochChanged();
    this.#listeners.notify();
  }

  /** The state in memory may hold part of an entry: it is read again, as it was before that one. */
  async #reopen(): Promise<void> {
    this.#halfApplied = true;
    await this.#committer.commitNow();
    await this.#committer.idle();
    await this.#fold.store.close();
    this.#openState(damagedPairs(this.#files));
    this.#halfApplied = false;
    this.#hub?.epochChanged();
    this.#listeners.notify();
  }

  #isAt(base: EpochBase): boolean {
    const { checkpoint } = this.#fold.store;
    return checkpoint !== null && isAtBase(checkpoint, base);
  }

  /** Opens the state in the file; `broken` pools could not be folded. */
  #openState(broken: readonly string[]): void {
    const writer = this.#options.stateWriter ?? threadWriter;
    const options = { ...this.#options, writer, clock: this.#clock };
    const store = new StateStore(this.#files.state, options);
    this.#fold = new Fold(store, this.#foldOptions());
    this.#fold.keepQuarantined(broken);
  }

  #foldOptions() {
    return {
      maxLoadedPairs: this.#options.maxLoadedPairs,
      quarantined: (pair: string, error: unknown) => {
        markDamaged(this.#files, pair, error);
        this.#observer.actorQuarantined(pair, error);
      },
    };
  }
}
