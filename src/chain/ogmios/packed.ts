/** Transactions between threads. */
import { fromHex, toHex } from '../../cardano/codec/hex.ts';
import { decodePlutusData, encodePlutusData } from '../../cardano/codec/plutusData.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import type { PackedTransaction } from './messages.ts';

export function packedTransaction(tx: Transaction): PackedTransaction {
  const redeemers = tx.redeemers.map(({ data, ...rest }) => ({
    ...rest,
    data: toHex(encodePlutusData(data)),
  }));
  return { ...tx, redeemers };
}

export function unpackedTransaction(tx: PackedTransaction): Transaction {
  const redeemers = tx.redeemers.map(({ data, ...rest }) => ({
    ...rest,
    data: decodePlutusData(fromHex(data)),
  }));
  return { ...tx, redeemers };
}
