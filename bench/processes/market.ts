/** Our server, whole, with a feed of trades. */
import { Feed, type FeedWish, startBenchApp } from '../support/marketApp.ts';
import { offer, usageOffers } from '../support/offers.ts';

export type Market = typeof offers;

const app = await startBenchApp();
const trades = new Feed(app);

const offers = {
  ...usageOffers(),
  port: () => app.port,
  seq: () => app.node.applied().seq,
  /** Begins a feed that lasts until `rest`. */
  feed: (wish: FeedWish) => trades.begin(wish),
  rest: () => trades.rest(),
  /** Feeds `entries` at once. */
  fill: (wish: FeedWish & { entries: number }) => trades.fill(wish),
  memory(): { readonly rssBytes: number; readonly heapBytes: number } {
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    return { rssBytes: rss, heapBytes: heapUsed };
  },
};

offer(offers);
