/**
 * Our server, whole: the app over a directory of its own, and a feed of trades that can be turned
 * on and off.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { startApp } from '../../src/app.ts';
import { BadSettings, readSettings } from '../../src/config/settings.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLogger } from '../../src/runtime/events.ts';
import { systemRng } from '../../src/runtime/rng.ts';
import { offer, usageOffers } from '../support/offers.ts';
import { PairWalk } from '../support/trades.ts';

export interface FeedWish {
  readonly pairs: number;
  /** One entry with a trade of every pair each so many milliseconds, of market and of wall time. */
  readonly everyMs: number;
}

export type Market = typeof offers;

const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

const settings = readSettings({ DATA_DIR: directory, PORT: '0' });
if (settings instanceof BadSettings) throw new Error(settings.message);
const clock = systemClock;
const logger = createLogger({ level: 'silent', clock });
const app = await startApp({ settings, clock, rng: systemRng, logger, version: 'bench' });

const walk = new PairWalk();
let feeding = false;
let fed: Promise<unknown> = Promise.resolve();

const offers = {
  ...usageOffers(),
  port: () => app.port,
  seq: () => app.node.applied().seq,
  /** Begins a feed that lasts until `rest`. */
  feed({ pairs, everyMs }: FeedWish): void {
    feeding = true;
    walk.nextMinute();
    const lines = function* () {
      while (feeding) yield walk.lines(pairs, everyMs);
    };
    const input = Readable.from(lines(), { highWaterMark: 4 });
    fed = app.replay(input, { feed: null, speed: 1, latenessMs: 0 });
  },
  async rest(): Promise<void> {
    feeding = false;
    await fed;
  },
  /** Feeds `entries` at once. */
  async fill({ pairs, everyMs, entries }: FeedWish & { entries: number }): Promise<void> {
    walk.nextMinute();
    const lines = Array.from({ length: entries }, () => walk.lines(pairs, everyMs));
    await app.replay(Readable.from(lines), { feed: null, speed: null, latenessMs: 0 });
  },
  memory(): { readonly rssBytes: number; readonly heapBytes: number } {
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    return { rssBytes: rss, heapBytes: heapUsed };
  },
};

offer(offers);
