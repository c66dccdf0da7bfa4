/** Reads the ledger's file as Kupo shows it: heights become points, spendings get redeemers. */

import {
  ARRAY,
  bytesOf,
  elementsOf,
  entriesOf,
  type Item,
  integerOf,
  MAP,
  readCbor,
  span,
  TEXT,
  textOf,
} from '../../cardano/codec/cbor.ts';
import { blake2b256 } from '../../cardano/codec/hash.ts';
import { toHex } from '../../cardano/codec/hex.ts';
import { datumHashOf, type Output, type Utxo } from '../../cardano/codec/output.ts';
import { encodePlutusData } from '../../cardano/codec/plutusData.ts';
import {
  decodeTransaction,
  metadataLabels,
  type Transaction,
} from '../../cardano/codec/transaction.ts';
import type { BlockHead, LedgerFile } from '../ledgerFile.ts';
import type { PageRequest } from '../outputSearch.ts';
import type { FoundOutput } from '../outputTable.ts';
import { type KupoPoint, type Match, scriptJson } from './matchJson.ts';
import type { Pattern } from './matchQuery.ts';

const GENESIS: KupoPoint = { slot: 0, hash: '0'.repeat(64) };
/** As many checkpoints as Kupo shows: dense at the tip, then each twice as far. */
const DENSE = 11;

interface MatchPage extends PageRequest {
  /** With datums that outputs name by their hash. */
  readonly isResolved: boolean;
}

export class KupoIndex {
  readonly #file: LedgerFile;

  constructor(file: LedgerFile) {
    this.#file = file;
  }

  /** Matches of a pattern; `last` is null where no page follows. */
  page(pattern: Pattern, { isResolved, ...request }: MatchPage) {
    const { found, last } = this.#file.search.page(pattern, request);
    const { address, also = {} } = pattern;
    const wanted = found.filter(({ utxo: { output } }) => {
      return (address === undefined || output.address === address) && holds(output, also);
    });
    const matches = wanted.map((row) => {
      const match = this.#match(row);
      return isResolved ? { ...match, shownDatum: this.#shownDatum(row.utxo) } : match;
    });
    return { matches, last };
  }

  #shownDatum({ output }: Utxo): string | null {
    const hash = output.datum === null ? datumHashOf(output) : null;
    return hash === null ? null : (this.datum(hash)?.datum ?? null);
  }

  #match({ utxo, transactionIndex, madeHeight, spent }: FoundOutput): Match {
    const spending =
      spent === null
        ? null
        : {
            at: this.#pointAt(spent.height),
            txHash: spent.txHash,
            inputIndex: spent.inputIndex,
            redeemer: this.#redeemer(spent.txHash, spent.inputIndex),
          };
    return { utxo, transactionIndex, createdAt: this.#pointAt(madeHeight), spent: spending };
  }

  #pointAt(height: number): KupoPoint {
    return this.#file.head(height) ?? GENESIS;
  }

  #redeemer(txHash: string, inputIndex: number): string | null {
    const bytes = this.#file.transaction(txHash);
    if (bytes === null) return null;
    const { redeemers } = decodeTransaction(bytes);
    const found = redeemers.find(({ purpose, index }) => {
      return purpose === 'spend' && index === inputIndex;
    });
    return found === undefined ? null : toHex(encodePlutusData(found.data));
  }

  /** null stands for the beginning. */
  isOnChain(head: BlockHead | null): boolean {
    return head === null || this.#file.head(head.height)?.hash === head.hash;
  }

  /** Newest first. */
  checkpoints(): KupoPoint[] {
    const points: KupoPoint[] = [];
    const newest = this.#file.tip()?.height ?? 0;
    for (let back = 0, step = 1; back < newest; back += step) {
      const head = this.#file.head(newest - back);
      if (head !== null) points.push(head);
      if (points.length >= DENSE) step *= 2;
    }
    return points;
  }

  pointUpTo(slot: number): KupoPoint | null {
    return this.#file.headUpTo(slot);
  }

  /** The first height whose slot is `slot` or later; outputs of the genesis have slot 0. */
  heightFrom(slot: number): number {
    return slot <= 0 ? 0 : (this.#file.headUpTo(slot - 1)?.height ?? 0) + 1;
  }

  /** The last height whose slot is `slot` or below. */
  heightUpTo(slot: number): number {
    return this.#file.headUpTo(slot)?.height ?? 0;
  }

  datum(hash: string): { datum: string } | null {
    const bytes = this.#file.outputs.datum(hash);
    return bytes === null ? null : { datum: toHex(bytes) };
  }

  script(hash: string): { language: string; script: string } | null {
    const utxo = this.#file.outputs.withScript(hash);
    return utxo === null ? null : scriptJson(utxo.output);
  }

  /**
   * Metadata of the first block in `slot` or after it, or of a transaction in that block; null if
   * there is no such block or it is not kept any more.
   */
  metadata(slot: number, txHash: string | null) {
    const head = this.#file.head(this.heightFrom(slot));
    if (head === null || head.height <= this.#file.marks().pruned) return null;
    const found = this.#file.transactionsOf(head.height).flatMap(({ id, bytes }) => {
      if (txHash !== null && id !== txHash) return [];
      const metadata = metadataJson(decodeTransaction(bytes));
      return metadata === null ? [] : [{ transaction_id: id, ...metadata }];
    });
    return { hash: head.hash, found };
  }
}

function holds({ value }: Output, { policy, assetName }: NonNullable<Pattern['also']>): boolean {
  if (policy === undefined) return true;
  if (assetName !== undefined) return value.assets.has(`${policy}.${assetName}`);
  return [...value.assets.keys()].some((asset) => asset.startsWith(`${policy}.`));
}

/**
 * Transaction metadata in Kupo's JSON: each label as a tree that keeps the types of CBOR.
 * null: the transaction has none.
 */
function metadataJson({ bytes }: Transaction) {
  const auxiliary = elementsOf(readCbor(bytes))[3];
  const labels = auxiliary === undefined ? undefined : metadataLabels(bytes, auxiliary);
  if (auxiliary === undefined || labels === undefined) return null;
  const raw = span(bytes, auxiliary);
  const schema = entriesOf(labels).map(([label, content]) => {
    return [String(integerOf(bytes, label)), treeOf(bytes, content)] as const;
  });
  return { hash: blake2b256(raw), raw: toHex(raw), schema: Object.fromEntries(schema) };
}

function treeOf(bytes: Uint8Array, item: Item): unknown {
  if (item.major <= 1) return { int: integerOf(bytes, item) };
  if (item.major === TEXT) return { string: textOf(bytes, item) };
  if (item.major === ARRAY) return { list: elementsOf(item).map((each) => treeOf(bytes, each)) };
  if (item.major === MAP) {
    const pair = ([k, v]: readonly [Item, Item]) => ({ k: treeOf(bytes, k), v: treeOf(bytes, v) });
    return { map: entriesOf(item).map(pair) };
  }
  return { bytes: toHex(bytesOf(bytes, item)) };
}
