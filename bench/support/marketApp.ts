/**
 * Our server, whole: the app over a separate directory, and a feed of trades that can be turned on
 * and off.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { createLogger } from '../../src/engine/runtime/events.ts';
import { systemRng } from '../../src/engine/runtime/rng.ts';
import { type App, type AppDeps, startApp } from '../../src/server/app.ts';
import { BadSettings, readSettings } from '../../src/server/settings/settings.ts';
import { machineMs } from './machineClock.ts';
import { PairWalk } from './trades.ts';

export interface FeedOptions {
  readonly pairs: number;
  /**
   * One entry with a trade of every pair at this interval in milliseconds, of market and of wall
   * time.
   */
  readonly everyMs: number;
}

/** As the program does: the option of `npm start` is meant for the main thread alone. */
setFlagsFromString('--max-semi-space-size=0');

/** The app with other settings, or with a devnet. The directory goes with the process. */
export function startBenchApp(
  settings: Readonly<Record<string, string>> = {},
  devnet?: AppDeps['devnet'],
): Promise<App> {
  const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const read = readSettings({ DATA_DIR: directory, PORT: '0', ...settings });
  if (read instanceof BadSettings) throw new Error(read.message);
  const clock = systemClock;
  const logger = createLogger({ level: 'silent', clock });
  const world: AppDeps = {
    settings: read,
    clock,
    rng: systemRng,
    logger,
    version: 'bench',
    preparesDocuments: true,
  };
  return startApp(devnet === undefined ? world : { ...world, devnet });
}

/** When a trade has its turn: `atMs` of the machine's clock for `marketMs` of the market's. */
export interface Due {
  readonly atMs: number;
  readonly marketMs: number;
}

export class Feed {
  readonly #app: App;
  readonly #walk = new PairWalk();
  #feeding = false;
  #first: Due | null = null;
  #fed: Promise<unknown> = Promise.resolve();

  constructor(app: App) {
    this.#app = app;
  }

  /** The first trade of the feed that runs; the others are due as much later as their times are. */
  get first(): Due | null {
    return this.#first;
  }

  /** Begins a feed that lasts until `rest`. */
  begin({ pairs, everyMs }: FeedOptions): void {
    this.#feeding = true;
    this.#first = null;
    this.#walk.nextMinute();
    const input = Readable.from(this.#lines(pairs, everyMs), { highWaterMark: 4 });
    this.#fed = this.#app.replay(input, { feed: null, speed: 1, latenessMs: 0 });
  }

  async rest(): Promise<void> {
    this.#feeding = false;
    await this.#fed;
  }

  /** Feeds `entries` at once. */
  async fill({ pairs, everyMs, entries }: FeedOptions & { entries: number }): Promise<void> {
    this.#walk.nextMinute();
    const lines = Array.from({ length: entries }, () => this.#walk.lines(pairs, everyMs));
    await this.#app.replay(Readable.from(lines), { feed: null, speed: null, latenessMs: 0 });
  }

  *#lines(pairs: number, everyMs: number): Generator<string> {
    while (this.#feeding) {
      const lines = this.#walk.lines(pairs, everyMs);
      this.#first ??= { atMs: machineMs(), marketMs: this.#walk.timeMs };
      yield lines;
    }
  }
}
