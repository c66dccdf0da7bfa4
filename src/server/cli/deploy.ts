/**
 * `deploy`: our validators on a public test network, through Ogmios and Kupo, paid by a key file.
 * Writes the file that DEPLOYMENT_FILE then names. Mainnet has a launchpad of its own.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { keyOf } from '../../cardano/keys/keys.ts';
import type { MarketPlan } from '../../cardano/validators/deploy.ts';
import { KupoLookup } from '../../chain/kupo/kupo.ts';
import { MempoolOverlay } from '../../chain/mempoolOverlay.ts';
import { OgmiosChain } from '../../chain/ogmios/ogmios.ts';
import { DEFAULT_CURVE } from '../../engine/market/curve.ts';
import { DEFAULT_FEES } from '../../engine/market/fees.ts';
import { DEFAULT_THRESHOLD_LOVELACE } from '../../engine/market/pool.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { deploymentText } from '../settings/deploymentText.ts';
import { type KeySecrets, secretFrom } from '../settings/keyFiles.ts';
import type { Secret } from '../settings/secrets.ts';
import type { Settings } from '../settings/table.ts';
import type { DeployCommand } from './deployArguments.ts';
import { type DeployDeps, type DeployParams, deploy } from './deploySteps.ts';

export interface DeployCommandDeps {
  readonly settings: Settings;
  readonly secrets: KeySecrets;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly signal: AbortSignal;
  say(line: string): void;
}

/** The exit code. Throws with what to do where it cannot go on. */
export async function runDeploy(command: DeployCommand, world: DeployCommandDeps): Promise<number> {
  const { say } = world;
  const { out } = command;
  if (existsSync(out)) throw new Error(`${out} is there already: name another with --out`);
  const order = orderOf(command, world);
  const result = await withNode(world, (place) => deploy(order, place));
  if (result === null) return 0;
  writeFileSync(out, deploymentText(result.deployment, result.start), { flag: 'wx' });
  say(`Wrote ${out}: start the server with DEPLOYMENT_FILE=${out}`);
  return 0;
}

function orderOf(
  { network, keyFile, isDryRun }: DeployCommand,
  { settings, secrets }: DeployCommandDeps,
): DeployParams {
  const { executor, fee, collateral } = secrets;
  if (executor === null || fee === null || collateral === null) {
    throw new Error(
      'the keys of the deployment are missing: set EXECUTOR_KEY_FILE and COLLATERAL_KEY_FILE ' +
        '(and FEE_KEY_FILE, where the fee address has a key of its own)',
    );
  }
  const payer = keyOf((keyFile === null ? executor : secretFrom(keyFile)).reveal());
  const hashOf = (secret: Secret) => keyOf(secret.reveal()).hash;
  const [executorKeyHash, feeKeyHash] = [hashOf(executor), hashOf(fee)];
  const collateralKeyHash = hashOf(collateral);
  if ([executorKeyHash, feeKeyHash, payer.hash].includes(collateralKeyHash)) {
    throw new Error('the collateral key must own nothing else: give it a key of its own');
  }
  const market: MarketPlan = {
    curve: DEFAULT_CURVE,
    fees: DEFAULT_FEES,
    thresholdLovelace: DEFAULT_THRESHOLD_LOVELACE,
    refundAfterMs: settings.ORDER_REFUND_AFTER_MS,
    ...{ executorKeyHash, feeKeyHash, collateralKeyHash },
  };
  return { network, market, payer, isDryRun };
}

/** The node is reached first, and left at the end. */
async function withNode<T>(
  { settings, clock, rng, signal, say }: DeployCommandDeps,
  work: (place: DeployDeps) => Promise<T>,
): Promise<T> {
  const { OGMIOS_URL, KUPO_URL: url } = settings;
  if (OGMIOS_URL === undefined || url === undefined) {
    throw new Error('OGMIOS_URL and KUPO_URL say where the node is: both are needed');
  }
  const seen = () => ({ tokens: [], watched: [] });
  const observer = {
    nodeConnected: () => {},
    nodeLost: (_: string, cause: string, message: string) => say(`Ogmios: ${cause}, ${message}`),
    ogmiosFailed: (error: unknown) => say(`Ogmios: ${error}`),
    kupoAsked: () => {},
    kupoHealth: () => {},
  };
  const chain = new OgmiosChain({
    url: OGMIOS_URL,
    deployment: null,
    watched: seen,
    clock,
    rng,
    observer,
  });
  const stop = () => void chain.stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await chain.start();
    const parameters = await chain.parameters();
    // Nothing is served here: any answer of Kupo will do.
    const common = { tip: () => null, overlay: new MempoolOverlay(), clock, observer };
    const utxos = new KupoLookup({ url, ...common });
    const tip = async () => {
      // A node names its tip with whatever it tells of its blocks.
      const stream = await chain.open([]);
      while (chain.tip() === null && (await stream?.next()) != null);
      await stream?.close();
      return chain.tip();
    };
    return await work({ utxos, submitter: chain, parameters, tip, clock, signal, say });
  } finally {
    signal.removeEventListener('abort', stop);
    await chain.stop();
  }
}
