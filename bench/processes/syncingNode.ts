/**
 * Our server, whole, that follows an Ogmios from the first block: `url`, kind of its blocks, other
 * settings as JSON. It looks for mainnet's launchpad, or for the launchpad that `busy` blocks use.
 * Without Kupo. A reader follows no Ogmios: its `url` is empty.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chainTip } from '../../src/chain/chainPoints.ts';
import { deploymentText } from '../../src/server/settings/deployments.ts';
import { busyDeployment } from '../support/busyBlocks.ts';
import { machineMs } from '../support/machineClock.ts';
import { startBenchApp } from '../support/marketApp.ts';
import { offer, type Usage, usageOffers } from '../support/offers.ts';

export type SyncingNode = typeof offers;

export interface Synced extends Usage {
  readonly blocks: number;
  /** At each tenth of the way, MiB. */
  readonly rssMib: readonly number[];
}

const LOOK_EVERY_MS = 5;
const TENTHS = 10;

const [url = '', kind = '', others = '{}'] = process.argv.slice(2);
const usage = usageOffers();
const followed = url === '' ? {} : { OGMIOS_URL: url };
const network = kind === 'busy' ? busyNetwork() : { NETWORK: 'mainnet' };
const settings = { START_POINT: 'origin', ...followed, ...network, ...JSON.parse(others) };
const app = await startBenchApp(settings);

function busyNetwork() {
  const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'deployment.json');
  writeFileSync(file, deploymentText({ ...busyDeployment, network: 'preprod' }, null));
  return { NETWORK: 'preprod', DEPLOYMENT_FILE: file };
}

const tip = () => chainTip(app.node.fold.store);
const height = () => tip()?.height ?? -1;

async function until(condition: () => boolean, everyMs = LOOK_EVERY_MS): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, everyMs));
}

const offers = {
  ...usage,
  port: () => app.port,
  height,
  /** The measurement begins once `fromHeight` was passed. */
  async sync(range: { readonly fromHeight: number; readonly toHeight: number }): Promise<Synced> {
    await until(() => height() >= range.fromHeight);
    const first = height();
    usage.begin();
    const rssMib: number[] = [];
    for (let tenth = 1; tenth <= TENTHS; tenth += 1) {
      const next = first + ((range.toHeight - first) * tenth) / TENTHS;
      await until(() => height() >= Math.floor(next));
      rssMib.push(process.memoryUsage.rss() / 2 ** 20);
    }
    return { ...usage.end(), blocks: height() - first, rssMib };
  },
  /** When the newest block is this one. */
  async reached(id: string): Promise<number> {
    await until(() => tip()?.hash === id, 1);
    return machineMs();
  },
};

offer(offers);
