/**
 * Plans what `deploy` puts on a network: our validators as reference scripts, at an address without
 * a key, and outputs for collateral and for funding executions. Pure: takes the outputs on the
 * chain and the payer's wallet, returns transactions and the deployment that they make.
 *
 * Uses what exists already, so that an interrupted deployment can continue.
 */

import { parseAddress } from '../../cardano/codec/address.ts';
import { scriptHash } from '../../cardano/codec/hash.ts';
import { type OutputRef, refText, type Utxo } from '../../cardano/codec/output.ts';
import { decodeTransaction } from '../../cardano/codec/transaction.ts';
import { coins } from '../../cardano/codec/value.ts';
import {
  callersCollateralAddress,
  type Deployment,
  type NetworkDeployment,
} from '../../cardano/datums/deployment.ts';
import type { ProtocolParameters } from '../../cardano/ledger/parameters.ts';
import { assemble, type Evaluate } from '../../cardano/transactions/assemble.ts';
import { minLovelace } from '../../cardano/transactions/cost.ts';
import {
  type PlannedOutput,
  planOf,
  type TransactionPlan,
} from '../../cardano/transactions/plan.ts';
import type { BuildRefusal, BuiltTransaction } from '../../cardano/transactions/port.ts';
import {
  ADDRESS_NETWORK,
  DEPLOYED,
  type Deployed,
  type DeploymentTerms,
  deployedCode,
  deploymentOf,
  keyAddress,
} from '../../cardano/validators/deploy.ts';
import { buyTokens, DEFAULT_CURVE } from '../../engine/market/curve.ts';
import { DEFAULT_FEES, maxReserveLovelace } from '../../engine/market/fees.ts';
import { DEFAULT_THRESHOLD_LOVELACE } from '../../engine/market/pool.ts';
import { assert } from '../../engine/runtime/assert.ts';
import {
  existingSettings,
  newSettings,
  type PlacedSettings,
  SCRIPTS_ADDRESS,
  type UnseededTerms,
} from './deploySettings.ts';

export type DeployableNetwork = Exclude<NetworkDeployment['network'], 'mainnet' | 'devnet'>;

export interface DeployRequest {
  readonly network: DeployableNetwork;
  readonly terms: UnseededTerms;
  /** The key that pays and receives the change. */
  readonly payerKeyHash: string;
  /** Outputs of collateral set aside for transactions of callers. */
  readonly callersCollaterals: number;
}

/** Outputs that exist on the chain. */
export interface ChainContents {
  readonly wallet: readonly Utxo[];
  /** All outputs at the address of reference scripts, also of other deployers. */
  readonly scripts: readonly Utxo[];
  /** Outputs at the script of the settings' signers. */
  readonly settings: readonly Utxo[];
  readonly collaterals: readonly Utxo[];
  readonly funding: readonly Utxo[];
}

export interface DeployStep {
  readonly title: string;
  /** The first outputs of the transaction, in order; the rest is change. */
  readonly outputs: readonly { readonly name: string; readonly output: PlannedOutput }[];
  readonly built: BuiltTransaction;
}

export interface PreparedDeployment {
  readonly steps: readonly DeployStep[];
  readonly deployment: Deployment;
  readonly code: Code;
  readonly lockedLovelace: bigint;
  readonly setAsideLovelace: bigint;
  readonly feesLovelace: bigint;
}

const ADA = 1_000_000n;
const COLLATERAL = { count: 5, lovelace: 5n * ADA };
const FUNDING_UTXOS = { count: 5, lovelace: 20n * ADA };

interface Around {
  readonly parameters: ProtocolParameters;
  readonly evaluate: Evaluate;
}

export function prepareDeployment(
  request: DeployRequest,
  found: ChainContents,
  around: Around,
): PreparedDeployment | BuildRefusal {
  const { network, payerKeyHash } = request;
  const { parameters } = around;
  const builder = new StepBuilder(found.wallet, keyAddress(payerKeyHash), around);
  const zeroth = placeSettings(request, found, builder, parameters);
  if ('outcome' in zeroth) return zeroth;
  const { terms, ref: settings } = zeroth;
  const code = deployedCode(terms);
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
  const callersAddress = callersCollateralAddress(terms.collateralKeyHash, ADDRESS_NETWORK);
  const isCallers = ({ output }: Utxo) => output.address === callersAddress;
  const others = found.collaterals.filter((utxo) => !isCallers(utxo));
  const callers = { ...COLLATERAL, count: request.callersCollaterals };
  const reserves = [
    ...topUp('collateral', keyAddress(terms.collateralKeyHash), COLLATERAL, others),
    ...topUp('for callers', callersAddress, callers, found.collaterals.filter(isCallers)),
    ...topUp('funding', keyAddress(terms.feeKeyHash), FUNDING_UTXOS, found.funding),
  ];
  const second = builder.step('Collateral and funding outputs', reserves);
  if (second !== null && 'outcome' in second) return second;
  const steps = [zeroth.step, first, second].filter((step) => step !== null);
  const made = zeroth.step?.outputs ?? [];
  return {
    steps,
    code,
    deployment: { ...deploymentOf(terms, code, refsOf(there), settings), network },
    lockedLovelace: sum([...made, ...scripts]),
    setAsideLovelace: sum(reserves),
    feesLovelace: steps.reduce((fees, { built }) => fees + built.feeLovelace, 0n),
  };
}

