/**
 * Keeps a copy of the leader's ledger, whatever NATS does: where the log gives no answer, or
 * another one begins, it tries again until it can go on. Where the log has forgotten what the
 * ledger lacks, the ledger is replaced by a snapshot, and it goes on from there.
 */
import { SnapshotNeeded } from '../chain/lineage.ts';
import type { LedgerReplica } from '../devnet/chainReplica.ts';
import { type Clock, pause } from '../engine/runtime/clock.ts';
import type { Duty } from './leadership.ts';

export interface CopyingObserver {
  ledgerWaits(error: unknown): void;
}

const AGAIN_MS = 500;

/** Makes a copier; `failed` is called when one that had started cannot go on. */
export type MakeReplica = (failed: (error: unknown) => void) => LedgerReplica;

export class Copying implements Duty {
  readonly #make: MakeReplica;
  readonly #renew: () => Promise<void>;
  readonly #clock: Clock;
  readonly #observer: CopyingObserver;
  readonly #stop = new AbortController();
  #replica: LedgerReplica;
  #stopping = false;
  #trying: Promise<void> = Promise.resolve();
  #waits = false;

  /** `renew` replaces the ledger by one that the log goes on from, where there is one. */
  constructor(
    make: MakeReplica,
    renew: () => Promise<void>,
    clock: Clock,
    observer: CopyingObserver,
  ) {
    this.#make = make;
    this.#renew = renew;
    this.#clock = clock;
    this.#observer = observer;
    this.#replica = make(() => {});
  }

  /** What the ledger says is old. */
  get failed(): boolean {
    return this.#waits || this.#replica.failed;
  }

  /** Resolves once the copy is there, or the first try has failed; then it is tried again. */
  async start(): Promise<void> {
    const fault = await this.#try();
    if (fault !== null) this.#trying = this.#tryAgain(fault);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#stop.abort();
    await this.#trying;
    await this.#replica.stop();
  }

  async #tryAgain(first: unknown): Promise<void> {
    for (let fault: unknown = first; fault !== null && !this.#stopping; ) {
      if (fault instanceof SnapshotNeeded) await this.#renew().catch(this.#told);
      await pause(this.#clock, AGAIN_MS, this.#stop.signal);
      if (!this.#stopping) fault = await this.#try();
    }
  }

  /** What was wrong; null: the copy follows now. */
  async #try(): Promise<unknown> {
    this.#replica = this.#make((error) => {
      this.#told(error);
      this.#trying = this.#tryAgain(error);
    });
    try {
      await this.#replica.start();
      this.#waits = false;
      return null;
    } catch (error) {
      this.#told(error);
      return error;
    }
  }

  readonly #told = (error: unknown): void => {
    if (!this.#waits) this.#observer.ledgerWaits(error);
    this.#waits = true;
  };
}
