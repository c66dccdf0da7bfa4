/** Our server, whole, with API keys whose webhooks receive every change of a bar. */
import { hash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Feed, type FeedOptions, startBenchApp } from '../support/marketApp.ts';
import { offer, usageOffers } from '../support/offers.ts';
import { assetOf, QUOTE } from '../support/trades.ts';

export type HookMarket = typeof offers;

/** What a key may have. */
const EACH = 20;
const KEYS = 50;

const file = join(mkdtempSync(join(tmpdir(), 'upcurve-bench-')), 'api-keys.json');
const named = Array.from({ length: KEYS }, (_, at) => `upc_${at}`);
const keys = named.map((key, at) => ({ name: `bot${at}`, sha256: hash('sha256', key) }));
writeFileSync(file, JSON.stringify({ keys }));
const app = await startBenchApp({
  NETWORK: 'none',
  API_KEYS_FILE: file,
  WEBHOOK_PRIVATE_RANGES: '127.0.0.1',
});
const trades = new Feed(app);

const offers = {
  ...usageOffers(),
  feed: (options: FeedOptions) => trades.begin(options),
  rest: () => trades.rest(),
  async register({ port, count }: { port: number; count: number }): Promise<void> {
    const data = { pair: { base: assetOf(0), quote: QUOTE }, interval: 'min1' };
    const url = `http://127.0.0.1:${port}/`;
    const body = JSON.stringify({ url, topics: [{ topic: 'LastBar', data }] });
    for (let made = 0; made < count; made += 1) {
      const authorization = `Bearer ${named[Math.floor(made / EACH)]}`;
      const headers = { 'content-type': 'application/json', authorization };
      const call = `http://127.0.0.1:${app.port}/v1/webhooks`;
      const { status } = await fetch(call, { method: 'POST', headers, body });
      if (status !== 200) throw new Error(`a webhook was answered with ${status}`);
    }
  },
};

offer(offers);
