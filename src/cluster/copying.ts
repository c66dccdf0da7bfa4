/**
 * Keeps a copy of the leader's ledger, whatever NATS does: where the log gives no answer, or
 * another one begins, it tries again until it can go on.
 */
import type { LedgerReplica } from '../chain/replica.ts';
import { type Clock, sleepUnless } from '../runtime/clock.ts';
import type { Duty } from './leadership.ts';

export interface CopyingObserver {
  ledgerWaits(error: unknown): void;
}

const AGAIN_MS = 500;

export class Copying implements Duty {
  readonly #make: () => LedgerReplica;
  readonly #clock: Clock;
  readonly #observer: CopyingObserver;
  readonly #stopAsked = Promise.withResolvers<void>();
  #replica: LedgerReplica;
  #stopping = false;
  #trying: Promise<void> = Promise.resolve();
  #waits = false;

  constructor(make: () => LedgerReplica, clock: Clock, observer: CopyingObserver) {
    this.#make = make;
    this.#clock = clock;
    this.#observer = observer;
    this.#replica = make();
  }

  /** What the ledger says is old. */
  get failed(): boolean {
    return this.#waits || this.#replica.failed;
  }

  /** Resolves once the copy is there, or the first try has failed; then it is tried again. */
  async start(): Promise<void> {
    if (await this.#try()) return;
    this.#trying = this.#tryAgain();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#stopAsked.resolve();
    await this.#trying;
    await this.#replica.stop();
  }

  async #tryAgain(): Promise<void> {
    do await sleepUnless(this.#clock, AGAIN_MS, this.#stopAsked.promise);
    while (!this.#stopping && !(await this.#try()));
  }

  async #try(): Promise<boolean> {
    this.#replica = this.#make();
    try {
      await this.#replica.start();
      this.#waits = false;
      return true;
    } catch (error) {
      if (!this.#waits) this.#observer.ledgerWaits(error);
      this.#waits = true;
      return false;
    }
  }
}
