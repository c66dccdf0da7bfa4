/**
 * A Cardano to try "Run it on mainnet" against, without a node: the embedded ledger with its
 * executor and simulated traders, served as an Ogmios and a Kupo of a network that calls itself
 * preprod. `node test/support/ogmios/run.ts [port of Ogmios] [directory]` prints the command that
 * follows it, and ends with Ctrl-C. What it writes lies in the directory.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTraderConfig } from '../../../src/client/traders/config.ts';
import { EmulatedChain } from '../../../src/devnet/emulated.ts';
import { unpacked } from '../../../src/devnet/messages.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { createLogger } from '../../../src/engine/runtime/events.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { startApp } from '../../../src/server/app.ts';
import { deploymentText } from '../../../src/server/settings/deploymentText.ts';
import { BadSettings, readSettings } from '../../../src/server/settings/settings.ts';
import { FakeKupo } from '../kupo/fake.ts';
import { Bridge } from './bridge.ts';

const [port = '1337', given] = process.argv.slice(2);
const directory = given ?? mkdtempSync(join(tmpdir(), 'fake-cardano-'));
const PREPROD_MAGIC = 1;

const endings: (() => Promise<unknown>)[] = [];

async function startCardano(): Promise<EmulatedChain> {
  const data = join(directory, 'cardano');
  mkdirSync(data, { recursive: true });
  const settings = readSettings({ DATA_DIR: data, PORT: '0' });
  if (settings instanceof BadSettings) throw settings;
  const clock = systemClock;
  const logger = createLogger({ level: 'warn', clock });
  const devnet = { traders: readTraderConfig(), pace: 1, seed: 1 };
  const app = await startApp({ settings, clock, rng: systemRng, logger, version: 'fake', devnet });
  endings.push(() => app.stop('SIGINT'));
  const chain = app.chain?.workshop.utxos;
  if (!(chain instanceof EmulatedChain)) throw new Error('a devnet has a ledger of its own');
  return chain;
}

async function serve(chain: EmulatedChain): Promise<{ ogmiosUrl: string; kupoUrl: string }> {
  const facts = { network: 'preprod', networkMagic: PREPROD_MAGIC };
  const bridge = new Bridge(chain, { facts, ogmios: { port: Number(port) } });
  await bridge.start();
  endings.push(() => bridge.stop());
  const genesis = await chain.genesis();
  if (genesis instanceof Failure) throw genesis;
  const scope = { after: (end: () => void | Promise<void>) => endings.push(async () => end()) };
  const utxos = genesis.outputs.map(unpacked);
  const kupo = await FakeKupo.begin(scope, { source: chain, genesis: utxos });
  return { ogmiosUrl: bridge.url, kupoUrl: kupo.url };
}

const chain = await startCardano();
const { ogmiosUrl, kupoUrl } = await serve(chain);
const deployment = join(directory, 'deployment.json');
writeFileSync(deployment, deploymentText({ ...chain.deployment, network: 'preprod' }, null));
process.stdout.write(`A small Cardano runs, with a block a second and traders. Follow it with

  NETWORK=preprod OGMIOS_URL=${ogmiosUrl} KUPO_URL=${kupoUrl} \\
  DEPLOYMENT_FILE=${deployment} DATA_DIR=${join(directory, 'follower')} npm start

`);

/** What was started last ends first. */
async function end(): Promise<void> {
  for (const ending of endings.reverse()) await ending();
}

process.once('SIGINT', () => void end());
process.once('SIGTERM', () => void end());
