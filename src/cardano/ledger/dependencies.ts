/** Transactions in an order in which they can be judged. */
import type { Transaction } from '../codec/transaction.ts';

/** Each after those of the list whose outputs it names; else in the order they have. */
export function afterWhatTheyNeed(transactions: readonly Transaction[]): Transaction[] {
  const left = new Map(transactions.map((tx) => [tx.id, tx]));
  const ordered: Transaction[] = [];
  for (const first of transactions) {
    const path = [first];
    for (let tx = path.at(-1); tx !== undefined; tx = path.at(-1)) {
      const needed = left.has(tx.id) ? neededBy(tx, left) : undefined;
      if (needed !== undefined) path.push(needed);
      else {
        path.pop();
        if (left.delete(tx.id)) ordered.push(tx);
      }
    }
  }
  return ordered;
}

/** One of `left`; nobody needs itself, because its id is a hash over what it needs. */
function neededBy(
  tx: Transaction,
  left: ReadonlyMap<string, Transaction>,
): Transaction | undefined {
  for (const { txHash } of [...tx.inputs, ...tx.referenceInputs, ...tx.collateralInputs]) {
    const needed = left.get(txHash);
    if (needed !== undefined) return needed;
  }
  return undefined;
}
