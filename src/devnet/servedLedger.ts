/**
 * The ledger as the Ogmios server shows it. It keeps only the JSON of recent transactions, which is
 * made when a transaction is accepted; a block's JSON is assembled from them.
 */
import { LRUCache } from 'lru-cache';
import { decodeTransaction, type Transaction } from '../cardano/codec/transaction.ts';
import type { Ledger } from './ledger.ts';
import type { BlockHead, LedgerFile } from './ledgerFile.ts';
import type {
  ChainListener,
  ServedBlock,
  ServedChain,
  ServedPoint,
  ServedTip,
  ServedTransaction,
} from './ogmios/served.ts';
import { blockText, servedTransaction, type TransactionOptions } from './ogmios/transactionJson.ts';

/** Characters of JSON that are kept; a block of 88 kB has about half a million. */
const MAX_TEXT = 8 << 20;

export class ServedLedger implements ServedChain {
  readonly #ledger: Ledger;
  readonly #file: LedgerFile;
  readonly #shownAs: TransactionOptions;
  readonly #texts = new LRUCache<string, ServedTransaction>({
    maxSize: MAX_TEXT,
    sizeCalculation: ({ text }) => text.length,
  });
  readonly #listeners = new Set<ChainListener>();
  #version = 0;
  #pending: readonly ServedTransaction[] | null = null;
  /** The mempool as it was shown last, by id. */
  #waiting: ReadonlyMap<string, ServedTransaction> = new Map();

  constructor(ledger: Ledger, file: LedgerFile, shownAs: TransactionOptions) {
    this.#ledger = ledger;
    this.#file = file;
    this.#shownAs = shownAs;
  }

  get tip(): ServedTip | null {
    const { tip } = this.#ledger;
    return tip === null ? null : tipOf(tip);
  }

  get oldest(): number {
    return this.#file.marks().pruned + 1;
  }

  placeOf(point: ServedPoint | 'origin'): number | undefined {
    const { oldest } = this;
    if (point === 'origin') return oldest === 1 ? 0 : undefined;
    const head = this.#file.headAt(Number(point.slot));
    return head?.hash === point.id && head.height >= oldest ? head.height : undefined;
  }

  blockAt(place: number): ServedBlock | undefined {
    const head = place < this.oldest ? null : this.#file.head(place);
    if (head === null) return undefined;
    const parent = this.#file.head(place - 1);
    const rows = this.#file.transactionsOf(place);
    const transactions = rows.map(({ id, bytes }) => {
      const shown = this.#waiting.get(id) ?? this.#texts.get(id);
      return shown ?? this.#shown(decodeTransaction(bytes));
    });
    return { ...tipOf(head), text: blockText(head, parent, transactions) };
  }

  get pending(): readonly ServedTransaction[] {
    this.#pending ??= this.#shownPending();
    return this.#pending;
  }

  isInBlock(id: string): boolean {
    return this.#file.isInBlock(id);
  }

  get snapshotVersion(): string {
    return `${this.#version} ${this.#ledger.tip?.hash}`;
  }

  listen(listener: ChainListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The ledger's blocks or mempool have changed, on disk too. */
  changed(): void {
    this.#version += 1;
    this.#pending = null;
    for (const { changed } of this.#listeners) changed();
  }

  /** The ledger's newest blocks were taken back. */
  shortened(): void {
    for (const { shortened } of this.#listeners) shortened(this.#ledger.height);
  }

  /** A long mempool exceeds `#texts`, so the transactions that were shown are made again. */
  #shownPending(): readonly ServedTransaction[] {
    const shown = new Map<string, ServedTransaction>();
    for (const { tx } of this.#ledger.mempool.all()) {
      shown.set(tx.id, this.#waiting.get(tx.id) ?? this.#texts.get(tx.id) ?? this.#shown(tx));
    }
    this.#waiting = shown;
    return [...shown.values()];
  }

  #shown(tx: Transaction): ServedTransaction {
    const shown = servedTransaction(tx, this.#shownAs);
    this.#texts.set(tx.id, shown);
    return shown;
  }
}

function tipOf({ height, slot, hash }: BlockHead): ServedTip {
  return { slot, id: hash, height, era: 'conway' };
}
