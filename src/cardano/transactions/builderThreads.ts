/**
 * The builder on threads. Nothing is known to leak (10,000 builds: flat), but what evaluates
 * scripts is large and not ours; so a generation of threads is replaced by a fresh one after a
 * number of builds or above a memory limit: the new one takes all further builds, the old one ends
 * when its last build is done.
 *
 * Limits: `threads` builds at once, `maxWaiting` wait, one more is OVERLOADED; a build that takes
 * longer than its time is given up with its thread. Urgent builds have a separate queue with a
 * separate bound and go first: users who build much cannot keep the executor from its orders.
 */
import { Piscina } from 'piscina';
import { withDeadline } from '../../engine/runtime/abort.ts';
import { assert } from '../../engine/runtime/assert.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, messageOf } from '../../engine/runtime/errors.ts';
import type { Service } from '../../engine/runtime/service.ts';
import type { LedgerTerms } from '../ledger/parameters.ts';
import type { TransactionPlan } from './plan.ts';
import type { Builder, BuildOptions, BuildOutcome } from './port.ts';

interface BuilderOptions extends LedgerTerms {
  readonly clock: Clock;
  readonly limits?: Partial<BuilderLimits>;
  /** Absent: threads of Piscina. */
  readonly startThreads?: StartBuilders | undefined;
  /** Resident memory of the process; an argument for tests. */
  readonly rssBytes?: () => number;
}

export interface BuilderLimits {
  readonly threads: number;
  readonly maxWaiting: number;
  readonly maxUrgent: number;
  /** A generation of threads ends after as many. */
  readonly maxBuilds: number;
  /** Above it a generation ends early, though not before `minBuilds`. */
  readonly maxRssBytes: number;
  readonly minBuilds: number;
  readonly buildTimeMs: number;
}

const BUILDER_LIMITS: BuilderLimits = {
  threads: 1,
  maxWaiting: 64,
  maxUrgent: 1024,
  maxBuilds: 5000,
  maxRssBytes: 1 << 30,
  minBuilds: 500,
  buildTimeMs: 10_000,
};

interface BuilderState {
  readonly running: number;
  /** Urgent ones among them. */
  readonly waiting: number;
  /** Finished, over all generations. */
  readonly builds: number;
  readonly generation: number;
}

const RETRY_AFTER_SECONDS = 1;
/** Building keeps little alive: more room for young objects costs memory and saves nothing. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 16 };
const WORKER = new URL('./worker.ts', import.meta.url).href;

/** Threads that build by the same parameters. */
export interface BuilderThreads {
  /**
   * A plan, or null to check only that the thread is ready. Rejects when `signal` aborts the build.
   */
  run(
    plan: TransactionPlan | null,
    options?: { readonly signal: AbortSignal },
  ): Promise<BuildOutcome | null>;
  /** Once the builds in hand are done. */
  close(): Promise<void>;
}

export type StartBuilders = (data: LedgerTerms, threads: number) => BuilderThreads;

const startPiscina: StartBuilders = (workerData, threads) =>
  new Piscina<TransactionPlan | null, BuildOutcome | null>({
    resourceLimits: RESOURCE_LIMITS,
    filename: WORKER,
    workerData,
    minThreads: threads,
    maxThreads: threads,
  });

interface Generation {
  readonly threads: BuilderThreads;
  /**
   * Its threads have finished loading their code; a thread that is ended earlier may crash the
   * process.
   */
  readonly loaded: Promise<unknown>;
  builds: number;
}

export class ThreadedBuilder implements Builder, Service {
  readonly name = 'builder';
  readonly #options: BuilderOptions;
  readonly #limits: BuilderLimits;
  readonly #ending = new Set<Promise<void>>();
  /** Each takes over the place of a build that ended. */
  readonly #waiting: (() => void)[] = [];
  readonly #urgent: (() => void)[] = [];
  /** The parameters that the next generation of threads builds by. */
  #data: LedgerTerms;
  #current: Generation | null = null;
  #generation = 0;
  #running = 0;
  #builds = 0;

  constructor(options: BuilderOptions) {
    this.#options = options;
    const { parameters, slots } = options;
    this.#data = { parameters, slots };
    this.#limits = { ...BUILDER_LIMITS, ...options.limits };
  }

