/**
 * A stream of the node's chain in its thread: blocks and mempool put together in the order of the
 * port, and of both only what may matter.
 */
import { refText } from '../../cardano/codec/output.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import type { RefusalReason } from '../../cardano/ledger/port.ts';
import type { Timer } from '../../engine/runtime/clock.ts';
import type { Point } from '../port.ts';
import { type BlockHeader, transactionsOf } from './blockJson.ts';
import { ChainReader, type ChainReaderPlace } from './chainReader.ts';
import { Interest, type Marks, spentBy } from './interest.ts';
import { type JsonObject, Unreadable } from './json.ts';
import { MempoolReader, type Snapshot } from './mempoolReader.ts';
import type { Landmark, PackedEvent, PackedTransaction, Seeds } from './messages.ts';
import { Outbox } from './outbox.ts';
import { packedTransaction } from './packed.ts';
import { readTransaction } from './transactionJson.ts';

/** A snapshot later than this after the acceptance has the transaction, or it is gone. */
const ACCEPTED_MS = 1_000;

export interface NodeStreamPlace extends ChainReaderPlace {
  /** null: every transaction matters. */
  readonly landmark: Landmark | null;
  /** Whether a transaction was submitted here. */
  isOurs(id: string): boolean;
  /** There may be something to read. */
  woke(): void;
}

export class NodeStream {
  readonly #place: NodeStreamPlace;
  readonly #interest: Interest | null;
  readonly #outbox: Outbox;
  readonly #chain: ChainReader;
  readonly #mempool: MempoolReader;
  #waiting: ReadonlyMap<string, PackedTransaction> = new Map();
  /** The newest snapshot that was taken; null: none since the chain went back. */
  #snapshot: Snapshot | null = null;
  /** Accepted by the node for us, and in no snapshot yet: they are pending all the same. */
  readonly #accepted = new Map<string, { readonly tx: PackedTransaction; readonly atMs: number }>();
  #acceptedTimer: Timer | null = null;
  /** What transactions that wait would spend → which of them. */
  #spenders: ReadonlyMap<string, string> = new Map();
  /** Why transactions wait no more. */
  readonly #reasons = new Map<string, RefusalReason>();
  #timer: Timer | null = null;

