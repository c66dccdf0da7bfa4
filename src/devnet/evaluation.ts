/** `evaluateTransaction`: runs the scripts of a transaction and says what each of them costs. */
import {
  type ForeignOutput,
  foreignOutput,
  SCRIPT_LANGUAGES,
} from '../cardano/codec/foreignOutput.ts';
import { type OutputRef, refText, type Utxo } from '../cardano/codec/output.ts';
import { readRef, refJson } from '../cardano/codec/outputJson.ts';
import { namedRefs, type Transaction } from '../cardano/codec/transaction.ts';
import { asValue, type Value } from '../cardano/codec/value.ts';
import type { LedgerTerms } from '../cardano/ledger/parameters.ts';
import type { UtxoState } from '../cardano/ledger/port.ts';
import { evaluate } from '../cardano/ledger/scalus.ts';
import { integerIn, type JsonValue } from '../engine/runtime/exactJson.ts';
import { JudgedTransaction } from './ogmios/judged.ts';
import { deserialisationFailure, transactionOf } from './ogmios/refusals.ts';
import { type Answer, invalidParams, type RpcError } from './ogmios/rpc.ts';
import { cborOf } from './ogmios/session.ts';
import { PURPOSES } from './ogmios/transactionJson.ts';
import { uselessRedeemers } from './ogmios/witnessRules.ts';

const MAX_ADDITIONAL = 1_000;

export function evaluation(
  params: Readonly<Record<string, unknown>>,
  output: (ref: OutputRef) => UtxoState,
  terms: LedgerTerms,
): Answer {
  const cbor = cborOf(params);
  if (cbor === null) return invalidParams('transaction.cbor must be base16');
  const bytes = Buffer.from(cbor, 'hex');
  const tx = transactionOf(bytes);
  if (tx === null) return { error: deserialisationFailure('no transaction of this era') };
  const additional = additionalOf(params.additionalUtxo);
  if (typeof additional === 'string') return invalidParams(additional);
  const others = [...additional.values()].filter((utxo) => differs(utxo, output(utxo.ref)));
  if (others.length > 0) return { error: overlapping(others) };
  const utxos: Utxo[] = [];
  for (const ref of needed(tx)) {
    const state = output(ref);
    const utxo = state.state === 'unspent' ? state.utxo : additional.get(refText(ref));
    if (utxo === undefined) return { error: unusable(`input ${refText(ref)} is ${state.state}`) };
    utxos.push(utxo);
  }
  const found = evaluate(bytes, utxos, terms);
  if (found.outcome === 'failed') {
    const known = new Map(utxos.map((utxo) => [refText(utxo.ref), utxo]));
    const named = (ref: OutputRef) => known.get(refText(ref)) ?? null;
    const context = { output: named, slot: 0, parameters: terms.parameters };
    const useless = uselessRedeemers(new JudgedTransaction(tx, context));
    if (useless.length > 0) return { error: scriptFailures(useless.map(uselessFailure)) };
    return { error: failed(tx, found.message, found.logs) };
  }
  return {
    result: found.budgets.map(({ purpose, index, memory, cpu }) => ({
      validator: { purpose: PURPOSES[purpose] ?? purpose, index },
      budget: { memory, cpu },
    })),
  };
}

/** Providers also name outputs that the ledger has; for these, the ledger's content counts. */
function differs({ output }: Utxo, known: UtxoState): boolean {
  if (known.state !== 'unspent') return false;
  const { address, value } = known.utxo.output;
  const isSame =
    address === output.address &&
    value.lovelace === output.value.lovelace &&
    value.assets.size === output.value.assets.size &&
    [...value.assets].every(([asset, amount]) => output.value.assets.get(asset) === amount);
  return !isSame;
}

function needed(tx: Transaction): OutputRef[] {
  return [...new Map(namedRefs(tx).map((ref) => [refText(ref), ref])).values()];
}

function unusable(reason: string): RpcError {
  return { code: 3004, message: 'Unable to create the evaluation context.', data: { reason } };
}

function overlapping(utxos: readonly Utxo[]): RpcError {
  const message = 'Some user-provided additional UTxO entries overlap with those of the ledger.';
  const data = { overlappingOutputReferences: utxos.map(({ ref }) => refJson(ref)) };
  return { code: 3002, message, data };
}

function scriptFailures(data: readonly JsonValue[]): RpcError {
  const message = 'Some scripts of the transactions terminated with error(s).';
  return { code: 3010, message, data };
}

