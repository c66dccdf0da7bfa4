/** Rules of inputs, outputs, collateral, limits and the fee. Source: Conway, rule UTXO. */

import { parseAddress } from '../../cardano/codec/address.ts';
import { integerOf, mapField, readCbor } from '../../cardano/codec/cbor.ts';
import { fromHex } from '../../cardano/codec/hex.ts';
import { type Output, refText } from '../../cardano/codec/output.ts';
import { adaJson, outputJson, refJson, valueJson } from '../../cardano/codec/outputJson.ts';
import { totalUnits } from '../../cardano/codec/transaction.ts';
import { addValues, asValue, coins, equalValues } from '../../cardano/codec/value.ts';
import { minFee, scriptBytes } from '../../cardano/transactions/cost.ts';
import type { JsonValue } from '../../engine/runtime/exactJson.ts';
import { keyDepositsLovelace } from './certificates.ts';
import { type JudgedTransaction, type RuleFailure, unlessEmpty } from './judged.ts';
import { intervalJson, rewardAccountText } from './transactionJson.ts';

/** From this protocol version on a transaction may refer to its own inputs. */
const MAY_REFER_TO_INPUTS = 11;

export function conflictingReferences({ tx, context }: JudgedTransaction): RuleFailure | null {
  if (context.parameters.version.major >= MAY_REFER_TO_INPUTS) return null;
  const spent = new Set(tx.inputs.map(refText));
  const both = tx.referenceInputs.filter((ref) => spent.has(refText(ref)));
  return unlessEmpty(3164, 'conflictingReferences', both.map(refJson));
}

export function emptyInputs({ tx }: JudgedTransaction): RuleFailure | null {
  return tx.inputs.length === 0 ? { code: 3121 } : null;
}

const NETWORK_ID = 15;

const TESTNET = 0n;

export function wrongNetwork(judged: JudgedTransaction): RuleFailure | null {
  const { tx } = judged;
  const failure = (discriminatedType: string, more: Readonly<Record<string, JsonValue>>) => {
    return { code: 3124, data: { expectedNetwork: 'testnet', discriminatedType, ...more } };
  };
  const addresses = made(judged)
    .map(({ address }) => address)
    .filter((address) => parseAddress(address)?.network === 'mainnet');
  if (addresses.length > 0) return failure('address', { invalidEntities: addresses });
  const accounts = judged
    .withdrawals()
    .filter(({ account }) => ((account[0] ?? 0) & 15) === 1)
    .map(({ account }) => rewardAccountText(account));
  if (accounts.length > 0) return failure('rewardAccount', { invalidEntities: accounts });
  const network = judged.field(NETWORK_ID);
  const isOther = network !== undefined && integerOf(tx.body, network) !== TESTNET;
  return isOther ? failure('transaction', {}) : null;
}

/** All outputs that the transaction may create. */
function made({ tx: { outputs, collateralReturn } }: JudgedTransaction): readonly Output[] {
  return collateralReturn === null ? outputs : [...outputs, collateralReturn];
}

export function outsideValidity({ tx, context: { slot } }: JudgedTransaction): RuleFailure | null {
  const { validFromSlot, validToSlot } = tx;
  const isInside =
    (validFromSlot === null || slot >= validFromSlot) &&
    (validToSlot === null || slot < validToSlot);
  if (isInside) return null;
  return { code: 3118, data: { validityInterval: intervalJson(tx), currentSlot: slot } };
}

export function largeValues(judged: JudgedTransaction): RuleFailure | null {
  const { maxValueBytes } = judged.context.parameters;
  const large = made(judged).filter((output) => valueBytes(output) > maxValueBytes);
  return unlessEmpty(3120, 'excessivelyLargeOutputs', large.map(outputJson));
}

function valueBytes({ cbor }: Output): number {
  const bytes = fromHex(cbor);
  const root = readCbor(bytes);
  const value =
    root.items.length > 0 && root.major === 4 ? root.items[1] : mapField(bytes, root, 1);
  return value === undefined ? 0 : value.end - value.start;
}

export function unknownOutputs({ tx, utxos }: JudgedTransaction): RuleFailure | null {
  const named = [...tx.inputs, ...tx.collateralInputs, ...tx.referenceInputs];
  const unknown = new Map(
    named.filter((ref) => !utxos.has(refText(ref))).map((ref) => [refText(ref), ref]),
  );
  return unlessEmpty(3117, 'unknownOutputReferences', [...unknown.values()].map(refJson));
}

export function lockedCollateral(judged: JudgedTransaction): RuleFailure | null {
  if (judged.tx.redeemers.length === 0) return null;
  const locked = judged
    .utxosOf(judged.tx.collateralInputs)
    .filter(({ output }) => parseAddress(output.address)?.payment.kind === 'script');
  return unlessEmpty(
    3129,
    'unsuitableCollateralInputs',
    locked.map(({ ref }) => refJson(ref)),
  );
}

/** Value of the collateral inputs minus their return: it is taken if a script fails. */
function collateralOf(judged: JudgedTransaction) {
  const { collateralInputs, collateralReturn } = judged.tx;
  const held = addValues(...judged.utxosOf(collateralInputs).map(({ output }) => output.value));
  const back = collateralReturn?.value ?? coins(0n);
  const assets = new Map(held.assets);
  for (const [asset, amount] of back.assets) assets.set(asset, (assets.get(asset) ?? 0n) - amount);
  return asValue(held.lovelace - back.lovelace, [...assets]);
}

const runsScripts = ({ tx }: JudgedTransaction) => tx.redeemers.length > 0;

