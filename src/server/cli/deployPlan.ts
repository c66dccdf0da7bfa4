/**
 * Plans what `deploy` puts on a network: our validators as reference scripts, at an address without
 * a key, and outputs for collateral and for funding executions. Pure: takes the outputs on the
 * chain and the payer's wallet, returns transactions and the deployment that they make.
 *
 * Uses what exists already, so that an interrupted deployment can continue.
 */

import { assemble } from '../../cardano/build/assemble.ts';
import { leastLovelace } from '../../cardano/build/cost.ts';
import { type PlannedOutput, planOf } from '../../cardano/build/plan.ts';
import type { BuildRefusal, BuiltTransaction } from '../../cardano/build/port.ts';
import { parseAddress } from '../../cardano/codec/address.ts';
import { scriptHash } from '../../cardano/codec/hash.ts';
import { type OutputRef, refText, type Utxo } from '../../cardano/codec/output.ts';
import { decodeTransaction } from '../../cardano/codec/transaction.ts';
import { coins } from '../../cardano/codec/value.ts';
import type { Deployment, NetworkDeployment } from '../../cardano/datums/deployment.ts';
import type { ProtocolParameters } from '../../cardano/ledger/parameters.ts';
import {
  DEPLOYED,
  type Deployed,
  deployedCode,
  deploymentOf,
  keyAddress,
  lockedAddress,
  type MarketPlan,
} from '../../cardano/validators/deploy.ts';
import { assert } from '../../engine/runtime/assert.ts';

export type DeployableNetwork = Exclude<NetworkDeployment['network'], 'mainnet'>;

export interface DeployRequest {
  readonly network: DeployableNetwork;
  readonly market: MarketPlan;
  /** The key that pays and receives the change. */
  readonly payerKeyHash: string;
}

/** Outputs that exist on the chain. */
export interface ChainContents {
  readonly wallet: readonly Utxo[];
  /** All outputs at the address of reference scripts, also of other deployers. */
  readonly scripts: readonly Utxo[];
  readonly collaterals: readonly Utxo[];
  readonly funding: readonly Utxo[];
}

export interface DeployStep {
  readonly title: string;
  /** The first outputs of the transaction, in order; the rest is change. */
  readonly outputs: readonly { readonly name: string; readonly output: PlannedOutput }[];
  readonly built: BuiltTransaction;
}

export interface DeployPlan {
  readonly steps: readonly DeployStep[];
  readonly deployment: Deployment;
  readonly lockedLovelace: bigint;
  readonly setAsideLovelace: bigint;
  readonly feesLovelace: bigint;
}

const ADA = 1_000_000n;
const COLLATERAL = { count: 5, lovelace: 5n * ADA };
const FUNDING_UTXOS = { count: 5, lovelace: 20n * ADA };
export const SCRIPTS_ADDRESS = lockedAddress('reference scripts');

export function planDeployment(
  request: DeployRequest,
  found: ChainContents,
  parameters: ProtocolParameters,
): DeployPlan | BuildRefusal {
  const { network, market, payerKeyHash } = request;
  const code = deployedCode(market);
  const builder = new StepBuilder(found.wallet, keyAddress(payerKeyHash), parameters);
  const there = existingScripts(code, found.scripts);
  const missing = DEPLOYED.filter((name) => !there.has(name));
  const scripts = missing.map((name) => ({
    name,
    output: withMinLovelace({ address: SCRIPTS_ADDRESS, script: code[name] }, parameters),
  }));
  const first = builder.step('Reference scripts', scripts);
  if (first !== null && 'outcome' in first) return first;
  for (const [index, name] of missing.entries()) {
    assert(first !== null, 'what is missing is made');
    there.set(name, { txHash: first.built.id, index });
  }
  const reserves = [
    ...topUp('collateral', market.collateralKeyHash, COLLATERAL, found.collaterals),
    ...topUp('funding', market.feeKeyHash, FUNDING_UTXOS, found.funding),
  ];
  const second = builder.step('Collateral and funding outputs', reserves);
  if (second !== null && 'outcome' in second) return second;
  const steps = [first, second].filter((step) => step !== null);
  return {
    steps,
    deployment: { ...deploymentOf(market, code, refsOf(there)), network },
    lockedLovelace: sum(scripts),
    setAsideLovelace: sum(reserves),
    feesLovelace: steps.reduce((fees, { built }) => fees + built.feeLovelace, 0n),
  };
}

