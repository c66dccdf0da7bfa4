/**
 * The builder for a chain whose parameters are asked for: none before they are known, and by the
 * new ones soon after they have changed, which happens at the beginning of an epoch at most.
 */
import { isDeepStrictEqual } from 'node:util';
import { unlessAborted } from '../../engine/runtime/abort.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { Task } from '../../engine/runtime/task.ts';
import type { LedgerTerms } from '../ledger/parameters.ts';
import { type BuilderLimits, BuilderPool, type StartBuilders } from './builderThreads.ts';
import type { TransactionPlan } from './plan.ts';
import type { Builder, BuildOptions, BuildOutcome } from './port.ts';

interface LiveBuilderOptions {
  /** Rejects while the node cannot be asked. */
  ask(): Promise<LedgerTerms>;
  readonly clock: Clock;
  readonly limits: Partial<BuilderLimits>;
  readonly startThreads?: StartBuilders | undefined;
  readonly observer: LiveBuilderObserver;
}

interface LiveBuilderObserver {
  parametersChanged(): void;
  /** They are asked for again; those that were known before stay in force. */
  parametersFailed(error: unknown): void;
}

const AGAIN_MS = 2_000;
const LOOK_MS = 60_000;

export class LiveBuilder implements Builder, Service {
  readonly name = 'builder';
  readonly #options: LiveBuilderOptions;
  readonly #asking: Task;
  #pool: BuilderPool | null = null;
  #terms: LedgerTerms | null = null;

  constructor(options: LiveBuilderOptions) {
    this.#options = options;
    this.#asking = new Task({ clock: options.clock });
  }

  /** What is built by; null: not known yet. */
  get parameters(): LedgerTerms | null {
    return this.#terms;
  }

  start(): void {
    this.#asking.start(() => this.#run());
  }

  async stop(): Promise<void> {
    await this.#asking.stop();
    await this.#pool?.stop();
  }

  async build(plan: TransactionPlan, options?: BuildOptions): Promise<BuildOutcome | Failure> {
    if (this.#terms === null || this.#pool === null) return unknownParameters();
    return this.#pool.build(plan, options);
  }

  async #run(): Promise<void> {
    const { observer } = this.#options;
    let isKnown = false;
    do {
      isKnown = await this.#look().catch((error: unknown) => {
        if (!this.#asking.isStopping) observer.parametersFailed(error);
        return false;
      });
    } while (await this.#asking.pause(isKnown ? LOOK_MS : AGAIN_MS));
  }

  /** Whether the parameters are known and in force. Rejects if the threads fail to start. */
  async #look(): Promise<boolean> {
    const found = await unlessAborted(this.#options.ask(), this.#asking.signal);
    if (found !== null && !isDeepStrictEqual(found, this.#terms)) await this.#take(found);
    return found !== null;
  }

  async #take(terms: LedgerTerms): Promise<void> {
    const { clock, limits, startThreads, observer } = this.#options;
    if (this.#pool === null) {
      const pool = new BuilderPool({ clock, limits, startThreads, ...terms });
      await pool.start();
      this.#pool = pool;
    } else await this.#pool.renew(terms);
    this.#terms = terms;
    observer.parametersChanged();
  }
}

export function unknownParameters(): Failure {
  const what = 'the protocol parameters are not known yet: try again once the node answers';
  return new Failure('NOT_READY', what, { retryAfterSeconds: 5 });
}
