/**
 * The transaction to be signed, read from its bytes, and the check whether it may be signed: a
 * transaction that differs from the request is refused with the reason.
 */
import { fromHex, isHex } from '../../cardano/codec/hex.ts';
import { decodeTransaction, type Transaction } from '../../cardano/codec/transaction.ts';
import { addValues, coins, type Value } from '../../cardano/codec/value.ts';
import { isFault } from '../../engine/runtime/assert.ts';
import { ApiError } from '../apiError.ts';
import { executorFeeOf } from './orderCheck.ts';
import type { Owner } from './owner.ts';
import { type Intent, objectionTo, objectionToFields } from './transactionCheck.ts';

export interface Payment {
  /** Index of the output in its transaction. */
  readonly index: number;
  readonly address: string;
  readonly value: Value;
}

export interface Review {
  readonly txHash: string;
  readonly feeLovelace: bigint;
  /**
   * Outputs to others than the wallet: scripts of the market, or addresses that the request names.
   */
  readonly payments: readonly Payment[];
  /** The values that come back to the wallet. */
  readonly change: Value;
  /** The fee that an order pays its executor; 0 if the transaction places no order. */
  readonly executorFeeLovelace: bigint;
  /** The first slot in which no block takes it any more; null: it has no end. */
  readonly validToSlot: number | null;
}

/**
 * Throws `ApiError` where the bytes are unreadable or do something else. `held`: references of the
 * owner's outputs, to judge how much may be lost as collateral.
 */
export function review(
  cbor: string,
  owner: Owner,
  intent: Intent,
  held: ReadonlySet<string> = new Set(),
): Review {
  const transaction = decode(cbor);
  const objection =
    objectionToFields(transaction, intent) ?? objectionTo(transaction, owner, intent, held);
  if (objection !== null) {
    const message = `Not signed: this is not what was asked for, ${objection}.`;
    throw new ApiError('NOT_WHAT_WAS_ASKED', message);
  }
  const { id, feeLovelace, outputs, validToSlot } = transaction;
  const paid = outputs.map(({ address, value }, index) => ({ index, address, value }));
  const change = paid.filter(({ address }) => address === owner.address);
  return {
    txHash: id,
    feeLovelace,
    payments: paid.filter(({ address }) => address !== owner.address),
    change: addValues(...change.map(({ value }) => value)),
    executorFeeLovelace: intent.kind === 'order' ? executorFeeOf(outputs, owner) : 0n,
    validToSlot,
  };
}

/** All that leaves the wallet with this transaction: its payments, and the fee of the network. */
export function leavingWallet({ payments, feeLovelace }: Review): Value {
  return addValues(coins(feeLovelace), ...payments.map(({ value }) => value));
}

/** Whether outputs might be lost where its scripts fail. */
export function namesCollateral(cbor: string): boolean {
  return decode(cbor).collateralInputs.length > 0;
}

function decode(cbor: string): Transaction {
  try {
    if (isHex(cbor)) return decodeTransaction(fromHex(cbor));
  } catch (error) {
    if (!isFault(error, 'malformedCbor')) throw error;
  }
  throw new ApiError('BAD_TRANSACTION', 'Not signed: the server sent no readable transaction.');
}
