/**
 * Pure ADA outputs of the fee address, which pay network fees. Each pool executor reserves its own
 * output, so that two transactions never spend the same one. The address may hold thousands of
 * outputs: one page is cached, and each output is checked again before it is used.
 */

import { type OutputRef, refText, type Utxo } from '../../cardano/codec/output.ts';
import type { Deployment } from '../../cardano/datums/deployment.ts';
import type { UtxoLookup } from '../../cardano/ledger/port.ts';
import type { AssetId } from '../../engine/market/asset.ts';

/** Enough for any fee, and for the fee output to stand. */
const LEAST_LOVELACE = 3_000_000n;
/** Anyone may send dust to the fee address: funding are looked for behind it, too. */
const PAGE = 500;

export class FundingUtxos {
  readonly #utxos: UtxoLookup;
  readonly #feeKeyHash: string;
  readonly #reserved = new Map<AssetId, Utxo>();
  /** Found and not offered yet; may be spent meanwhile. */
  #found: Utxo[] = [];
  #looking: Promise<boolean> | null = null;

  constructor(utxos: UtxoLookup, { feeKeyHash }: Deployment) {
    this.#utxos = utxos;
    this.#feeKeyHash = feeKeyHash;
  }

  /** One utxo for this executor, until it is released; none when all are taken. */
  async reserve(executor: AssetId): Promise<readonly Utxo[]> {
    for (;;) {
      const next = this.#found.shift();
      if (next === undefined) {
        if (await this.#look()) continue;
        return [];
      }
      // Before the wait: what another executor finds meanwhile must not be this one.
      this.#reserved.set(executor, next);
      const [state] = await this.#utxos.byRefs([next.ref]);
      if (state?.state === 'unspent') return [next];
      this.#reserved.delete(executor);
      // Others of this page may be gone as well, by a rival or by consolidation.
      this.#found = [];
    }
  }

  /** Whether there are any that nobody has. Lanes that ask at once share one look. */
  #look(): Promise<boolean> {
    this.#looking ??= this.#lookUp().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #lookUp(): Promise<boolean> {
    for (let after: OutputRef | undefined; ; ) {
      const page = after === undefined ? { limit: PAGE } : { limit: PAGE, after };
      const held = await this.#utxos.byPaymentKey(this.#feeKeyHash, 'newest', page);
      this.#found = this.free(held).filter(canFund);
      if (this.#found.length > 0) return true;
      if (held.length < PAGE) return false;
      after = held.at(-1)?.ref;
    }
  }

  /** Those that no executor has reserved. */
  free(utxos: readonly Utxo[]): readonly Utxo[] {
    const taken = new Set([...this.#reserved.values()].map(({ ref }) => refText(ref)));
    return utxos.filter(({ ref }) => !taken.has(refText(ref)));
  }

  release(executor: AssetId): void {
    this.#reserved.delete(executor);
  }
}

function canFund(utxo: Utxo): boolean {
  return isPureAda(utxo) && utxo.output.value.lovelace >= LEAST_LOVELACE;
}

export function isPureAda({ output: { value, datum, scriptHash } }: Utxo): boolean {
  return value.assets.size === 0 && datum === null && scriptHash === null;
}
