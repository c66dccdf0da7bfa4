/**
 * A plan becomes bytes. Fee, change and execution units depend on each other, so the transaction is
 * written again until it holds: its scripts, run on the very bytes, take exactly the units that
 * stand in it, and its fee is what these bytes cost. Scripts run twice, as a rule.
 *
 * The bytes are our own, not a library's: it is made to keep our promises (definite lengths, no set
 * tags, exact outputs), so no repair is needed; CML and Lucid's evaluator judge them in the tests.
 */

import { ceilDivide } from '../../engine/market/ratio.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { parseAddress } from '../codec/address.ts';
import { ARRAY, cborHead } from '../codec/cbor.ts';
import { encodeAssets } from '../codec/encode.ts';
import { blake2b256, scriptHash } from '../codec/hash.ts';
import { toHex } from '../codec/hex.ts';
import { refText, type Utxo } from '../codec/output.ts';
import { auxiliaryOf, decodeTransaction, totalUnits, type Units } from '../codec/transaction.ts';
import { addValues, asValue, coins, equalValues, subtractValue } from '../codec/value.ts';
import type { ProtocolParameters } from '../ledger/parameters.ts';
import type { Evaluation } from '../ledger/scalus.ts';
import {
  indexRedeemers,
  minted,
  sortedInputs,
  type TransactionContent,
  transactionCbor,
} from './body.ts';
import { changeOutputs } from './change.ts';
import { minFee, minLovelace, scriptBytes } from './cost.ts';
import type { PlannedOutput, TransactionPlan } from './plan.ts';
import type { BuildOutcome, BuildRefusal, BuiltTransaction } from './port.ts';
import { forLovelace, select } from './selection.ts';

/** Runs all scripts of a transaction on the outputs that it spends and refers to. */
export type Evaluate = (transaction: Uint8Array, utxos: readonly Utxo[]) => Evaluation;

/** The same, of a program that is asked. */
export type AskEvaluator = (...question: Parameters<Evaluate>) => Promise<Evaluation>;

interface AssembleDeps {
  readonly parameters: ProtocolParameters;
  readonly evaluate: Evaluate;
}

/** Head of a value and its lovelace. */
const COIN_BYTES = 10;
const MAX_ROUNDS = 12;
const FIRST_FEE_LOVELACE = 200_000n;
/** Key and signature with their heads; the list's head comes once. */
const WITNESS_BYTES = 101;
/** Key 0, and the tag of a set that some wallets write around the list. */
const WITNESS_LIST_BYTES = 1 + 3;

export function assemble(
  plan: TransactionPlan,
  { parameters, evaluate }: AssembleDeps,
): BuildOutcome {
  const rounds = assembly(plan, parameters);
  let next = rounds.next();
  while (next.done !== true) next = rounds.next(evaluate(...next.value));
  return next.value;
}

/** The same by an evaluator that has to be asked; rejects as it does. */
export async function assembleAsking(
  plan: TransactionPlan,
  parameters: ProtocolParameters,
  ask: AskEvaluator,
): Promise<BuildOutcome> {
  const rounds = assembly(plan, parameters);
  let next = rounds.next();
  while (next.done !== true) next = rounds.next(await ask(...next.value));
  return next.value;
}

/** Yields the scripts that must be evaluated. */
type Assembly<Result> = Generator<Parameters<Evaluate>, Result, Evaluation>;

function* assembly(given: TransactionPlan, parameters: ProtocolParameters): Assembly<BuildOutcome> {
  const plan = withFewCollaterals(given, parameters);
  const tooSmall = smallOutput(plan, parameters);
  if (tooSmall !== null) return tooSmall;
  let units: readonly Units[] = [];
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const draft = priced(plan, parameters, units);
    if ('outcome' in draft) return draft;
    const ran = yield* run(draft.bytes, draft.parts);
    if ('outcome' in ran) return ran;
    if (sameUnitsOf(ran, units)) return finished(draft, parameters);
    units = ran;
  }
  throw new Error(`no stable units after ${MAX_ROUNDS} rounds`);
}

interface Draft {
  readonly parts: TransactionContent;
  readonly bytes: Uint8Array;
  /** With all signatures. */
  readonly sizeBytes: number;
}

/** The transaction with these units and the least fee that pays for it. */
function priced(
  plan: TransactionPlan,
  parameters: ProtocolParameters,
  units: readonly Units[],
): Draft | BuildRefusal {
  const referenced = referencedBytes(plan);
  let feeLovelace = FIRST_FEE_LOVELACE;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const parts = layOut(plan, parameters, feeLovelace, units);
    if ('outcome' in parts) return parts;
    const bytes = transactionCbor(parts, parameters);
    const sizeBytes = bytes.length + signaturesBytes(parts);
    const least = minFee(parameters, sizeBytes, units, referenced);
    // The first fee is a guess and may be too high; later ones only grow, so that this ends.
    if (round > 0 && least <= feeLovelace) return { parts, bytes, sizeBytes };
    feeLovelace = least;
  }
  throw new Error(`no stable fee after ${MAX_ROUNDS} rounds`);
}

