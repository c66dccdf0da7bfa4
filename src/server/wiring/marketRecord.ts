/** The market that the settings of a node are for, compared with what its data directory holds. */
import { hash } from 'node:crypto';
import { Key } from '../../cardano/keys/keys.ts';
import { MarketRecord, readMarket } from '../../engine/actors/marketRecord.ts';
import type { MarketOrigin } from '../../engine/runtime/marketIdentity.ts';
import { readDeployment } from '../settings/deployments.ts';
import { readSecrets } from '../settings/secrets.ts';
import { followsChain, type World } from './world.ts';

/** The directory exists. Throws `OtherMarket` where it holds a market of another network. */
export function openMarketRecord(world: World): MarketRecord {
  const { DATA_DIR } = world.settings;
  const network = followsChain(world) ? world.settings.NETWORK : null;
  const known = readMarket(DATA_DIR);
  // Keys are made where there are none, so the network is compared before they are read.
  if (network !== null && known !== null && known.network !== network) {
    return new MarketRecord(DATA_DIR, { network, deployment: null });
  }
  return new MarketRecord(DATA_DIR, marketOrigin(world));
}

function marketOrigin(world: World): MarketOrigin | null {
  const { NETWORK, DEPLOYMENT_FILE, DATA_DIR, KEYS_FILE, ROLE } = world.settings;
  if (!followsChain(world) || NETWORK === 'none') return null;
  // A reader has neither keys nor a deployment: it takes what the others have.
  if (ROLE === 'reader') return { network: NETWORK, deployment: null };
  if (NETWORK === 'devnet') {
    const secrets = readSecrets(DATA_DIR, world.rng, KEYS_FILE);
    const names = ['executor', 'fee', 'collateral', 'faucet'] as const;
    return origin(
      NETWORK,
      names.map((name) => new Key(secrets[name].reveal()).hash),
    );
  }
  const { partial } = world.deployment ?? readDeployment(NETWORK, DEPLOYMENT_FILE);
  // Where nothing is deployed yet the start is refused later, with what is missing.
  if (partial === null) return null;
  const { launchPolicyId, scripts } = partial;
  return origin(NETWORK, [launchPolicyId, scripts.curvePool.hash, scripts.order.hash]);
}

function origin(network: string, parts: readonly string[]): MarketOrigin {
  return { network, deployment: hash('sha256', parts.join('\n'), 'hex') };
}
