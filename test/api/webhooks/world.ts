/** The tiny market with webhooks, over a file, and time that a test moves. */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { ApiKeys } from '../../../src/api/gateway/apiKeys.ts';
import { Deliveries } from '../../../src/api/webhooks/deliveries.ts';
import { Destinations } from '../../../src/api/webhooks/destination.ts';
import { newProgress, type Webhook, type WebhookTopic } from '../../../src/api/webhooks/port.ts';
import { rangesOf } from '../../../src/api/webhooks/publicAddress.ts';
import { Sender } from '../../../src/api/webhooks/sender.ts';
import { SqliteWebhooks } from '../../../src/api/webhooks/sqliteStore.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { HandClock } from '../../support/handClock.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { untilAsked } from '../../support/until.ts';
import { Market } from '../gateway/market.ts';

export const SECRET = 'a-secret-of-this-test';
/** Milliseconds between two flushes of the test market's topics. */
const CADENCE_MS = 5;
const QUOTA = { perSecond: 100, burst: 1000 };

export function keysOf(...names: readonly string[]): ApiKeys {
  const limits = { read: QUOTA, build: QUOTA, launch: QUOTA, sockets: 5 };
  return new ApiKeys(
    names.map((name) => ({ name, sha256: hash('sha256', `upc_${name}`), limits })),
  );
}

export class WebhookWorld {
  readonly market = new Market();
  readonly clock = new HandClock();
  readonly file: string;
  readonly apiKeys = keysOf('bot');
  readonly errors: string[] = [];
  readonly stopped: string[] = [];
  readonly destinations = new Destinations(rangesOf(['127.0.0.0/8']));
  store: SqliteWebhooks;
  #deliveries: Deliveries | null = null;
  #made = 0;

  constructor(scope: TestContext) {
    this.file = join(temporaryDirectory(scope), 'webhooks.sqlite');
    this.store = new SqliteWebhooks(this.file);
    scope.after(async () => {
      await this.stop();
      this.store.close();
    });
  }

  start(): void {
    const { market, clock, apiKeys, store, destinations } = this;
    this.#deliveries = new Deliveries({
      store,
      sender: new Sender({ destinations, clock }),
      topics: market.topics(),
      nodeView: market,
      apiKeys,
      clock,
      rng: { ...systemRng, unit: () => 1 },
      observer: {
        webhookTried: (_owner, _id, why) => void (why !== null && this.errors.push(why)),
        webhookStopped: (_owner, id) => void this.stopped.push(id),
        webhooksNotSaved: (why) => void this.errors.push(`not saved: ${why}`),
        webhooksSaved: () => {},
        webhooksKnown: () => {},
      },
    });
    market.hub = this.#deliveries;
    this.#deliveries.start();
  }

  async stop(): Promise<void> {
    this.market.hub = null;
    await this.#deliveries?.stop();
    this.#deliveries = null;
  }

  /** As after the end of the process: another store over the same file. */
  async restart(): Promise<void> {
    await this.stop();
    this.store.close();
    this.store = new SqliteWebhooks(this.file);
    this.start();
  }

  async add(url: string, topics: readonly Partial<WebhookTopic>[]): Promise<Webhook> {
    const read = topics.map((topic, index): WebhookTopic => {
      return { topic: 'Bars', requestId: String(index), snapshot: true, ...topic };
    });
    this.#made += 1;
    const id = `wh_${String(this.#made).padStart(20, 'a')}`;
    const common = { owner: 'bot', secret: SECRET, createdMs: this.clock.nowMs() };
    const webhook: Webhook = { id, url, topics: read, ...common };
    await this.store.add(webhook, newProgress(read));
    return webhook;
  }

  async progress() {
    const all = await this.store.all();
    if (!Array.isArray(all) || all[0] === undefined) throw new Error('no webhook');
    return all[0].progress;
  }

  /** The first delivery was accepted, and that is saved: time may move. */
  async delivered(): Promise<void> {
    await untilAsked(
      'the first delivery',
      () => this.progress(),
      ({ epoch }) => epoch !== null,
    );
  }

  /** Moves time by a cadence again and again; too little for a delivery to be late. */
  async ticksUntil(what: string | (() => string), isTrue: () => boolean): Promise<void> {
    const looks = async () => {
      await this.clock.advance(CADENCE_MS);
      return isTrue();
    };
    await untilAsked(what, looks, (is) => is);
  }
}
