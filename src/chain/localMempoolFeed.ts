/**
 * What a node that does not write the log hears from its own Cardano node: what waits there, laid
 * over lookups, and whether it could follow the chain itself. Blocks it has from the log.
 *
 * Bounded: so many blocks ahead of the log it reads no further until the log is there, too.
 */

import type { Transaction } from '../cardano/codec/transaction.ts';
import type { Node } from '../engine/actors/node.ts';
import { chainPoints, chainTip, isYoung } from './chainPoints.ts';
import { foldMarket } from './foldMarket.ts';
import type { OverlayWriter } from './mempoolOverlay.ts';
import { openUnless } from './openUnless.ts';
import { changesOrders } from './pendingTransactions.ts';
import type { ChainPolicy } from './policy.ts';
import type { ChainSource, ChainStream } from './port.ts';
import type { Rules } from './recognise/rules.ts';
import type { FollowingTask } from './supervisedFollower.ts';
import { otherChain, unknownStart } from './unfollowable.ts';

export interface LocalMempoolFeedDeps {
  readonly source: ChainSource;
  readonly node: Node;
  readonly overlay: OverlayWriter;
  readonly rules: Rules;
  readonly policy: ChainPolicy;
}

interface Settling {
  readonly height: number;
  readonly slot: number;
  readonly transactions: readonly Transaction[];
}

const MOST_AHEAD = 64;
const MOST_UNSHOWN = 10_000;

export class LocalMempoolFeed implements FollowingTask {
  readonly #deps: LocalMempoolFeedDeps;
  readonly #ended: (error: unknown) => void;
  /** Blocks of our node that the log did not have yet, oldest first. */
  #ahead: Settling[] = [];
  /** Pending transactions with orders that the log does not have yet, by id. */
  readonly #unshown = new Map<string, Transaction>();
  #stream: ChainStream | null = null;
  #running: Promise<void> = Promise.resolve();
  readonly #stop = new AbortController();
  #wake = () => {};
  #unlisten = () => {};

  constructor(deps: LocalMempoolFeedDeps, ended: (error: unknown) => void) {
    this.#deps = deps;
    this.#ended = ended;
  }

  /** Our node's chain was found to share a block with what is applied here. */
  get isOpen(): boolean {
    return this.#stream !== null;
  }

  async start(): Promise<void> {
    const { node } = this.#deps;
    this.#unlisten = node.onApplied(() => {
      this.#settle();
      this.#show();
    });
    this.#stream = await this.#open();
    const stream = this.#stream;
    if (stream === null) return;
    this.#running = this.#run(stream).catch((error: unknown) => {
      if (!this.#stopping) this.#ended(error);
    });
  }

  /** The next stream tells the whole mempool again. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#unlisten();
    this.#wake();
    const stream = this.#stream;
    this.#stream = null;
    await stream?.close();
    await this.#running;
    this.#deps.overlay.clear();
  }

  get #stopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /** null: stopped. */
  async #open(): Promise<ChainStream | null> {
    const { source, node, policy } = this.#deps;
    const { start } = policy;
    const { signal } = this.#stop;
    const points = chainPoints(node.fold.store);
    const found = points.length === 0 ? null : await openUnless(source, points, signal);
    if (found !== null || this.#stopping) return found;
    if (!isYoung(points, start)) throw new Error(otherChain(points[0]));
    const first = await openUnless(source, start === null ? [] : [start], signal);
    if (first === null && !this.#stopping) throw new Error(unknownStart(start));
    return first;
  }

  async #run(stream: ChainStream): Promise<void> {
    const { overlay } = this.#deps;
    while (!this.#stopping) {
      const event = await stream.next();
      if (event === null || this.#stopping) return;
      if (event.kind === 'mempool') {
        overlay.apply(event);
        this.#hold(event.added);
      } else if (event.kind === 'back') {
        overlay.clear();
        this.#ahead = [];
        this.#unshown.clear();
      } else {
        const { height, point, transactions } = event.block;
        this.#ahead.push({ height, slot: point.slot, transactions });
        this.#settle();
      }
      while (this.#ahead.length >= MOST_AHEAD && !this.#stopping) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  /** The log tells pending transactions with orders alone: all others show at once. */
  #hold(added: readonly Transaction[]): void {
    const { node, rules, overlay } = this.#deps;
    const market = foldMarket(node.fold.store);
    const plain: Transaction[] = [];
    for (const tx of added) {
      const isHeld = this.#unshown.size < MOST_UNSHOWN && changesOrders(tx, market, rules);
      if (isHeld) this.#unshown.set(tx.id, tx);
      else plain.push(tx);
    }
    overlay.markShown(plain);
    this.#show();
  }

  /** Those that the fold has now. */
  #show(): void {
    if (this.#unshown.size === 0) return;
    const { node, overlay } = this.#deps;
    const shown = [...this.#unshown.values()].filter(({ id }) => node.fold.mempool.has(id));
    for (const { id } of shown) this.#unshown.delete(id);
    overlay.markShown(shown);
  }

  #settle(): void {
    const height = chainTip(this.#deps.node.fold.store)?.height ?? 0;
    const later = this.#ahead.findIndex((block) => block.height > height);
    const settled = this.#ahead.splice(0, later < 0 ? this.#ahead.length : later);
    for (const { transactions, slot } of settled) {
      this.#deps.overlay.confirm(transactions, slot);
      for (const { id } of transactions) this.#unshown.delete(id);
    }
    if (settled.length > 0) this.#wake();
  }
}