/**
 * If the wallet has more collateral outputs than the ledger allows, takes the best: pure ADA, then
 * most lovelace.
 */
function withFewCollaterals(
  plan: TransactionPlan,
  { maxCollateralInputs }: ProtocolParameters,
): TransactionPlan {
  const { collateral } = plan;
  if (collateral === null || collateral.utxos.length <= maxCollateralInputs) return plan;
  const utxos = [...collateral.utxos].sort(forLovelace).slice(0, maxCollateralInputs);
  return { ...plan, collateral: { ...collateral, utxos } };
}

function smallOutput(
  { outputs, feeFrom }: TransactionPlan,
  parameters: ProtocolParameters,
): BuildRefusal | null {
  for (const [index, output] of outputs.entries()) {
    if (index === feeFrom) continue;
    const least = minLovelace(parameters, output);
    if (output.value.lovelace < least) {
      const held = `output ${index} would hold ${output.value.lovelace} lovelace`;
      return refusal('OUTPUT_TOO_SMALL', `${held}, and the ledger asks for ${least}: send more`);
    }
    if (encodeAssets(output.value.assets).length > parameters.maxValueBytes - COIN_BYTES) {
      return refusal('TOO_LARGE', `output ${index} has too many tokens for one output`);
    }
  }
  return null;
}

/** Inputs, outputs and collateral for this fee. */
function layOut(
  plan: TransactionPlan,
  parameters: ProtocolParameters,
  feeLovelace: bigint,
  units: readonly Units[],
): TransactionContent | BuildRefusal {
  const outputs = paying(plan, feeLovelace);
  const out = addValues(coins(feeLovelace), ...outputs.map(({ value }) => value));
  const mint = asValue(0n, minted(plan));
  const put = addValues(mint, ...plan.inputs.map(({ utxo }) => utxo.output.value));
  const chosen = chooseInputs(plan, subtractValue(out, put), parameters);
  if (chosen.outcome === 'refused') return chosen;
  const { utxos, change } = chosen;
  for (const output of outputs) {
    if (output.value.lovelace < minLovelace(parameters, output)) {
      return refusal('OUTPUT_TOO_SMALL', 'after the fee too little is left for the output');
    }
  }
  const inputs = sortedInputs(plan.inputs, utxos);
  assert(inputs.length > 0, 'a transaction spends something');
  const guarantee = collateralOf(plan, parameters, feeLovelace);
  if ('outcome' in guarantee) return guarantee;
  return {
    plan,
    inputs,
    outputs: [...outputs, ...change],
    feeLovelace,
    redeemers: indexRedeemers(inputs, plan),
    units,
    ...guarantee,
  };
}

/** The planned outputs, of which one may pay the fee. */
function paying({ outputs, feeFrom }: TransactionPlan, feeLovelace: bigint): PlannedOutput[] {
  return outputs.map((output, index) =>
    index === feeFrom
      ? { ...output, value: subtractValue(output.value, coins(feeLovelace)) }
      : output,
  );
}

function chooseInputs(
  plan: TransactionPlan,
  need: ReturnType<typeof coins>,
  parameters: ProtocolParameters,
): { outcome: 'settled'; utxos: readonly Utxo[]; change: readonly PlannedOutput[] } | BuildRefusal {
  const { wallet, changeAddress, inputs } = plan;
  if (wallet === 'exact') {
    const left = subtractValue(coins(0n), need);
    const lacks = left.lovelace < 0n || [...left.assets.values()].some((amount) => amount < 0n);
    if (lacks) return refusal('FUNDS', 'the inputs do not cover the outputs and the fee');
    const change = changeOutputs(left, changeAddress, parameters);
    if ('length' in change) return { outcome: 'settled', utxos: [], change };
    return refusal('FUNDS', `${change.lackLovelace} lovelace are missing for the change`);
  }
  const spent = new Set(inputs.map(({ utxo }) => refText(utxo.ref)));
  const free = wallet.filter(({ ref }) => !spent.has(refText(ref)));
  const selection = select(free, { value: need, changeAddress }, parameters);
  if (selection.outcome === 'selected') return { ...selection, outcome: 'settled' };
  const reason = selection.outcome === 'poor' ? 'FUNDS' : 'CONSOLIDATE';
  return refusal(reason, selection.message);
}

/** The collateral that is lost if a script fails, and the collateral that comes back. */
function collateralOf(
  { collateral }: TransactionPlan,
  { collateralPercent, ...parameters }: ProtocolParameters,
  feeLovelace: bigint,
): Pick<TransactionContent, 'collateralLovelace' | 'collateralReturn'> | BuildRefusal {
  if (collateral === null) return { collateralLovelace: 0n, collateralReturn: null };
  const held = addValues(...collateral.utxos.map(({ output }) => output.value));
  const asked = ceilDivide(feeLovelace * collateralPercent, 100n);
  const value = subtractValue(held, coins(asked));
  const back: PlannedOutput = { address: collateral.returnAddress, value, datum: null };
  if (value.lovelace >= minLovelace({ ...parameters, collateralPercent }, back)) {
    return { collateralLovelace: asked, collateralReturn: back };
  }
  if (value.lovelace >= 0n && value.assets.size === 0) {
    return { collateralLovelace: held.lovelace, collateralReturn: null };
  }
  return refusal('COLLATERAL', `the collateral must hold ${asked} lovelace and what comes back`);
}