  /** Resolves when the threads can build. */
  async start(): Promise<void> {
    const first = this.#begin();
    await first.loaded;
    this.#current = first;
  }

  /**
   * Builds that start once this resolves use the new values; running ones keep the old.
   * Not before `start` has resolved.
   */
  async renew(data: LedgerTerms): Promise<void> {
    this.#data = data;
    const next = this.#begin();
    await next.loaded.catch((error: unknown) => {
      this.#end(next);
      throw error;
    });
    const old = this.#current;
    this.#current = old === null ? null : next;
    // Stopped meanwhile.
    this.#end(old ?? next);
  }

  /** Waits for running builds; waiting builds are aborted. */
  async stop(): Promise<void> {
    const last = this.#current;
    this.#current = null;
    for (const begin of [...this.#urgent.splice(0), ...this.#waiting.splice(0)]) {
      this.#running += 1;
      begin();
    }
    if (last !== null) this.#end(last);
    await Promise.all(this.#ending);
  }

  state(): BuilderState {
    const waiting = this.#urgent.length + this.#waiting.length;
    return { running: this.#running, waiting, builds: this.#builds, generation: this.#generation };
  }

  async build(
    plan: TransactionPlan,
    { urgent = false }: BuildOptions = {},
  ): Promise<BuildOutcome | Failure> {
    const { threads, maxWaiting, maxUrgent } = this.#limits;
    if (this.#current !== null && this.#running >= threads) {
      const line = urgent ? this.#urgent : this.#waiting;
      if (line.length >= (urgent ? maxUrgent : maxWaiting)) {
        const message = `${line.length} transactions wait to be built; try again in a moment`;
        return new Failure('OVERLOADED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
      }
      await new Promise<void>((resolve) => line.push(resolve));
    } else this.#running += 1;
    const generation = this.#current;
    if (generation === null) {
      this.#running -= 1;
      return new Failure('NOT_READY', 'the builder is stopped', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    const outcome = await this.#run(generation, plan);
    this.#finished(generation);
    return outcome;
  }

  async #run({ threads }: Generation, plan: TransactionPlan): Promise<BuildOutcome | Failure> {
    const { buildTimeMs } = this.#limits;
    return withDeadline(this.#options.clock, buildTimeMs, async (signal) => {
      try {
        const outcome = await threads.run(plan, { signal });
        assert(outcome !== null, 'a plan has an outcome');
        return outcome;
      } catch (error) {
        const isLate = signal.aborted;
        const why = isLate ? `it took longer than ${buildTimeMs} ms` : messageOf(error);
        const reason = isLate ? 'TIMED_OUT' : 'CRASHED';
        return new Failure('SERVER_ERROR', `build: ${why}`, { reason, retry: true });
      }
    });
  }

  /** The next in line takes the place; a generation that is due makes room for a fresh one. */
  #finished(generation: Generation): void {
    generation.builds += 1;
    this.#builds += 1;
    if (generation === this.#current && this.#isDue(generation)) {
      this.#current = this.#begin();
      this.#end(generation);
    }
    const next = this.#urgent.shift() ?? this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }

  #isDue({ builds }: Generation): boolean {
    const { maxBuilds, maxRssBytes, minBuilds } = this.#limits;
    if (builds >= maxBuilds) return true;
    const rssBytes = this.#options.rssBytes ?? process.memoryUsage.rss;
    return builds >= minBuilds && rssBytes() > maxRssBytes;
  }

  #begin(): Generation {
    const { threads } = this.#limits;
    this.#generation += 1;
    const start = this.#options.startThreads ?? startPiscina;
    const pool = start(this.#data, threads);
    const loaded = Promise.all(Array.from({ length: threads }, () => pool.run(null)));
    // Callers that wait for it see the failure, and so does the next build; it must not end the
    // process where none waits.
    loaded.catch(() => {});
    return { builds: 0, threads: pool, loaded };
  }

  #end({ threads, loaded }: Generation): void {
    const ended = Promise.allSettled([loaded])
      .then(() => threads.close())
      .finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }
}