function uselessFailure({
  pointer,
  isScriptMissing,
}: ReturnType<typeof uselessRedeemers>[number]): JsonValue {
  const error = isScriptMissing
    ? {
        code: 3011,
        message: 'An associated script witness is missing.',
        data: { missingScripts: [pointer] },
      }
    : {
        code: 3110,
        message: 'Extraneous (non-required) redeemers found in the transaction.',
        data: { extraneousRedeemers: [pointer] },
      };
  return { validator: pointer, error };
}

/** The evaluator does not name the script: with several, none is blamed. */
function failed(tx: Transaction, message: string, logs: readonly string[]): RpcError {
  const [redeemer] = tx.redeemers;
  if (redeemer === undefined || tx.redeemers.length > 1) {
    return unusable([message, ...logs].join(' | '));
  }
  const { purpose, index } = redeemer;
  const error = {
    code: 3012,
    message: 'Some of the scripts failed to evaluate to a positive outcome.',
    data: { validationError: message, traces: logs },
  };
  return scriptFailures([{ validator: { purpose: PURPOSES[purpose] ?? purpose, index }, error }]);
}

/** Outputs by reference; a string is an error message. */
function additionalOf(value: unknown): Map<string, Utxo> | string {
  const found = new Map<string, Utxo>();
  if (value === undefined || value === null) return found;
  if (!Array.isArray(value) || value.length > MAX_ADDITIONAL) {
    return `additionalUtxo is a list of at most ${MAX_ADDITIONAL} outputs`;
  }
  for (const [at, each] of value.entries()) {
    const utxo = utxoOf(each);
    if (utxo === null) return `additionalUtxo[${at}] cannot be read`;
    found.set(refText(utxo.ref), utxo);
  }
  return found;
}

function utxoOf(value: unknown): Utxo | null {
  const ref = readRef(value);
  if (ref === null) return null;
  // trust: `readRef` has seen an object
  const { address, value: amounts, datum, datumHash, script } = value as Members;
  const held = readValue(amounts);
  const code = scriptOf(script);
  const data = datumOf(datum, datumHash);
  if (typeof address !== 'string' || held === null || code === 'wrong' || data === 'wrong') {
    return null;
  }
  const output = foreignOutput({ address, value: held, datum: data, script: code });
  return output === null ? null : { ref, output };
}

type Members = Readonly<Record<string, unknown>>;

const MAX_AMOUNT = (1n << 64n) - 1n;
const POLICY = /^[0-9a-f]{56}$/;
const NAME = /^([0-9a-f]{2}){0,32}$/;
const HEX = /^([0-9a-f]{2})+$/;
const HASH = /^[0-9a-f]{64}$/;

/** null: no value. Amounts are exact, and none is rounded into another. */
function readValue(amounts: unknown): Value | null {
  if (typeof amounts !== 'object' || amounts === null) return null;
  // trust: an object
  const { ada, ...policies } = amounts as Members;
  const lovelace = amountOf(membersOf(ada).lovelace);
  if (lovelace === null) return null;
  const assets: [string, bigint][] = [];
  for (const [policy, names] of Object.entries(policies)) {
    if (!POLICY.test(policy)) return null;
    for (const [name, written] of Object.entries(membersOf(names))) {
      const amount = amountOf(written);
      if (!NAME.test(name) || amount === null) return null;
      assets.push([`${policy}.${name}`, amount]);
    }
  }
  return asValue(lovelace, assets);
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function amountOf(written: unknown): bigint | null {
  const amount = integerIn(written);
  return amount !== null && amount >= 0n && amount <= MAX_AMOUNT ? amount : null;
}

function datumOf(datum: unknown, hash: unknown): ForeignOutput['datum'] | 'wrong' {
  if (typeof datum === 'string') return HEX.test(datum) ? { inline: datum } : 'wrong';
  if (typeof hash === 'string') return HASH.test(hash) ? { hash } : 'wrong';
  return null;
}

function scriptOf(script: unknown): ForeignOutput['script'] | 'wrong' {
  if (script === undefined || script === null) return null;
  const { language: name, cbor: code } = membersOf(script);
  const language = SCRIPT_LANGUAGES.find((each) => each === name);
  if (language === undefined || typeof code !== 'string' || !HEX.test(code)) return 'wrong';
  return { language, code };
}