/** Builds transactions in a row, each with the change of the one before. */
class StepBuilder {
  #wallet: readonly Utxo[];
  readonly #address: string;
  readonly #parameters: ProtocolParameters;

  constructor(wallet: readonly Utxo[], address: string, parameters: ProtocolParameters) {
    this.#wallet = wallet;
    this.#address = address;
    this.#parameters = parameters;
  }

  /** null: there is nothing to make. */
  step(title: string, outputs: DeployStep['outputs']): DeployStep | BuildRefusal | null {
    if (outputs.length === 0) return null;
    const plan = planOf({
      outputs: outputs.map(({ output }) => output),
      wallet: this.#wallet,
      changeAddress: this.#address,
    });
    const built = assemble(plan, { parameters: this.#parameters, evaluate: noScripts });
    if (built.outcome === 'refused') return built;
    const spent = new Set(built.inputs.map(({ ref }) => refText(ref)));
    const change = decodeTransaction(built.bytes).outputs.flatMap((output, index): Utxo[] => {
      return index < outputs.length ? [] : [{ ref: { txHash: built.id, index }, output }];
    });
    this.#wallet = [...this.#wallet.filter(({ ref }) => !spent.has(refText(ref))), ...change];
    return { title, outputs, built };
  }
}

function noScripts(): never {
  throw new Error('deploying runs no script');
}

type Code = Readonly<Record<Deployed, string>>;

function existingScripts(code: Code, scripts: readonly Utxo[]): Map<Deployed, OutputRef> {
  const places = new Map<Deployed, OutputRef>();
  for (const name of DEPLOYED) {
    const hash = scriptHash(code[name]);
    const found = scripts.find(({ output }) => output.scriptHash === hash);
    if (found !== undefined) places.set(name, found.ref);
  }
  return places;
}

function refsOf(places: ReadonlyMap<Deployed, OutputRef>): Record<Deployed, OutputRef> {
  const ref = (name: Deployed): OutputRef => {
    const found = places.get(name);
    assert(found !== undefined, 'every script has an output');
    return found;
  };
  return {
    launchPolicy: ref('launchPolicy'),
    curvePool: ref('curvePool'),
    order: ref('order'),
    ammPool: ref('ammPool'),
    vesting: ref('vesting'),
  };
}

function withMinLovelace(
  { address, script }: { address: string; script: string },
  parameters: ProtocolParameters,
): PlannedOutput {
  const output = { address, value: coins(0n), datum: null, script };
  return { ...output, value: coins(leastLovelace(parameters, output)) };
}

function topUp(
  name: string,
  keyHash: string,
  { count, lovelace }: typeof COLLATERAL,
  held: readonly Utxo[],
): DeployStep['outputs'] {
  const fit = held.filter(({ output }) => {
    const isPure = output.value.assets.size === 0 && output.scriptHash === null;
    return isPure && output.datum === null && output.value.lovelace >= lovelace;
  });
  const output = { address: keyAddress(keyHash), value: coins(lovelace), datum: null };
  return Array.from({ length: Math.max(0, count - fit.length) }, () => ({ name, output }));
}

function sum(outputs: DeployStep['outputs']): bigint {
  return outputs.reduce((whole, { output }) => whole + output.value.lovelace, 0n);
}

/** Payment hash of the address of reference scripts, for lookups. */
export function scriptsKeyHash(): string {
  const address = parseAddress(SCRIPTS_ADDRESS);
  assert(address !== null, 'our own address');
  return address.payment.hash;
}
