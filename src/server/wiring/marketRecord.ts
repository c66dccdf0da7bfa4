/** Compares the market of the settings with the market of the data directory. */
import { hash } from 'node:crypto';
import { Key } from '../../cardano/keys/keys.ts';
import { MarketRecord, readMarket } from '../../engine/fold/marketRecord.ts';
import type { MarketOrigin } from '../../engine/runtime/marketIdentity.ts';
import { readDeployment } from '../settings/deployments.ts';
import { readSecrets } from '../settings/secrets.ts';
import { type AppDeps, followsChain } from './appDeps.ts';

/** The directory must exist. Throws `otherMarket` if its market is on another network. */
export function openMarketRecord(appDeps: AppDeps): MarketRecord {
  const { DATA_DIR } = appDeps.settings;
  const network = followsChain(appDeps) ? appDeps.settings.NETWORK : null;
  const known = readMarket(DATA_DIR);
  // Reading keys creates missing ones, so the network is compared first.
  if (network !== null && known !== null && known.network !== network) {
    return new MarketRecord(DATA_DIR, { network, deployment: null });
  }
  return new MarketRecord(DATA_DIR, marketOrigin(appDeps));
}

function marketOrigin(appDeps: AppDeps): MarketOrigin | null {
  const { NETWORK, DEPLOYMENT_FILE, DATA_DIR, KEYS_FILE, ROLE } = appDeps.settings;
  if (!followsChain(appDeps) || NETWORK === 'none') return null;
  // A reader has neither keys nor a deployment: it uses the other nodes' deployment.
  if (ROLE === 'reader') return { network: NETWORK, deployment: null };
  if (NETWORK === 'devnet') {
    const secrets = readSecrets(DATA_DIR, appDeps.rng, KEYS_FILE);
    const names = ['executor', 'fee', 'collateral', 'faucet'] as const;
    return origin(
      NETWORK,
      names.map((name) => new Key(secrets[name].reveal()).hash),
    );
  }
  const { partial } = appDeps.deployment ?? readDeployment(NETWORK, DEPLOYMENT_FILE);
  // Without a deployment the start fails later and names the missing settings.
  if (partial === null) return null;
  const { launchPolicyId, scripts } = partial;
  return origin(NETWORK, [launchPolicyId, scripts.curvePool.hash, scripts.order.hash]);
}

function origin(network: string, parts: readonly string[]): MarketOrigin {
  return { network, deployment: hash('sha256', parts.join('\n'), 'hex') };
}