export function otherThanAdaAsCollateral(judged: JudgedTransaction): RuleFailure | null {
  const taken = collateralOf(judged);
  if (!runsScripts(judged) || taken.assets.size === 0) return null;
  return { code: 3133, data: { unsuitableCollateralValue: valueJson(taken) } };
}

export function missingCollateral(judged: JudgedTransaction): RuleFailure | null {
  const isMissing = runsScripts(judged) && judged.tx.collateralInputs.length === 0;
  return isMissing ? { code: 3132 } : null;
}

export function tooManyCollaterals(judged: JudgedTransaction): RuleFailure | null {
  const maximumCollateralInputs = judged.context.parameters.maxCollateralInputs;
  const countedCollateralInputs = judged.tx.collateralInputs.length;
  if (!runsScripts(judged) || countedCollateralInputs <= maximumCollateralInputs) return null;
  return { code: 3131, data: { maximumCollateralInputs, countedCollateralInputs } };
}

/** No account is registered here, so there is nothing to withdraw. */
export function incompleteWithdrawals(judged: JudgedTransaction): RuleFailure | null {
  const all = judged
    .withdrawals()
    .map(({ account, lovelace }) => [rewardAccountText(account), adaJson(lovelace)] as const);
  if (all.length === 0) return null;
  return { code: 3141, data: { incompleteWithdrawals: Object.fromEntries(all) } };
}

export function totalCollateralMismatch(judged: JudgedTransaction): RuleFailure | null {
  const declared = judged.tx.totalCollateralLovelace;
  const computed = collateralOf(judged).lovelace;
  if (!runsScripts(judged) || declared === null || declared === computed) return null;
  const data = {
    declaredTotalCollateral: adaJson(declared),
    computedTotalCollateral: adaJson(computed),
  };
  return { code: 3135, data };
}

export function insufficientCollateral(judged: JudgedTransaction): RuleFailure | null {
  const { collateralPercent } = judged.context.parameters;
  const provided = collateralOf(judged).lovelace;
  // Rounded up.
  const required = (judged.tx.feeLovelace * collateralPercent + 99n) / 100n;
  if (!runsScripts(judged) || provided >= required) return null;
  const data = {
    providedCollateral: adaJson(provided),
    minimumRequiredCollateral: adaJson(required),
  };
  return { code: 3128, data };
}

export function smallOutputs(judged: JudgedTransaction): RuleFailure | null {
  const small = made(judged).flatMap((output) => {
    const least = minHeld(judged, output);
    if (output.value.lovelace >= least) return [];
    return [{ output: outputJson(output), minimumRequiredValue: adaJson(least) }];
  });
  return unlessEmpty(3125, 'insufficientlyFundedOutputs', small);
}

const ENTRY_BYTES = 160n;

/** Computed from the actual bytes: an amount may be encoded in more bytes than it needs. */
function minHeld({ context: { parameters } }: JudgedTransaction, { cbor }: Output): bigint {
  return (ENTRY_BYTES + BigInt(cbor.length / 2)) * parameters.outputByteLovelace;
}

export function tooManyUnits({
  tx,
  context: { parameters },
}: JudgedTransaction): RuleFailure | null {
  const provided = totalUnits(tx.redeemers);
  const { maxMemory, maxCpu } = parameters;
  if (provided.memory <= maxMemory && provided.cpu <= maxCpu) return null;
  const data = {
    providedExecutionUnits: { ...provided },
    maximumExecutionUnits: { memory: maxMemory, cpu: maxCpu },
  };
  return { code: 3134, data };
}

/** A node does not count the byte that says whether scripts succeed. Source: Alonzo's `sizeTxF`. */
function sizeOf({ tx }: JudgedTransaction): number {
  return tx.bytes.length - 1;
}

export function tooLarge(judged: JudgedTransaction): RuleFailure | null {
  const { maxBytes } = judged.context.parameters;
  const measured = sizeOf(judged);
  if (measured <= maxBytes) return null;
  const data = {
    measuredTransactionSize: { bytes: measured },
    maximumTransactionSize: { bytes: maxBytes },
  };
  return { code: 3119, data };
}

export function smallFee(judged: JudgedTransaction): RuleFailure | null {
  const { inputs, referenceInputs, redeemers, feeLovelace } = judged.tx;
  const referenced = judged
    .utxosOf([...inputs, ...referenceInputs])
    .reduce((sum, { output }) => sum + scriptBytes(output), 0n);
  const { parameters } = judged.context;
  const least = minFee(parameters, sizeOf(judged), redeemers, referenced);
  if (feeLovelace >= least) return null;
  const data = { minimumRequiredFee: adaJson(least), providedFee: adaJson(feeLovelace) };
  return { code: 3122, data };
}

export function notConserved(judged: JudgedTransaction): RuleFailure | null {
  const { inputs, outputs, mint, feeLovelace } = judged.tx;
  const minted = [...mint].filter(([, amount]) => amount > 0n);
  const burnt = [...mint].flatMap(([asset, amount]) =>
    amount < 0n ? [[asset, -amount] as const] : [],
  );
  const withdrawn = judged.withdrawals().reduce((sum, { lovelace }) => sum + lovelace, 0n);
  const spent = judged.utxosOf(inputs).map(({ output }) => output.value);
  const consumed = addValues(...spent, asValue(withdrawn, minted));
  const kept = coins(feeLovelace + keyDepositsLovelace(judged));
  const produced = addValues(...outputs.map(({ value }) => value), kept, asValue(0n, burnt));
  if (equalValues(consumed, produced)) return null;
  const data = { valueConsumed: valueJson(consumed), valueProduced: valueJson(produced) };
  return { code: 3123, data };
}
