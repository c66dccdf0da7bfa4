/** Transactions between threads. */
import { fromHex, toHex } from '../../cardano/codec/hex.ts';
import { decodePlutusData, encodePlutusData } from '../../cardano/codec/plutusData.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import type { SerializedTransaction } from './messages.ts';

export function serializeTransaction(tx: Transaction): SerializedTransaction {
  const redeemers = tx.redeemers.map(({ data, ...rest }) => ({
    ...rest,
    data: toHex(encodePlutusData(data)),
  }));
  return { ...tx, redeemers };
}

export function deserializeTransaction(tx: SerializedTransaction): Transaction {
  const redeemers = tx.redeemers.map(({ data, ...rest }) => ({
    ...rest,
    data: decodePlutusData(fromHex(data)),
  }));
  return { ...tx, redeemers };
}