function* run(
  bytes: Uint8Array,
  { redeemers, inputs, plan }: TransactionContent,
): Assembly<readonly Units[] | BuildRefusal> {
  if (redeemers.length === 0) return [];
  const spent = inputs.map(({ utxo }) => utxo);
  const result = yield [bytes, [...spent, ...plan.references]];
  if (result.outcome === 'failed') {
    const log = result.logs.length === 0 ? '' : ` (${result.logs.join('; ')})`;
    return refusal('SCRIPT_FAILED', `a script refused: ${result.message}${log}`, result.logs);
  }
  return redeemers.map(({ purpose, index }) => {
    const found = result.budgets.find((ran) => ran.purpose === purpose && ran.index === index);
    assert(found !== undefined, `the script for ${purpose} ${index} ran`);
    return { memory: found.memory, cpu: found.cpu };
  });
}

function sameUnitsOf(a: readonly Units[], b: readonly Units[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ memory, cpu }, index) => b[index]?.memory === memory && b[index]?.cpu === cpu)
  );
}

/** One signature per key that an input, the collateral or a script asks for. */
function signaturesBytes({ inputs, plan }: TransactionContent): number {
  const keys = new Set([...plan.signers, ...(plan.native?.keyHashes ?? [])]);
  for (const { output } of [...inputs.map(({ utxo }) => utxo), ...(plan.collateral?.utxos ?? [])]) {
    const payment = parseAddress(output.address)?.payment;
    if (payment?.kind === 'key') keys.add(payment.hash);
  }
  return WITNESS_LIST_BYTES + cborHead(ARRAY, keys.size).length + keys.size * WITNESS_BYTES;
}

/** The ledger charges for a script in a spent output as for a script in a reference input. */
function referencedBytes({ inputs, references }: TransactionPlan): bigint {
  const outputs = [...inputs.map(({ utxo }) => utxo), ...references];
  return outputs.reduce((sum, { output }) => sum + scriptBytes(output), 0n);
}

/** The last look: limits, conservation, and every output against the plan, read from the bytes. */
function finished(
  { parts, bytes, sizeBytes }: Draft,
  { maxBytes, maxMemory, maxCpu }: ProtocolParameters,
): BuiltTransaction | BuildRefusal {
  const { maxPercent } = parts.plan;
  const isOver = (used: bigint, most: bigint): boolean => used * 100n > most * BigInt(maxPercent);
  if (isOver(BigInt(sizeBytes), BigInt(maxBytes))) {
    const most = Math.floor((maxBytes * maxPercent) / 100);
    return refusal('TOO_LARGE', `${sizeBytes} bytes, and this transaction has at most ${most}`);
  }
  const { memory, cpu } = totalUnits(parts.units);
  if (isOver(memory, maxMemory) || isOver(cpu, maxCpu)) {
    return refusal('TOO_LARGE', 'the scripts take more than this transaction may');
  }
  const made = decodeTransaction(bytes);
  assert(made.outputs.length === parts.outputs.length, 'as many outputs as planned');
  for (const [index, { address, value, datum, script }] of parts.outputs.entries()) {
    const output = made.outputs[index];
    assert(output?.address === address && output.datum === datum, `output ${index} is the plan's`);
    assert(equalValues(output.value, value), `output ${index} holds what was planned`);
    const hash = script === undefined ? null : scriptHash(script);
    assert(output.scriptHash === hash, `output ${index} has the planned script, or none`);
  }
  const { data, hash: dataHash } = auxiliaryOf(made);
  assert((data && toHex(data)) === parts.plan.auxiliaryData, 'its metadata are the plan’s');
  assert(dataHash === (data && blake2b256(data)), 'the body names their hash');
  const inputs = parts.inputs.map(({ utxo }) => utxo);
  const put = addValues(asValue(0n, made.mint), ...inputs.map(({ output }) => output.value));
  const out = addValues(coins(made.feeLovelace), ...made.outputs.map(({ value }) => value));
  assert(equalValues(put, out), 'inputs = outputs + fee');
  return {
    outcome: 'built',
    id: made.id,
    bytes: Uint8Array.from(bytes),
    feeLovelace: made.feeLovelace,
    inputs,
    collateral: parts.plan.collateral?.utxos ?? [],
    scriptsRanIn: parts.redeemers.length === 0 ? null : made.id,
  };
}

function refusal(
  reason: BuildRefusal['reason'],
  message: string,
  log: readonly string[] = [],
): BuildRefusal {
  return { outcome: 'refused', reason, message, log };
}
