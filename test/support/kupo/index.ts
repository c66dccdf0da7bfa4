/** A Kupo's knowledge of a chain: outputs by block, spent or not, undone by roll-backs. */
import { parseAddress } from '../../../src/cardano/codec/address.ts';
import { type OutputRef, refText, type Utxo } from '../../../src/cardano/codec/output.ts';
import type { Transaction } from '../../../src/cardano/codec/transaction.ts';
import { effectsOf } from '../../../src/cardano/ledger/mempool.ts';
import type { Block, Point } from '../../../src/chain/port.ts';

export interface Spending {
  readonly at: Point;
  readonly txHash: string;
  readonly inputIndex: number;
  readonly redeemer: string | null;
}

export interface Indexed {
  readonly utxo: Utxo;
  readonly transactionIndex: number;
  readonly createdAt: Point;
  readonly spent: Spending | null;
}

export const GENESIS: Point = { slot: 0, hash: '0'.repeat(64) };

export class KupoIndex {
  readonly #outputs = new Map<string, Indexed>();
  readonly #points: Point[] = [];

  /** Outputs that no block made. */
  begin(outputs: readonly Utxo[]): void {
    for (const utxo of outputs) this.#make(utxo, 0, GENESIS);
  }

  get newest(): Point | null {
    return this.#points.at(-1) ?? null;
  }

  /** The newest point at or before a slot. */
  pointAt(slot: number): Point | null {
    return this.#points.findLast((point) => point.slot <= slot) ?? null;
  }

  points(): readonly Point[] {
    return this.#points;
  }

  forward({ point, transactions }: Block): void {
    this.#points.push(point);
    for (const [index, tx] of transactions.entries()) this.#apply(tx, index, point);
  }

  back(point: Point | null): void {
    const to = point === null ? -1 : this.#points.findLastIndex(({ hash }) => hash === point.hash);
    if (point !== null && to < 0) throw new Error('back to a point that is not on this chain');
    const undone = new Set(this.#points.splice(to + 1).map(({ hash }) => hash));
    for (const [key, indexed] of this.#outputs) {
      if (undone.has(indexed.createdAt.hash)) this.#outputs.delete(key);
      else if (indexed.spent !== null && undone.has(indexed.spent.at.hash)) {
        this.#outputs.set(key, { ...indexed, spent: null });
      }
    }
  }

  /** As `/matches/<pattern>` says; null: no pattern. */
  matching(pattern: string): Indexed[] | null {
    const fits = fitting(pattern);
    if (fits === null) return null;
    return [...this.#outputs.values()]
      .filter(({ utxo }) => fits(utxo))
      .sort((a, b) => b.createdAt.slot - a.createdAt.slot);
  }

  #apply(tx: Transaction, transactionIndex: number, at: Point): void {
    const { spent, made } = effectsOf(tx);
    for (const [inputIndex, ref] of spent.entries()) {
      const indexed = this.#outputs.get(refText(ref));
      const spending = { at, txHash: tx.id, inputIndex, redeemer: null };
      if (indexed !== undefined) this.#outputs.set(refText(ref), { ...indexed, spent: spending });
    }
    for (const utxo of made) this.#make(utxo, transactionIndex, at);
  }

  #make(utxo: Utxo, transactionIndex: number, createdAt: Point): void {
    this.#outputs.set(refText(utxo.ref), { utxo, transactionIndex, createdAt, spent: null });
  }
}

const BYTES_28 = '[0-9a-f]{56}';
const REFERENCE = /^(\*|\d{1,3})@([0-9a-f]{64})$/;
const CREDENTIALS = new RegExp(`^(\\*|${BYTES_28})/(\\*|${BYTES_28})$`);
const ASSET = new RegExp(`^(${BYTES_28})\\.(\\*|(?:[0-9a-f]{2}){1,32})$`);

function fitting(pattern: string): ((utxo: Utxo) => boolean) | null {
  if (pattern === '*') return () => true;
  const reference = REFERENCE.exec(pattern);
  if (reference !== null) return ({ ref }) => isNamed(ref, reference[1], reference[2]);
  const credentials = CREDENTIALS.exec(pattern);
  if (credentials !== null) {
    const [, payment = '*', stake = '*'] = credentials;
    return ({ output }) => {
      const address = parseAddress(output.address);
      const isFit = (wanted: string, hash?: string) => wanted === '*' || wanted === hash;
      return isFit(payment, address?.payment.hash) && isFit(stake, address?.stake?.hash);
    };
  }
  const asset = ASSET.exec(pattern);
  if (asset === null) return null;
  const [, policy = '', name = ''] = asset;
  return ({ output: { value } }) =>
    [...value.assets.keys()].some((id) =>
      name === '*' ? id.startsWith(`${policy}.`) : id === `${policy}.${name}`,
    );
}

function isNamed(ref: OutputRef, index: string | undefined, txHash: string | undefined): boolean {
  return ref.txHash === txHash && (index === '*' || Number(index) === ref.index);
}
