/**
 * Recognises the pending transactions of the mempool, each against the market and the pending
 * transactions before it, and drafts their launches and changes of orders for the log.
 *
 * Assumes: the stream reports the whole mempool after it is opened and after every fork, so this
 *          may start empty. If two transactions spend one output, the one in a block wins.
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
import { BlockState, type KnownState } from './recognise/knownState.ts';
import type { Rules } from './recognise/rules.ts';

interface Pending {
  readonly inputs: readonly RefText[];
  readonly events: readonly MarketEvent[];
  /** Kept while its token is unknown: a later transaction may launch that token. */
  readonly unread: Transaction | null;
}

/** Pending transactions that the log has. */
interface LoggedMempool {
  has(id: string): boolean;
  ids(): Iterable<string>;
}

export class PendingTransactions {
  readonly #known: () => KnownState;
  readonly #rules: Rules;
  readonly #pendingById = new Map<string, Pending>();
  readonly #spentBy = new Map<RefText, string>();
  /** The market after all pending transactions; null: outdated. */
  #state: BlockState | null = null;
  #arrived = 0;

  constructor(known: () => KnownState, rules: Rules) {
    this.#known = known;
    this.#rules = rules;
  }

  /** The entry for a change of the mempool; null: it launches nothing and changes no order. */
  apply(
    { whole, added, removed }: MempoolEvent,
    seenMs: number,
    logged: LoggedMempool,
  ): MempoolPayload | null {
    if (whole) this.clear();
    for (const { id } of removed) this.#remove(id);
    const recognised = this.#changesOf(added);
    // After a fork, older pending transactions may be reported before the undone launch.
    if (added.some(({ id }) => this.#launches(id))) recognised.push(...this.#changesOfUnread());
    const gone = removed.filter(({ id }) => logged.has(id));
    const payload = { kind: 'mempool', seenMs, whole, added: recognised, removed: gone } as const;
    if (!whole) return recognised.length + gone.length > 0 ? payload : null;
    const present = new Set(recognised.map(({ id }) => id));
    const absent = [...logged.ids()].filter((id) => !present.has(id)).sort();
    return absent.length > 0 || recognised.some(({ id }) => !logged.has(id))
      ? { ...payload, absent }
      : null;
  }

  /** Before a block is logged: removes its transactions and those that they make impossible. */
  confirm(
    transactions: readonly Transaction[],
    logged: LoggedMempool,
  ): { readonly settled: string[]; readonly dropped: DroppedTransaction[] } {
    const settled = transactions.map(({ id }) => id);
    for (const id of settled) this.#remove(id);
    const dropped = new Set<string>();
    for (const tx of this.#spentBy.size === 0 ? [] : transactions) {
      for (const ref of spentBy(tx)) {
        const loser = this.#spentBy.get(refText(ref));
        if (loser !== undefined) dropped.add(loser);
      }
    }
    for (const id of dropped) this.#remove(id);
    this.#state = null;
    return {
      settled: settled.filter((id) => logged.has(id)),
      dropped: [...dropped]
        .filter((id) => logged.has(id))
        .map((id) => ({ id, reason: 'INPUT_SPENT' })),
    };
  }

  /** The chain went back: the stream will report the whole mempool again. */
  clear(): void {
    this.#pendingById.clear();
    this.#spentBy.clear();
    this.#state = null;
  }

  #changesOf(transactions: readonly Transaction[]): PendingTransaction[] {
    return transactions.flatMap((tx) => {
      const events = this.#recognise(tx).filter(isLogged);
      return events.length === 0 ? [] : [{ id: tx.id, events }];
    });
  }

  #changesOfUnread(): PendingTransaction[] {
    const unread = [...this.#pendingById.values()].flatMap((pending) => pending.unread ?? []);
    return this.#changesOf(unread);
  }

  #launches(id: string): boolean {
    return this.#pendingById.get(id)?.events.some(({ kind }) => kind === 'launched') === true;
  }

  #recognise(tx: Transaction): readonly MarketEvent[] {
    const state = this.#state ?? this.#stateAfterAll();
    this.#state = state;
    this.#arrived = (this.#arrived + 1) % 1_000_000;
    const events = recognisePending(tx, this.#arrived, state, this.#rules);
    const inputs = spentBy(tx).map(refText);
    const unread = events.length === 0 ? tx : null;
    this.#pendingById.delete(tx.id);
    this.#pendingById.set(tx.id, { inputs, events, unread });
    for (const ref of inputs) this.#spentBy.set(ref, tx.id);
    return events;
  }

  #stateAfterAll(): BlockState {
    const state = new BlockState(this.#known());
    for (const { events } of this.#pendingById.values()) {
      for (const event of events) state.apply(event);
    }
    return state;
  }

  #remove(id: string): void {
    const pending = this.#pendingById.get(id);
    if (pending === undefined) return;
    this.#pendingById.delete(id);
    for (const ref of pending.inputs) if (this.#spentBy.get(ref) === id) this.#spentBy.delete(ref);
    this.#state = null;
  }
}

function spentBy({ isValid, inputs, collateralInputs }: Transaction): readonly OutputRef[] {
  return isValid ? inputs : collateralInputs;
}

/** Shown while they are pending (protocol.md 10.3 for launches). */
const LOGGED: ReadonlySet<MarketEvent['kind']> = new Set<MarketEvent['kind']>([
  ...(['launched', 'placed', 'partlyExecuted', 'executed', 'refunded', 'cancelled'] as const),
]);

function isLogged({ kind }: MarketEvent): boolean {
  return LOGGED.has(kind);
}

/** Whether the log has a pending transaction, by what it does in the `known` market. */
export function isForLog(tx: Transaction, known: KnownState, rules: Rules): boolean {
  return recognisePending(tx, 0, new BlockState(known), rules).some(isLogged);
}

/** A log that several nodes share takes messages of at most 1 MB. */
const MAX_CHARACTERS = 400_000;

/**
 * Splits a change into one or more entries of a bounded size. Removals come first. Only the first
 * entry is `whole`; each entry but the last has `more`.
 */
export function splitMempool(change: MempoolPayload, most = MAX_CHARACTERS): MempoolPayload[] {
  const { kind, seenMs, whole } = change;
  const parts: MempoolPayload[] = [];
  let part = new Part();
  const close = (more: { readonly more?: true }) => {
    const isWhole = whole && parts.length === 0;
    const { absent, removed, added } = part;
    const names = change.absent === undefined ? {} : { absent };
    parts.push({ kind, seenMs, whole: isWhole, added, removed, ...names, ...more });
    part = new Part();
  };
  const put = <T>(items: readonly T[], listOf: (part: Part) => T[]) => {
    for (const item of items) {
      const characters = JSON.stringify(item).length;
      if (part.characters > 0 && part.characters + characters > most) close({ more: true });
      part.characters += characters;
      listOf(part).push(item);
    }
  };
  put(change.absent ?? [], ({ absent }) => absent);
  put(change.removed, ({ removed }) => removed);
  put(change.added, ({ added }) => added);
  close({});
  return parts;
}

class Part {
  readonly absent: string[] = [];
  readonly removed: DroppedTransaction[] = [];
  readonly added: PendingTransaction[] = [];
  characters = 0;
}
