/**
 * What waits in the mempool, recognised: each transaction in the light of the market and of those
 * before it. Only what it would do to orders is written down.
 *
 * Assumes: the stream tells the whole mempool after it is opened and after every fork, so this may
 *          begin empty. Where two would spend the same output, the one in a block wins.
 */

import { type OutputRef, refText } from '../cardano/codec/output.ts';
import type { Transaction } from '../cardano/codec/transaction.ts';
import type {
  DroppedTransaction,
  MempoolPayload,
  PendingTransaction,
} from '../engine/log/entry.ts';
import type { MarketEvent, RefText } from '../engine/market/events.ts';
import type { MempoolEvent } from './port.ts';
import { recognisePending } from './recognise/block.ts';
import { BlockMarket, type KnownMarket } from './recognise/knownMarket.ts';
import type { Rules } from './recognise/rules.ts';

interface Pending {
  readonly inputs: readonly RefText[];
  readonly events: readonly MarketEvent[];
}

/** What the log already has of the mempool. */
interface LoggedMempool {
  has(id: string): boolean;
  ids(): Iterable<string>;
}

export class PendingTransactions {
  readonly #known: () => KnownMarket;
  readonly #rules: Rules;
  readonly #waits = new Map<string, Pending>();
  readonly #spentBy = new Map<RefText, string>();
  /** The market as it will be; null: to be made anew. */
  #market: BlockMarket | null = null;
  #arrived = 0;

  constructor(known: () => KnownMarket, rules: Rules) {
    this.#known = known;
    this.#rules = rules;
  }

  /** What an entry has to say of a change; null: nothing. */
  apply(
    { whole, added, removed }: MempoolEvent,
    seenMs: number,
    written: LoggedMempool,
  ): MempoolPayload | null {
    if (whole) this.clear();
    for (const { id } of removed) this.#forgetOne(id);
    const news = added.flatMap((tx): PendingTransaction[] => {
      const events = this.#recognise(tx).filter(isOfOrders);
      return events.length === 0 ? [] : [{ id: tx.id, events }];
    });
    const gone = removed.filter(({ id }) => written.has(id));
    const payload = { kind: 'mempool', seenMs, whole, added: news, removed: gone } as const;
    if (!whole) return news.length + gone.length > 0 ? payload : null;
    const there = new Set(news.map(({ id }) => id));
    const absent = [...written.ids()].filter((id) => !there.has(id)).sort();
    return absent.length > 0 || news.some(({ id }) => !written.has(id))
      ? { ...payload, absent }
      : null;
  }

  /** What a block means to those who wait; they are asked for before the block is written. */
  confirm(
    transactions: readonly Transaction[],
    written: LoggedMempool,
  ): { readonly settled: string[]; readonly dropped: DroppedTransaction[] } {
    const settled = transactions.map(({ id }) => id);
    for (const id of settled) this.#forgetOne(id);
    const dropped = new Set<string>();
    for (const tx of transactions) {
      for (const ref of spentBy(tx)) {
        const loser = this.#spentBy.get(refText(ref));
        if (loser !== undefined) dropped.add(loser);
      }
    }
    for (const id of dropped) this.#forgetOne(id);
    this.#market = null;
    return {
      settled: settled.filter((id) => written.has(id)),
      dropped: [...dropped]
        .filter((id) => written.has(id))
        .map((id) => ({ id, reason: 'INPUT_SPENT' })),
    };
  }

  /** The chain went back: all that waits is told anew. */
  clear(): void {
    this.#waits.clear();
    this.#spentBy.clear();
    this.#market = null;
  }

  #recognise(tx: Transaction): readonly MarketEvent[] {
    const market = this.#market ?? this.#marketOfAll();
    this.#market = market;
    this.#arrived = (this.#arrived + 1) % 1_000_000;
    const events = recognisePending(tx, this.#arrived, market, this.#rules);
    const inputs = spentBy(tx).map(refText);
    this.#waits.set(tx.id, { inputs, events });
    for (const ref of inputs) this.#spentBy.set(ref, tx.id);
    return events;
  }

  #marketOfAll(): BlockMarket {
    const market = new BlockMarket(this.#known());
    for (const { events } of this.#waits.values()) {
      for (const event of events) market.note(event);
    }
    return market;
  }

  #forgetOne(id: string): void {
    const waits = this.#waits.get(id);
    if (waits === undefined) return;
    this.#waits.delete(id);
    for (const ref of waits.inputs) if (this.#spentBy.get(ref) === id) this.#spentBy.delete(ref);
    this.#market = null;
  }
}

function spentBy({ isValid, inputs, collateralInputs }: Transaction): readonly OutputRef[] {
  return isValid ? inputs : collateralInputs;
}

function isOfOrders({ kind }: MarketEvent): boolean {
  return kind === 'placed' || kind === 'executed' || kind === 'refunded' || kind === 'cancelled';
}

/** Whether a pending transaction would change orders, in the light of `known` alone. */
export function changesOrders(tx: Transaction, known: KnownMarket, rules: Rules): boolean {
  return recognisePending(tx, 0, new BlockMarket(known), rules).some(isOfOrders);
}

const MOST_CHARACTERS = 400_000;

/** At least one. Where the change is `whole`, it says what is `absent`. */
export function splitMempool(change: MempoolPayload, most = MOST_CHARACTERS): MempoolPayload[] {
  const { kind, seenMs, whole } = change;
  const pieces: MempoolPayload[] = [];
  let piece = new Piece();
  const close = (more: { readonly more?: true }) => {
    const isWhole = whole && pieces.length === 0;
    const { absent, removed, added } = piece;
    const names = change.absent === undefined ? {} : { absent };
    pieces.push({ kind, seenMs, whole: isWhole, added, removed, ...names, ...more });
    piece = new Piece();
  };
  const makeRoom = (each: PendingTransaction | DroppedTransaction | string) => {
    const characters = JSON.stringify(each).length;
    if (piece.characters > 0 && piece.characters + characters > most) close({ more: true });
    piece.characters += characters;
  };
  for (const id of change.absent ?? []) {
    makeRoom(id);
    piece.absent.push(id);
  }
  for (const each of change.removed) {
    makeRoom(each);
    piece.removed.push(each);
  }
  for (const each of change.added) {
    makeRoom(each);
    piece.added.push(each);
  }
  close({});
  return pieces;
}

class Piece {
  readonly absent: string[] = [];
  readonly removed: DroppedTransaction[] = [];
  readonly added: PendingTransaction[] = [];
  characters = 0;
}
