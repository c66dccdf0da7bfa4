/** Our server, whole, without a chain, over a market of launches: `pools`, `orders`, `minutes`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchedToken, writeLaunchedMarket } from '../support/launchedMarket.ts';
import { startBenchApp } from '../support/marketApp.ts';
import { offer, turnOffers, usageOffers } from '../support/offers.ts';
import { eventsOf } from '../support/tradedMarket.ts';

export type Launched = typeof offers;

const [pools = 0, orders = 0, minutes = 0] = process.argv.slice(2).map(Number);
const life = {
  minutes,
  events: (minute: number, slot: number) => eventsOf(minute, slot, pools),
};
const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
await writeLaunchedMarket(directory, { pools, orders, life });
const app = await startBenchApp({ DATA_DIR: directory });
while (!app.node.synced()) await new Promise((resolve) => setTimeout(resolve, 10));

const offers = {
  ...usageOffers(),
  ...turnOffers(),
  port: () => app.port,
  token: () => launchedToken(0),
  marketMs: () => app.node.fold.marketMs,
};

offer(offers);
