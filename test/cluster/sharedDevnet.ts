/** One devnet in the test's process, and the settings of nodes that follow it. */
import { join } from 'node:path';
import type { Deployment } from '../../src/cardano/datums/deployment.ts';
import { Devnet, type DevnetOptions } from '../../src/devnet/devnet.ts';
import { launchpadAt } from '../e2e/devnet/launchpad.ts';
import { devnetOptions, startDevnet } from '../support/devnetNode.ts';
import { type Environment, type Scope, temporaryDirectory } from '../support/server.ts';

export interface SharedDevnet {
  readonly devnet: Devnet;
  readonly chainFile: string;
  readonly deployment: Deployment;
  /** Settings of every node: the network, its addresses, its pace and its keys. */
  readonly env: Environment;
  /** Opens the chain again on the same ports, after `devnet` was stopped. */
  reopen(): Promise<Devnet>;
}

export async function startSharedDevnet(
  scope: Scope,
  paceMs: number,
  more: Partial<DevnetOptions> = {},
): Promise<SharedDevnet> {
  const keysFile = join(temporaryDirectory(), 'keys.json');
  const { outputs: genesis, aside, faucetSecret, deployment } = launchpadAt(keysFile);
  const chainFile = join(temporaryDirectory(), 'chain.sqlite');
  const began = { genesis, aside, faucetSecret };
  const options = { ...devnetOptions(), file: chainFile, ...began, paceMs, ...more };
  const devnet = await startDevnet(scope, options);
  const { ogmiosUrl, kupoUrl } = devnet;
  const env = {
    NETWORK: 'devnet',
    OGMIOS_URL: ogmiosUrl,
    KUPO_URL: kupoUrl,
    KEYS_FILE: keysFile,
    BLOCK_EVERY_MS: String(paceMs),
  };
  const portOf = (url: string) => Number(new URL(url).port);
  const ports = { ogmiosPort: portOf(ogmiosUrl), kupoPort: portOf(kupoUrl) };
  const reopen = () => Devnet.open({ ...options, ...ports });
  return { devnet, chainFile, deployment, env, reopen };
}
