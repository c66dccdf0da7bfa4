/** Our server, whole, without a chain, over a market of launches: `pools`, `orders`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchedToken, writeLaunchedMarket } from '../support/launchedMarket.ts';
import { startBenchApp } from '../support/marketApp.ts';
import { offer, usageOffers } from '../support/offers.ts';

export type Launched = typeof offers;

const [pools = 0, orders = 0] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
await writeLaunchedMarket(directory, { pools, orders });
const app = await startBenchApp({ DATA_DIR: directory });
while (!app.node.synced()) await new Promise((resolve) => setTimeout(resolve, 10));

const offers = {
  ...usageOffers(),
  port: () => app.port,
  token: () => launchedToken(0),
};

offer(offers);
