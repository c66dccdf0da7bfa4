/** The views of `UtxoLookup`, over the chain's unspent outputs and the mempool. */

import { compareRefs, type OutputRef, type Utxo } from '../codec/output.ts';
import type { Mempool, PendingTransaction } from './mempool.ts';
import type { UtxoView } from './port.ts';
import { credentialOf, type UtxoSet } from './utxoSet.ts';

export interface Page {
  readonly after?: OutputRef;
  readonly offset?: number;
  readonly limit?: number;
}

interface State {
  readonly chain: UtxoSet;
  readonly mempool: Mempool;
}

/** Hash of a payment key, or of a script: the two never share a hash. */
export function utxosOfCredential(state: State, hash: string, view: UtxoView, page: Page): Utxo[] {
  const found = seen(state, view, state.chain.ofCredential(hash), (u) => credentialOf(u) === hash);
  const { after, offset = 0, limit } = page;
  const from = after === undefined ? 0 : found.findIndex(({ ref }) => compareRefs(ref, after) > 0);
  if (from < 0) return [];
  const start = from + offset;
  return found.slice(start, limit === undefined ? undefined : start + limit);
}

export function utxosOfAsset(state: State, asset: string, view: UtxoView): Utxo[] {
  return seen(state, view, state.chain.ofAsset(asset), ({ output }) =>
    output.value.assets.has(asset),
  );
}

function seen(
  { chain, mempool }: State,
  view: UtxoView,
  confirmed: Iterable<Utxo>,
  fits: (utxo: Utxo) => boolean,
): Utxo[] {
  const found = [...confirmed];
  if (view !== 'spendable') {
    for (const waiting of mempool.all()) {
      for (const utxo of waiting.effects.made) {
        // An index of outputs may have the block already that makes it.
        if (!fits(utxo) || chain.get(utxo.ref) !== undefined) continue;
        if (view === 'newest' || givesBack(waiting, utxo, chain, mempool)) found.push(utxo);
      }
    }
  }
  return found
    .filter(({ ref }) => mempool.spender(ref) === undefined)
    .sort((a, b) => compareRefs(a.ref, b.ref));
}

/**
 * Whether the transaction that makes `utxo` spends an output of the same key: change, not a gift.
 */
function givesBack(
  { effects }: PendingTransaction,
  utxo: Utxo,
  chain: UtxoSet,
  mempool: Mempool,
): boolean {
  const owner = credentialOf(utxo);
  return effects.spent.some((ref) => {
    const input = chain.get(ref) ?? mempool.made(ref);
    return input !== undefined && credentialOf(input) === owner;
  });
}
