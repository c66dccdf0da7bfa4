/** Our server, whole, with a feed of trades. */
import { Feed, type FeedOptions, startBenchApp } from '../support/marketApp.ts';
import { offer, turnOffers, usageOffers } from '../support/offers.ts';

export type Market = typeof offers;

const app = await startBenchApp();
const trades = new Feed(app);

const offers = {
  ...usageOffers(),
  port: () => app.port,
  /** Begins a feed that lasts until `rest`. */
  feed: (options: FeedOptions) => trades.begin(options),
  rest: () => trades.rest(),
  /** Feeds `entries` at once. */
  fill: (options: FeedOptions & { entries: number }) => trades.fill(options),
  ...turnOffers(),
  memory(): { readonly rssBytes: number; readonly heapBytes: number } {
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    return { rssBytes: rss, heapBytes: heapUsed };
  },
};

offer(offers);
