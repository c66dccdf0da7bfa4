/**
 * Refusals of the devnet's ledger as Ogmios reports them: codes and data of `submitTransaction`, as
 * a node of the Conway era gives them. Source: SubmitTransactionFailure in its schema.
 */
import { parseAddress } from '../../cardano/codec/address.ts';
import { blake2b224 } from '../../cardano/codec/hash.ts';
import { fromHex } from '../../cardano/codec/hex.ts';
import type { Utxo } from '../../cardano/codec/output.ts';
import {
  decodeTransaction,
  type Transaction,
  totalUnits,
} from '../../cardano/codec/transaction.ts';
import { addValues, asValue, coins } from '../../cardano/codec/value.ts';
import { minFeeLovelace, type ProtocolParameters } from '../../cardano/ledger/parameters.ts';
import type { RefusalReason } from '../../cardano/ledger/port.ts';
import { isFault } from '../../engine/runtime/assert.ts';
import { adaJson, outputJson, refJson, valueJson } from './outputJson.ts';
import { CODES, type RpcError } from './rpc.ts';
import { intervalJson } from './transactionJson.ts';

interface Refused {
  readonly reason: RefusalReason;
  readonly message: string;
}

/** The ledger's state at the refusal. */
export interface RefusalContext {
  /** Of the inputs, those that are unspent. */
  readonly spent: readonly Utxo[];
  readonly slot: number;
  readonly parameters: ProtocolParameters;
}

/** null: no transaction. */
export function transactionOf(bytes: Uint8Array): Transaction | null {
  try {
    return decodeTransaction(bytes);
  } catch (error) {
    if (isFault(error, 'malformedCbor')) return null;
    throw error;
  }
}

export function deserialisationFailure(message: string): RpcError {
  const eras = ['shelley', 'allegra', 'mary', 'alonzo', 'babbage', 'conway'];
  return {
    code: CODES.invalidParams,
    message: 'Invalid transaction; It looks like the given transaction wasn’t well-formed.',
    data: Object.fromEntries(eras.map((era) => [era, message])),
  };
}

/** What the mempool of a Conway node says of a transaction none of whose inputs is unspent. */
export const ALL_SPENT = 'All inputs are spent. Transaction has probably already been included';

export function mempoolError(error: string): RpcError {
  const message =
    "The transaction couldn't be added to the mempool. A justification is given as 'data.error'.";
  return { code: 3997, message, data: { error } };
}

/** Nothing is wrong with the transaction: the same may be submitted again. */
export function notNow(message: string): RpcError {
  return { code: CODES.internalError, message };
}

export function refusalError(
  { reason, message }: Refused,
  tx: Transaction,
  circumstances: RefusalContext,
): RpcError {
  const explain = EXPLAINED[reason];
  return explain === undefined
    ? mempoolError(message)
    : { message, ...explain(tx, circumstances, message) };
}

type Explained = Omit<RpcError, 'message'>;
type Explain = (
  tx: Transaction,
  circumstances: RefusalContext,
  message: string,
) => RpcError | Explained;

const EXPLAINED: Partial<Readonly<Record<RefusalReason, Explain>>> = {
  MALFORMED: (_tx, _at, message) => deserialisationFailure(message),
  MEMPOOL_FULL: (_tx, _at, message) => mempoolError(`The mempool is full. ${message}`),
  INPUT_SPENT: inputSpent,
  BAD_SIGNATURE: ({ keyWitnesses }) => ({
    code: 3100,
    data: { invalidSignatories: keyWitnesses.map(({ publicKey }) => publicKey) },
  }),
  SIGNATURE_MISSING: (tx, { spent }) => ({
    code: 3101,
    data: { missingSignatories: missingKeys(tx, spent) },
  }),
  SCRIPT_FAILED: (_tx, _at, message) => ({
    code: 3136,
    data: { declaredSpending: 'inputs', mismatchReason: message },
  }),
  EXPIRED: outsideValidity,
  NOT_YET_VALID: outsideValidity,
  VALUE_NOT_CONSERVED: valueNotConserved,
  FEE_TOO_SMALL: ({ bytes, feeLovelace }, { parameters }) => ({
    code: 3122,
    data: {
      minimumRequiredFee: adaJson(
        larger(minFeeLovelace(parameters, bytes.length), feeLovelace + 1n),
      ),
      providedFee: adaJson(feeLovelace),
    },
  }),
  OUTPUT_TOO_SMALL: ({ outputs }) => ({
    code: 3125,
    data: {
      insufficientlyFundedOutputs: outputs.map((output) => ({ output: outputJson(output) })),
    },
  }),
  LIMITS_EXCEEDED: limitsExceeded,
  COLLATERAL: ({ collateralInputs, totalCollateralLovelace }) =>
    collateralInputs.length === 0
      ? { code: 3132 }
      : {
          code: 3128,
          data: {
            providedCollateral: adaJson(totalCollateralLovelace ?? 0n),
            minimumRequiredCollateral: adaJson((totalCollateralLovelace ?? 0n) + 1n),
          },
        },
};

function inputSpent({ inputs }: Transaction, { spent }: RefusalContext): RpcError {
  if (spent.length === 0) return mempoolError(ALL_SPENT);
  const known = new Set(spent.map(({ ref }) => `${ref.txHash} ${ref.index}`));
  const unknown = inputs.filter(({ txHash, index }) => !known.has(`${txHash} ${index}`));
  return {
    code: 3117,
    message: 'The transaction contains unknown UTxO references as inputs.',
    data: { unknownOutputReferences: unknown.map(refJson) },
  };
}

function missingKeys(tx: Transaction, spent: readonly Utxo[]): string[] {
  const owners = spent.flatMap(({ output }) => {
    const payment = parseAddress(output.address)?.payment;
    return payment?.kind === 'key' ? [payment.hash] : [];
  });
  const signed = new Set(tx.keyWitnesses.map(({ publicKey }) => blake2b224(fromHex(publicKey))));
  return [...new Set([...owners, ...tx.requiredSigners])].filter((hash) => !signed.has(hash));
}

function outsideValidity(tx: Transaction, { slot }: RefusalContext): Explained {
  return { code: 3118, data: { validityInterval: intervalJson(tx), currentSlot: slot } };
}

function valueNotConserved(tx: Transaction, { spent }: RefusalContext): Explained {
  const minted = [...tx.mint].filter(([, amount]) => amount > 0n);
  const burnt = [...tx.mint].flatMap(([asset, amount]) =>
    amount < 0n ? [[asset, -amount] as const] : [],
  );
  const consumed = addValues(...spent.map(({ output }) => output.value), asValue(0n, minted));
  const outputs = tx.outputs.map(({ value }) => value);
  const produced = addValues(...outputs, coins(tx.feeLovelace), asValue(0n, burnt));
  const data = { valueConsumed: valueJson(consumed), valueProduced: valueJson(produced) };
  return { code: 3123, data };
}

function limitsExceeded(
  { bytes, redeemers }: Transaction,
  { parameters: { mostBytes, mostMemory, mostCpu } }: RefusalContext,
): Explained {
  if (bytes.length > mostBytes) {
    const data = {
      measuredTransactionSize: { bytes: bytes.length },
      maximumTransactionSize: { bytes: mostBytes },
    };
    return { code: 3119, data };
  }
  const data = {
    providedExecutionUnits: { ...totalUnits(redeemers) },
    maximumExecutionUnits: { memory: mostMemory, cpu: mostCpu },
  };
  return { code: 3134, data };
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
