/**
 * A devnet in its own thread, so that judging a transaction does not block the caller's event loop.
 * Messages only say that it started, stalled or shall stop: callers use its ports.
 *
 * When the thread ends by itself, `died` is called once. All acknowledged transactions are in the
 * file.
 */
import { isFault } from '../engine/runtime/assert.ts';
import { systemClock } from '../engine/runtime/clock.ts';
import { Thread } from '../engine/runtime/thread.ts';
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
  /** Up to when its past is a recorded one; null: it has none. */
  readonly liveSinceMs: number | null;
}

export interface RunningDevnet extends DevnetUrls {
  /** Resolves once the ports are free and the file is closed; rejects where it had to be forced. */
  stop(): Promise<void>;
}

export interface DevnetCalls {
  urls(): DevnetUrls;
  stop(): Promise<void>;
}

/** The disk refuses to be written; null: it takes it again. */
export interface Stalled {
  readonly message: string | null;
}

/** A commit on a slow disk fits in. */
const STOP_MS = 5_000;

/** Rejects as `Devnet.open` does. */
export async function startDevnetThread(
  options: DevnetThreadOptions,
  events: DevnetThreadEvents,
): Promise<RunningDevnet> {
  let isRunning = false;
  const thread = new Thread<DevnetCalls, Stalled>({
    script: new URL('./threadMain.ts', import.meta.url),
    data: options,
    name: 'the devnet',
    keepsAlive: true,
    onNews: ({ message }) => events.stalled(message),
    onEnd: (error) => isRunning && error !== null && events.died(error),
  });
  const urls = await thread.call('urls', []).catch((error: unknown) => {
    throw isFault(error, 'threadEnded') ? error.cause : error;
  });
  isRunning = true;
  const stop = () => {
    isRunning = false;
    return thread.stop({ clock: systemClock, ms: STOP_MS });
  };
  return { ...urls, stop };
}
