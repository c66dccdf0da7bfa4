/**
 * A reader of a ledger. It has a cursor, so nothing is queued for a slow one: it reads what lies
 * between its cursor and the present, at the moment it asks. Events: see src/chain/port.ts.
 */
import { slotStartMs } from '../../src/cardano/codec/slots.ts';
import { decodeTransaction, type Transaction } from '../../src/cardano/codec/transaction.ts';
import type { ChainEvent, Removal } from '../../src/chain/port.ts';
import type { Fork, Ledger } from '../../src/devnet/ledger.ts';
import type { BlockHead, LedgerFile } from '../../src/devnet/ledgerFile.ts';

const MAX_EVENTS = 64;

export class LedgerStream {
  readonly #ledger: Ledger;
  readonly #file: LedgerFile;
  #height: number;
  #mustGoBack: boolean;
  #toldOfMempool = false;
  /** Ids of the mempool that were sent, and ids from before a fork that were not seen again. */
  readonly #told = new Set<string>();
  readonly #limbo = new Set<string>();

  constructor(ledger: Ledger, file: LedgerFile, from: BlockHead | null) {
    this.#ledger = ledger;
    this.#file = file;
    this.#height = from?.height ?? 0;
    this.#mustGoBack = from !== null;
  }

  /** Called at every fork: the mempool is then reordered and read again. */
  forked({ takenBack }: Fork): void {
    this.#toldOfMempool = false;
    for (const id of this.#told) this.#limbo.add(id);
    this.#told.clear();
    for (const { height, id } of takenBack) if (height <= this.#height) this.#limbo.add(id);
    if (this.#height <= this.#ledger.height) return;
    this.#height = this.#ledger.height;
    this.#mustGoBack = true;
  }

  /** New events, at most `MAX_EVENTS`; empty when nothing is. */
  read(): ChainEvent[] {
    const events: ChainEvent[] = [];
    if (this.#mustGoBack) events.push(this.#back());
    while (events.length < MAX_EVENTS && this.#height < this.#ledger.height) {
      const event = this.#forward();
      if (event !== null) events.push(event);
    }
    if (events.length >= MAX_EVENTS) return events;
    const change = this.#mempoolChange();
    return change === null ? events : [...events, change];
  }

  #back(): ChainEvent {
    this.#mustGoBack = false;
    const head = this.#file.head(this.#height);
    return { kind: 'back', point: head === null ? null : { slot: head.slot, hash: head.hash } };
  }

  #forward(): ChainEvent | null {
    this.#height += 1;
    const head = this.#file.head(this.#height);
    if (head === null) return null;
    const { slot, hash, height } = head;
    const rows = this.#file.transactionsOf(height);
    for (const { id } of rows) {
      this.#told.delete(id);
      this.#limbo.delete(id);
    }
    const transactions = rows.map(({ bytes }) => decodeTransaction(Uint8Array.from(bytes)));
    const timeMs = slotStartMs(this.#ledger.slots, slot);
    return { kind: 'forward', block: { point: { slot, hash }, height, timeMs, transactions } };
  }

  #mempoolChange(): ChainEvent | null {
    const { mempool } = this.#ledger;
    const added: Transaction[] = [];
    for (const { tx } of mempool.all()) {
      if (this.#told.has(tx.id)) continue;
      this.#told.add(tx.id);
      this.#limbo.delete(tx.id);
      added.push(tx);
    }
    const removed = [...this.#gone(this.#told), ...this.#gone(this.#limbo)];
    if (this.#toldOfMempool && added.length === 0 && removed.length === 0) return null;
    const whole = !this.#toldOfMempool;
    this.#toldOfMempool = true;
    return { kind: 'mempool', whole, added, removed };
  }

  /** Ids that wait no more and do not return; they are forgotten. */
  #gone(ids: Set<string>): Removal[] {
    const removed: Removal[] = [];
    for (const id of ids) {
      if (this.#ledger.mempool.has(id) || this.#ledger.returns(id)) continue;
      ids.delete(id);
      removed.push({ id, reason: this.#ledger.reasonOf(id) });
    }
    return removed;
  }
}