/** The settings that are there, or the step that makes them. */
function placeSettings(
  { terms, payerKeyHash }: DeployRequest,
  { wallet, scripts, settings }: ChainContents,
  builder: StepBuilder,
  parameters: ProtocolParameters,
): (PlacedSettings & { readonly step: DeployStep | null }) | BuildRefusal {
  const there = existingSettings(terms, scripts, settings);
  if (there !== null) return { ...there, step: null };
  const made = newSettings(terms, wallet, payerKeyHash, parameters);
  if (made === null) return { outcome: 'refused', reason: 'FUNDS', message: NO_FUNDS, log: [] };
  const { seed, mint, collateral, outputs } = made;
  const inputs = [{ utxo: seed, redeemer: null }];
  const step = builder.step('Settings', outputs, { inputs, mints: [mint], collateral });
  assert(step !== null, 'it makes something');
  if ('outcome' in step) return step;
  return { terms: made.terms, ref: { txHash: step.built.id, index: 0 }, step };
}

const NO_FUNDS = 'the wallet of the key holds nothing';

/** Builds transactions in a row, each with the change of the one before. */
class StepBuilder {
  #wallet: readonly Utxo[];
  readonly #address: string;
  readonly #around: Around;

  constructor(wallet: readonly Utxo[], address: string, around: Around) {
    this.#wallet = wallet;
    this.#address = address;
    this.#around = around;
  }

  /** null: there is nothing to make. */
  step(
    title: string,
    outputs: DeployStep['outputs'],
    more: Partial<TransactionPlan> = {},
  ): DeployStep | BuildRefusal | null {
    if (outputs.length === 0) return null;
    const plan = planOf({
      outputs: outputs.map(({ output }) => output),
      wallet: this.#wallet,
      changeAddress: this.#address,
      ...more,
    });
    const built = assemble(plan, this.#around);
    if (built.outcome === 'refused') return built;
    const spent = new Set(built.inputs.map(({ ref }) => refText(ref)));
    const change = decodeTransaction(built.bytes).outputs.flatMap((output, index): Utxo[] => {
      return index < outputs.length ? [] : [{ ref: { txHash: built.id, index }, output }];
    });
    this.#wallet = [...this.#wallet.filter(({ ref }) => !spent.has(refText(ref))), ...change];
    return { title, outputs, built };
  }
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
  return { ...output, value: coins(minLovelace(parameters, output)) };
}

function topUp(
  name: string,
  address: string,
  { count, lovelace }: typeof COLLATERAL,
  held: readonly Utxo[],
): DeployStep['outputs'] {
  const fit = held.filter(({ output }) => {
    const isPure = output.value.assets.size === 0 && output.scriptHash === null;
    return isPure && output.datum === null && output.value.lovelace >= lovelace;
  });
  const output = { address, value: coins(lovelace), datum: null };
  return Array.from({ length: Math.max(0, count - fit.length) }, () => ({ name, output }));
}

/** Outputs that batches need at the fee address and that `held` lacks. */
export function fundingFor(feeAddress: string, held: readonly Utxo[]): readonly PlannedOutput[] {
  return topUp('funding', feeAddress, FUNDING_UTXOS, held).map(({ output }) => output);
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

/** Curve, fees, and the reserve at which pools graduate. Nothing changes them later. */
export type TradingTerms = Pick<DeploymentTerms, 'curve' | 'fees' | 'thresholdLovelace'>;

export const DEFAULT_TERMS: TradingTerms = {
  curve: DEFAULT_CURVE,
  fees: DEFAULT_FEES,
  thresholdLovelace: DEFAULT_THRESHOLD_LOVELACE,
};

/** A pool's output must hold about 2.6 ADA because of its size. */
const MIN_KEPT_LOVELACE = 3_000_000n;
/** The largest amount of one asset in an output of the ledger. */
const MAX_SUPPLY = 1n << 63n;

/** For a person; empty: the terms work. */
export function termsFaults({ curve, fees, thresholdLovelace }: TradingTerms): string[] {
  const rules: readonly (readonly [isKept: boolean, rule: string])[] = [
    [curve.supply >= 1n && curve.supply < MAX_SUPPLY, 'curve.supply: 1 to 2^63 - 1'],
    [curve.aNum + curve.bNum > 0n, 'curve.aNum, curve.bNum: one of them is above 0'],
    [thresholdLovelace >= fees.minTradeLovelace, 'thresholdLovelace: at least one trade'],
    [fees.percentFee < 100n, 'fees.percentFee: below 100'],
    [
      fees.creatorFeePer10k + fees.platformFeePer10k < 10_000n,
      'fees.creatorFeePer10k, fees.platformFeePer10k: together below 10000',
    ],
    [fees.lpFeePer10k < 10_000n, 'fees.lpFeePer10k: below 10000'],
    [
      fees.refundFeeLovelace <= fees.executorFeeLovelace,
      'fees.refundFeeLovelace: at most executorFeeLovelace, of which it is kept',
    ],
    [
      fees.fixedFeeLovelace <= fees.executorFeeLovelace,
      'fees.fixedFeeLovelace: at most executorFeeLovelace, of which it is part',
    ],
    [
      fees.poolKeepLovelace >= MIN_KEPT_LOVELACE,
      `fees.poolKeepLovelace: at least ${MIN_KEPT_LOVELACE}, which the pool's output needs`,
    ],
  ];
  const faults = rules.flatMap(([isKept, rule]) => (isKept ? [] : [rule]));
  if (faults.length > 0) return faults;
  const most = maxReserveLovelace(fees, thresholdLovelace);
  const hasTokensLeft = buyTokens(curve, 0n, most) < curve.supply;
  return hasTokensLeft ? [] : ['curve: it sells every token before thresholdLovelace is reached'];
}
