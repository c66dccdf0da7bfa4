/**
 * `deploy`: puts our validators on a public test network, through Ogmios and Kupo, paid by a key
 * file: looks up what exists, plans, shows the plan, then signs, sends and waits. Writes the file
 * that DEPLOYMENT_FILE then names. Mainnet already has a launchpad.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { addWitnesses } from '../../cardano/build/witness.ts';
import { parseAddress } from '../../cardano/codec/address.ts';
import { fromHex } from '../../cardano/codec/hex.ts';
import type { Utxo } from '../../cardano/codec/output.ts';
import type { Deployment } from '../../cardano/datums/deployment.ts';
import { Key } from '../../cardano/keys/keys.ts';
import type { ProtocolParameters } from '../../cardano/ledger/parameters.ts';
import type { Submitter, UtxoLookup } from '../../cardano/ledger/port.ts';
import type { MarketPlan } from '../../cardano/validators/deploy.ts';
import { KupoLookup } from '../../chain/kupo/kupo.ts';
import { MempoolOverlay } from '../../chain/mempoolOverlay.ts';
import { OgmiosChain } from '../../chain/ogmios/ogmios.ts';
import type { Point } from '../../chain/port.ts';
import { DEFAULT_CURVE } from '../../engine/market/curve.ts';
import { formatUnits } from '../../engine/market/decimal.ts';
import { DEFAULT_FEES } from '../../engine/market/fees.ts';
import { DEFAULT_THRESHOLD_LOVELACE } from '../../engine/market/pool.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { type Clock, pause } from '../../engine/runtime/clock.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { deploymentText } from '../settings/deployments.ts';
import { type KeySecrets, secretFrom } from '../settings/keyFiles.ts';
import type { Secret } from '../settings/secrets.ts';
import type { Settings } from '../settings/table.ts';
import type { DeployCommand } from './commands.ts';
import {
  type ChainContents,
  type DeployPlan,
  type DeployRequest,
  type DeployStep,
  planDeployment,
  scriptsKeyHash,
} from './deployPlan.ts';

export interface DeployCommandDeps {
  readonly settings: Settings;
  readonly secrets: KeySecrets;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly signal: AbortSignal;
  say(line: string): void;
}

/** Returns the exit code. Throws with a remedy if it cannot continue. */
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
        '(and FEE_KEY_FILE, if the fee address has another key)',
    );
  }
  const payer = new Key((keyFile === null ? executor : secretFrom(keyFile)).reveal());
  const hashOf = (secret: Secret) => new Key(secret.reveal()).hash;
  const [executorKeyHash, feeKeyHash] = [hashOf(executor), hashOf(fee)];
  const collateralKeyHash = hashOf(collateral);
  if ([executorKeyHash, feeKeyHash, payer.hash].includes(collateralKeyHash)) {
    throw new Error('the collateral key must own nothing else: use a separate key for it');
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

/** Connects to the node before `work` and disconnects after it. */
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
    // Nothing is served here, so Kupo's answers may be of any block.
    const common = { tip: () => null, overlay: new MempoolOverlay(), clock, observer };
    const utxos = new KupoLookup({ url, ...common });
    const tip = async () => {
      // A node names its tip with each block that it sends.
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

export interface DeployDeps {
  readonly utxos: UtxoLookup;
  readonly submitter: Submitter;
  readonly parameters: ProtocolParameters;
  /** The newest block; null: the chain has none yet. */
  tip(): Promise<Point | null>;
  readonly clock: Clock;
  /** Ends all waiting. */
  readonly signal: AbortSignal;
  say(line: string): void;
}

export interface DeployParams extends Omit<DeployRequest, 'payerKeyHash'> {
  readonly payer: Key;
  readonly isDryRun: boolean;
}

export interface DeployResult {
  readonly deployment: Deployment;
  /** Following begins after this block. */
  readonly start: Point | null;
}

const LOOK_MS = 1_000;
/** Twenty minutes: blocks come every 20 seconds, and some are full. */
const MOST_LOOKS = 1_200;

/** null: a dry run. Throws with a remedy if it cannot continue. */
export async function deploy(order: DeployParams, place: DeployDeps): Promise<DeployResult | null> {
  const { payer, market } = order;
  const found = await lookUp(payer, market, place);
  const plan = planDeployment({ ...order, payerKeyHash: payer.hash }, found, place.parameters);
  if ('outcome' in plan) throw new Error(`it cannot be paid for: ${plan.message}`);
  show(plan, found.wallet, place);
  if (order.isDryRun) {
    place.say('Nothing was sent: this was a dry run.');
    return null;
  }
  const tip = await place.tip();
  for (const step of plan.steps) await send(step, payer, place);
  const start = tip === null ? null : { slot: tip.slot, hash: tip.hash };
  return { deployment: plan.deployment, start };
}

async function lookUp(
  { hash }: Key,
  { collateralKeyHash, feeKeyHash }: DeployRequest['market'],
  { utxos }: DeployDeps,
): Promise<ChainContents> {
  const of = (keyHash: string) => utxos.byPaymentKey(keyHash, 'spendable');
  return {
    wallet: await of(hash),
    scripts: await of(scriptsKeyHash()),
    collaterals: collateralKeyHash === hash ? [] : await of(collateralKeyHash),
    funding: feeKeyHash === hash ? [] : await of(feeKeyHash),
  };
}

function show(plan: DeployPlan, wallet: readonly Utxo[], { say }: DeployDeps): void {
  for (const { title, outputs, built } of plan.steps) {
    say(`${title}: transaction ${built.id}`);
    say(`  ${built.bytes.length} bytes, fee ${ada(built.feeLovelace)}`);
    for (const { name, output } of outputs) {
      say(`  ${name.padEnd(13)} ${ada(output.value.lovelace).padStart(16)}  ${output.address}`);
    }
  }
  if (plan.steps.length === 0) say('Everything is deployed already.');
  const { lockedLovelace, setAsideLovelace, feesLovelace } = plan;
  const held = wallet.reduce((sum, { output }) => sum + output.value.lovelace, 0n);
  say(`Locked for good with the scripts   ${ada(lockedLovelace)}`);
  say(`Set aside, yours to spend again    ${ada(setAsideLovelace)}`);
  say(`Network fees                       ${ada(feesLovelace)}`);
  const total = lockedLovelace + setAsideLovelace + feesLovelace;
  say(`In all                             ${ada(total)} of ${ada(held)}`);
}

async function send(step: DeployStep, payer: Key, place: DeployDeps): Promise<void> {
  const { title, built } = step;
  const { submitter, utxos, clock, signal, say } = place;
  const { publicKey } = payer;
  const signature = payer.sign(fromHex(built.id));
  const outcome = await submitter.submit(addWitnesses(built.bytes, [{ publicKey, signature }]));
  if (outcome.outcome === 'refused') {
    throw new Error(`${title}: the network refused it (${outcome.reason}): ${outcome.message}`);
  }
  say(`${title}: sent, waiting for a block`);
  for (let looks = 0; looks < MOST_LOOKS && !signal.aborted; looks += 1) {
    if (await isInBlock(step, utxos)) {
      say(`${title}: in a block`);
      return;
    }
    await pause(clock, LOOK_MS, signal);
  }
  throw new Error(`${title}: no block has ${built.id} yet; run the same command again to continue`);
}

/** Kupo calls an output spendable when a block has it. */
async function isInBlock({ built, outputs }: DeployStep, utxos: UtxoLookup): Promise<boolean> {
  const [first] = outputs;
  const payment = parseAddress(first?.output.address ?? '')?.payment;
  assert(payment !== undefined, 'a step makes something, at an address of ours');
  const held = await utxos.byPaymentKey(payment.hash, 'spendable');
  return held.some(({ ref }) => ref.txHash === built.id);
}

function ada(lovelace: bigint): string {
  return `${formatUnits(lovelace, 6)} ADA`;
}
