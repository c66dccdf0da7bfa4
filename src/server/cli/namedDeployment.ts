/** The deployment that a command works on, and its keys: on a devnet both are known by name. */
import type { NetworkDeployment } from '../../cardano/datums/deployment.ts';
import { Key } from '../../cardano/keys/keys.ts';
import { readDeployment } from '../settings/deployments.ts';
import { secretFrom } from '../settings/keyFiles.ts';
import { readSecrets, type Secret } from '../settings/secrets.ts';
import { launchpadFromSettings, SIGNERS } from '../wiring/devnet.ts';
import type { OwnNetwork } from './commands/refund.ts';
import type { NodeCommandDeps } from './nodeAccess.ts';

/** A devnet's follows from the keys in its data directory. */
export function deploymentOn(
  network: OwnNetwork,
  { settings, rng }: Pick<NodeCommandDeps, 'settings' | 'rng'>,
): NetworkDeployment {
  if (network === 'devnet') return launchpadFromSettings(settings, rng).deployment;
  return readDeployment(network, settings.DEPLOYMENT_FILE);
}

/** Reads a key from a file; on a devnet, `name` may also name a key of the devnet. */
export function keyFrom(
  name: string,
  { settings, rng }: Pick<NodeCommandDeps, 'settings' | 'rng'>,
): Key {
  const own = settings.NETWORK === 'devnet' ? SIGNERS.find((each) => each === name) : undefined;
  const secret: Secret =
    own === undefined
      ? secretFrom(name)
      : readSecrets(settings.DATA_DIR, rng, settings.KEYS_FILE)[own];
  return new Key(secret.reveal());
}