  /** `at`: null is before the first block. `older`: points before it, newest first. */
  constructor(at: Point | null, older: readonly Point[], place: NodeStreamPlace) {
    this.#place = place;
    this.#interest = place.landmark === null ? null : Interest.of(place.landmark);
    const { clock, limits } = place;
    this.#chain = new ChainReader(at, older, place, {
      backlog: () => this.#outbox.size,
      forward: (block) => {
        if (block !== null) this.#outbox.forward(block);
        place.woke();
      },
      back: (point, needsSeeds) => {
        this.#snapshot = null;
        this.#accepted.clear();
        this.#outbox.backTo(point, needsSeeds);
        this.#mempool.renew();
        place.woke();
      },
      pick: (block, header) => this.#pick(block, header),
      forget: (refs) => this.#interest?.forget(refs),
    });
    const isAt = (hash: string | null, waitMs: number) => this.#chain.isAt(hash, waitMs);
    this.#mempool = new MempoolReader(
      { ...place, isAt },
      {
        taken: (snapshot) => this.#taken(snapshot),
        lost: () => this.#mempoolLost(),
      },
    );
    this.#outbox = new Outbox(
      {
        isInBlock: (id) => this.#chain.holds(id),
        reasonOf: (id) => this.#reasonOf(id),
        nowMs: () => clock.monotonicMs(),
        returnMs: limits.returnMs,
      },
      at,
    );
  }

  /** Reads until it is closed. */
  start(): void {
    this.#chain.start();
    this.#mempool.start();
  }

  begin(seeds: Seeds): void {
    this.#interest?.begin(seeds);
    this.#chain.begin();
  }

  /** What is ours has changed: pending transactions are looked at again. */
  expect(): void {
    this.#mempool.renew();
  }

  /** What we submitted shows at once, not only when the node is asked what is pending. */
  accepted(tx: Transaction): void {
    if (this.#chain.holds(tx.id) || this.#waiting.has(tx.id)) return;
    const { clock } = this.#place;
    const atMs = clock.monotonicMs();
    // While the mempool cannot be read no snapshot removes them.
    for (const [id, { atMs: sinceMs }] of this.#accepted) {
      if (atMs - sinceMs > ACCEPTED_MS) this.#accepted.delete(id);
    }
    const packed = packedTransaction(tx);
    this.#accepted.set(tx.id, { tx: packed, atMs });
    if (this.#snapshot !== null) this.#add(packed);
    this.#acceptedTimer?.cancel();
    this.#acceptedTimer = clock.after(ACCEPTED_MS + 1, () => {
      if (this.#snapshot !== null) this.#taken(this.#snapshot);
    });
  }

  /** Without a look at those that are known to be pending. */
  #add(tx: PackedTransaction): void {
    const image = new Map(this.#waiting).set(tx.id, tx);
    const spenders = new Map(this.#spenders);
    for (const ref of spentIn(tx)) spenders.set(refText(ref), tx.id);
    this.#waiting = image;
    this.#spenders = spenders;
    this.#outbox.mempool(image);
    this.#place.woke();
  }

  close(): void {
    this.#timer?.cancel();
    this.#acceptedTimer?.cancel();
    this.#chain.close();
    this.#mempool.close();
  }

  read(): PackedEvent[] {
    const events = this.#outbox.read();
    this.#chain.askMore();
    this.#timer?.cancel();
    const { missedUntilMs } = this.#outbox;
    if (missedUntilMs !== null && events.length === 0) {
      const delayMs = Math.max(1, missedUntilMs - this.#place.clock.monotonicMs());
      this.#timer = this.#place.clock.after(delayMs, () => this.#place.woke());
    }
    return events;
  }

  /** Whether a transaction is in a block, or waits as far as was told. */
  knows(id: string): boolean {
    return this.#chain.holds(id) || this.#waiting.has(id);
  }

  #pick(block: JsonObject, header: BlockHeader) {
    const picked: PackedTransaction[] = [];
    const places: number[] = [];
    const marks: Marks[] = [];
    for (const [at, { id, fields }] of transactionsOf(block, header).entries()) {
      const found = this.#interest?.marks(fields, id) ?? null;
      if (found !== null) marks.push(found);
      const meets = this.#meets(id, fields);
      if (this.#interest !== null && found === null && !meets) continue;
      picked.push(packedTransaction(readTransaction(fields, `block ${header.hash}`)));
      places.push(at);
    }
    return { ids: picked.map(({ id }) => id), marks, transactions: picked, places };
  }

  /** It waited, or it takes from one that waits. */
  #meets(id: string, fields: JsonObject): boolean {
    if (this.#outbox.hasTold(id) || this.#place.isOurs(id)) return true;
    if (this.#spenders.size === 0) return false;
    let isRival = false;
    for (const ref of spentBy(fields)) {
      const loser = this.#spenders.get(ref);
      if (loser === undefined || loser === id) continue;
      this.#reasons.set(loser, 'INPUT_SPENT');
      isRival = true;
    }
    return isRival;
  }

  #taken(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    const image = new Map<string, PackedTransaction>();
    const spenders = new Map<string, string>();
    const interest = this.#interest?.above() ?? null;
    for (const [id, fields] of snapshot) {
      const tx = this.#read(id, fields, interest);
      if (tx === null) continue;
      image.set(id, tx);
      for (const ref of spentIn(tx)) spenders.set(refText(ref), id);
    }
    for (const [id, { tx, atMs }] of this.#accepted) {
      const isOld = this.#place.clock.monotonicMs() - atMs > ACCEPTED_MS;
      if (isOld || image.has(id) || this.#chain.holds(id)) this.#accepted.delete(id);
      else {
        image.set(id, tx);
        for (const ref of spentIn(tx)) spenders.set(refText(ref), id);
      }
    }
    for (const [id, { validToSlot }] of this.#waiting) {
      const isOver = validToSlot !== null && validToSlot <= this.#chain.newestSlot;
      if (!image.has(id) && isOver) this.#reasons.set(id, 'EXPIRED');
    }
    this.#waiting = image;
    this.#spenders = spenders;
    this.#outbox.mempool(image);
    for (const id of this.#reasons.keys()) {
      if (image.has(id) || !this.#outbox.remembers(id)) this.#reasons.delete(id);
    }
    this.#place.woke();
  }

  /** null: it does not matter, or nobody can read it: it may yet be in a block. */
  #read(id: string, fields: JsonObject, interest: Interest | null): PackedTransaction | null {
    try {
      const matters = interest === null || interest.marks(fields, id) !== null;
      const known = this.#waiting.get(id);
      if (known !== undefined) return known;
      if (!matters && !this.#place.isOurs(id)) return null;
      return packedTransaction(readTransaction(fields, 'the mempool'));
    } catch (error) {
      if (error instanceof Unreadable) return null;
      throw error;
    }
  }

  #mempoolLost(): void {
    this.#outbox.mempoolLost();
    this.#place.woke();
  }

  #reasonOf(id: string): RefusalReason {
    const reason = this.#reasons.get(id) ?? 'REFUSED';
    this.#reasons.delete(id);
    return reason;
  }
}

function spentIn({ isValid, inputs, collateralInputs }: PackedTransaction) {
  return isValid ? inputs : collateralInputs;
}
