/**
 * Floats: pure ADA outputs of the fee address, which pay network fees and come back. Each lane gets
 * its own, so that two transactions at once never want the same one.
 */
import type { Deployment } from '../cardano/deployment.ts';
import { type OutputRef, refText, type Utxo } from '../cardano/output.ts';
import type { UtxoLookup } from '../chain/port.ts';
import type { AssetId } from '../market/asset.ts';

/** Enough for any fee, and for the fee output to stand. */
const LEAST_LOVELACE = 3_000_000n;
/** Anyone may send dust to the fee address: floats are looked for behind it, too. */
const PAGE = 500;

export class Floats {
  readonly #utxos: UtxoLookup;
  readonly #feeKeyHash: string;
  readonly #reserved = new Map<AssetId, Utxo>();

  constructor(utxos: UtxoLookup, { feeKeyHash }: Deployment) {
    this.#utxos = utxos;
    this.#feeKeyHash = feeKeyHash;
  }

  /** One float for this lane, until it is released; none when all are taken. */
  async reserve(lane: AssetId): Promise<readonly Utxo[]> {
    for (let after: OutputRef | undefined; ; ) {
      const page = after === undefined ? { limit: PAGE } : { limit: PAGE, after };
      const held = await this.#utxos.byPaymentKey(this.#feeKeyHash, 'newest', page);
      // Asked after the wait: other lanes may have reserved meanwhile.
      const found = held.find((utxo) => isFloat(utxo) && !this.#isTaken(utxo));
      if (found !== undefined) {
        this.#reserved.set(lane, found);
        return [found];
      }
      if (held.length < PAGE) return [];
      after = held.at(-1)?.ref;
    }
  }

  #isTaken({ ref }: Utxo): boolean {
    return [...this.#reserved.values()].some((utxo) => refText(utxo.ref) === refText(ref));
  }

  release(lane: AssetId): void {
    this.#reserved.delete(lane);
  }
}

function isFloat({ output }: Utxo): boolean {
  const { value, datum, scriptHash } = output;
  const plain = value.assets.size === 0 && datum === null && scriptHash === null;
  return plain && value.lovelace >= LEAST_LOVELACE;
}
