/**
 * A devnet in its own thread, so that judging a transaction does not block the caller's event loop.
 * Messages only say that it started, stalled or shall stop: callers use its ports.
 *
 * When the thread ends by itself, `died` is called once. All acknowledged transactions are in the
 * file.
 */
import { Worker } from 'node:worker_threads';
import { type Clock, systemClock } from '../engine/runtime/clock.ts';
import type { DevnetOptions } from './devnet.ts';

/** Copied into the thread, which runs on the system's clock. */
export type DevnetThreadOptions = Omit<DevnetOptions, 'clock' | 'stalled' | 'waits'>;

interface DevnetThreadEvents {
  /** The thread ended without being asked to. */
  died(error: Error): void;
  /** The disk refuses to be written, which is tried again; null: it takes it again. */
  stalled(message: string | null): void;
}

export interface DevnetUrls {
  readonly ogmiosUrl: string;
  readonly kupoUrl: string;
  /** Base URL of the routes for faucet, forks and blocks. */
  readonly devnetUrl: string;
}

export interface RunningDevnet extends DevnetUrls {
  /** Resolves once the ports are free and the file is closed; rejects where it had to be forced. */
  stop(): Promise<void>;
}

/** Messages of the thread. */
export type ThreadReport =
  | { readonly kind: 'ready'; readonly urls: DevnetUrls }
  | { readonly kind: 'stalled'; readonly message: string | null };

/** The only message to the thread. */
export const STOP = 'stop';

/** A commit on a slow disk fits in. */
const STOP_MS = 5_000;
/** A thread that waits for a disk does not even terminate: it is left alone after that. */
const TERMINATE_MS = 1_000;
/** Measured under payments: 32 MiB save a twentieth of the work, 8 MiB cost an eighth more. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 16 };

/** Rejects as `Devnet.open` does. */
export async function startDevnetThread(
  options: DevnetThreadOptions,
  events: DevnetThreadEvents,
): Promise<RunningDevnet> {
  const thread = new DevnetThread(options, events);
  const urls = await thread.ready;
  return { ...urls, stop: () => thread.stop() };
}

class DevnetThread {
  readonly #worker: Worker;
  readonly #ready = Promise.withResolvers<DevnetUrls>();
  readonly #exited = Promise.withResolvers<'exited'>();
  #isReady = false;
  /** The error that ended the thread; null: none. */
  #fault: Error | null = null;
  #stopped: Promise<void> | null = null;

  constructor(options: DevnetThreadOptions, events: DevnetThreadEvents) {
    const script = new URL('./threadMain.ts', import.meta.url);
    this.#worker = new Worker(script, { workerData: options, resourceLimits: RESOURCE_LIMITS });
    this.#worker.on('message', (report: ThreadReport) => {
      if (report.kind === 'stalled') events.stalled(report.message);
      else {
        this.#isReady = true;
        this.#ready.resolve(report.urls);
      }
    });
    this.#worker.on('error', (error: unknown) => {
      this.#fault = error instanceof Error ? error : new Error(String(error));
    });
    this.#worker.once('exit', (code) => {
      this.#exited.resolve('exited');
      const error = this.#fault ?? new Error(`the devnet's thread ended with code ${code}`);
      if (!this.#isReady) this.#ready.reject(error);
      else if (this.#stopped === null) {
        this.#stopped = Promise.resolve();
        events.died(error);
      }
    });
  }

  get ready(): Promise<DevnetUrls> {
    return this.#ready.promise;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop(systemClock);
    return this.#stopped;
  }

  async #stop(clock: Clock): Promise<void> {
    this.#worker.postMessage(STOP);
    if (await this.#exitsWithin(STOP_MS, clock)) {
      if (this.#fault !== null) throw this.#fault;
      return;
    }
    void this.#worker.terminate();
    await this.#exitsWithin(TERMINATE_MS, clock);
    throw new Error(`the devnet did not stop within ${STOP_MS} ms: its thread was terminated`);
  }

  async #exitsWithin(limitMs: number, clock: Clock): Promise<boolean> {
    const late = Promise.withResolvers<'late'>();
    const timer = clock.after(limitMs, () => late.resolve('late'));
    const outcome = await Promise.race([this.#exited.promise, late.promise]);
    timer.cancel();
    return outcome === 'exited';
  }
}
