/**
 * Floats: pure ADA outputs of the fee address, which pay network fees and come back. Each lane gets
 * its own, so that two transactions at once never want the same one.
 */
import type { Deployment } from '../cardano/deployment.ts';
import { refText, type Utxo } from '../cardano/output.ts';
import type { UtxoLookup } from '../chain/port.ts';
import type { AssetId } from '../market/asset.ts';

/** Enough for any fee, and for the fee output to stand. */
const LEAST_LOVELACE = 3_000_000n;
const CANDIDATES = 200;

export class Floats {
  readonly #utxos: UtxoLookup;
  readonly #feeKeyHash: string;
  readonly #reserved = new Map<AssetId, readonly Utxo[]>();

  constructor(utxos: UtxoLookup, { feeKeyHash }: Deployment) {
    this.#utxos = utxos;
    this.#feeKeyHash = feeKeyHash;
  }

  /** One float for this lane, until it is released; none when all are taken. */
  async reserve(lane: AssetId): Promise<readonly Utxo[]> {
    const page = { limit: CANDIDATES };
    const held = await this.#utxos.byPaymentKey(this.#feeKeyHash, 'newest', page);
    const taken = new Set(
      [...this.#reserved.values()].flatMap((utxos) => utxos.map(({ ref }) => refText(ref))),
    );
    const found = held.find((utxo) => isFloat(utxo) && !taken.has(refText(utxo.ref)));
    const own = found === undefined ? [] : [found];
    this.#reserved.set(lane, own);
    return own;
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
