/** Deploying: looked up, planned, shown, and unless it is a dry run signed, sent and waited for. */

import { addWitnesses } from '../../cardano/build/witness.ts';
import { parseAddress } from '../../cardano/codec/address.ts';
import { fromHex } from '../../cardano/codec/hex.ts';
import type { Utxo } from '../../cardano/codec/output.ts';
import type { Deployment } from '../../cardano/datums/deployment.ts';
import type { Key } from '../../cardano/keys/keys.ts';
import type { Submitter, UtxoLookup } from '../../cardano/ledger/port.ts';
import type { ProtocolParameters } from '../../cardano/ledger/protocolParameters.ts';
import type { Point } from '../../chain/port.ts';
import { formatUnits } from '../../engine/market/decimal.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { type Clock, pause } from '../../engine/runtime/clock.ts';
import {
  type ChainContents,
  type DeployPlan,
  type DeployRequest,
  type DeployStep,
  planDeployment,
  scriptsKeyHash,
} from './deployPlan.ts';

export interface DeployDeps {
  readonly utxos: UtxoLookup;
  readonly submitter: Submitter;
  readonly parameters: ProtocolParameters;
  /** The newest block; null: none yet. */
  tip(): Promise<Point | null>;
  readonly clock: Clock;
  /** Ends what waits. */
  readonly signal: AbortSignal;
  say(line: string): void;
}

export interface DeployParams extends Omit<DeployRequest, 'payerKeyHash'> {
  readonly payer: Key;
  readonly isDryRun: boolean;
}

export interface DeployResult {
  readonly deployment: Deployment;
  /** The block after which it is there. */
  readonly start: Point | null;
}

const LOOK_MS = 1_000;
/** Twenty minutes: a block every 20 seconds, and one that is full now and then. */
const MOST_LOOKS = 1_200;

/** null: a dry run. Throws with what to do where it cannot go on. */
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
    floats: feeKeyHash === hash ? [] : await of(feeKeyHash),
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
  if (plan.steps.length === 0) say('Everything is there already.');
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
  throw new Error(`${title}: no block has ${built.id} yet; the same command goes on from there`);
}

/** Spendable is what a block has made. */
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
