/** The launchpad of a devnet whose keys lie in a file, traders and times as where none are set. */
import type { NewOutput } from '../../../src/cardano/codec/encode.ts';
import type { Deployment } from '../../../src/cardano/datums/deployment.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { readSecrets } from '../../../src/server/settings/secrets.ts';
import { makeLaunchpad } from '../../../src/server/wiring/devnet.ts';
import { readTraderConfig } from '../../../src/traders/config.ts';

const REFUND_AFTER_MS = 1_200_000;

interface TestLaunchpad {
  readonly deployment: Deployment;
  readonly outputs: readonly NewOutput[];
  readonly aside: readonly NewOutput[];
  readonly faucetSecret: string;
}

/** Makes the keys where there are none. */
export function launchpadAt(keysFile: string): TestLaunchpad {
  const secrets = readSecrets('', systemRng, keysFile);
  const made = makeLaunchpad(secrets, readTraderConfig(), REFUND_AFTER_MS);
  const { deployment, outputs, aside } = made;
  if (deployment.complete === null) throw new Error('everything is known of a devnet');
  const faucetSecret = secrets.faucet.reveal();
  return { deployment: deployment.complete, outputs, aside, faucetSecret };
}
