/**
 * The mempool of our own Cardano node, on a node that does not write the log: pending transactions
 * for lookups, and whether this node could follow the chain itself. Blocks come from the log.
 *
 * Bounded: it reads at most MAX_AHEAD blocks ahead of the log, then waits for it.
 */
import type { Transaction } from '../cardano/codec/transaction.ts';
import type { Node } from '../engine/node/node.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { Task } from '../engine/runtime/task.ts';
import { chainTip } from './chainPoints.ts';
import type { OverlayWriter } from './mempoolOverlay.ts';
import { isForLog } from './pendingTransactions.ts';
import type { ChainPolicy } from './policy.ts';
import type { ChainSource, ChainStream } from './port.ts';
import { knownState } from './recognise/knownState.ts';
import type { Rules } from './recognise/rules.ts';
import { openStream } from './sourceStream.ts';
import type { FollowingTask } from './supervisedFollower.ts';

interface LocalMempoolFeedDeps {
  readonly source: ChainSource;
  readonly node: Node;
  readonly overlay: OverlayWriter;
  readonly rules: Rules;
  readonly policy: ChainPolicy;
  readonly clock: Pick<Clock, 'after'>;
}

interface BlockAhead {
  readonly height: number;
  readonly slot: number;
  readonly transactions: readonly Transaction[];
}

const MAX_AHEAD = 64;
const MAX_UNSHOWN = 10_000;

export class LocalMempoolFeed implements FollowingTask {
  readonly #deps: LocalMempoolFeedDeps;
  readonly #reading: Task;
  /** Blocks of our node that the log did not have yet, oldest first. */
  #ahead: BlockAhead[] = [];
  /** Pending transactions that the log will have and does not have yet, by id. */
  readonly #unshown = new Map<string, Transaction>();
  #stream: ChainStream | null = null;
  #unlisten = () => {};

  constructor(deps: LocalMempoolFeedDeps, ended: (error: unknown) => void) {
    this.#deps = deps;
    this.#reading = new Task({ clock: deps.clock, failed: ended });
  }

  /** True once our node's chain is known to share a block with the applied state. */
  get isOpen(): boolean {
    return this.#stream !== null;
  }

  async start(): Promise<void> {
    const { source, node, policy } = this.#deps;
    this.#unlisten = node.onApplied(() => {
      this.#confirmLogged();
      this.#showLogged();
    });
    const opened = await openStream(source, node.fold.store, policy.start, this.#reading.signal);
    if (opened === null) return;
    const { stream } = opened;
    this.#stream = stream;
    this.#reading.start(() => this.#run(stream));
  }

  /** Forgets the mempool; the next stream reports the whole mempool again. */
  async stop(): Promise<void> {
    const ended = this.#reading.stop();
    this.#unlisten();
    const stream = this.#stream;
    this.#stream = null;
    await stream?.close();
    await ended;
    this.#deps.overlay.clear();
  }

  async #run(stream: ChainStream): Promise<void> {
    const { overlay } = this.#deps;
    while (!this.#reading.isStopping) {
      const event = await stream.next();
      if (event === null || this.#reading.isStopping) return;
      if (event.kind === 'mempool') {
        overlay.apply(event);
        this.#add(event.added);
      } else if (event.kind === 'back') {
        overlay.clear();
        this.#ahead = [];
        this.#unshown.clear();
      } else {
        const { height, point, transactions } = event.block;
        this.#ahead.push({ height, slot: point.slot, transactions });
        this.#confirmLogged();
      }
      while (this.#ahead.length >= MAX_AHEAD) if (!(await this.#reading.untilWoken())) return;
    }
  }

  /** The log has pending launches and changes of orders; all other transactions show at once. */
  #add(added: readonly Transaction[]): void {
    const { node, rules, overlay } = this.#deps;
    const known = knownState(node.fold.store);
    const withoutOrders: Transaction[] = [];
    for (const tx of added) {
      const waitsForLog = this.#unshown.size < MAX_UNSHOWN && isForLog(tx, known, rules);
      if (waitsForLog) this.#unshown.set(tx.id, tx);
      else withoutOrders.push(tx);
    }
    overlay.markShown(withoutOrders);
    this.#showLogged();
  }

  #showLogged(): void {
    if (this.#unshown.size === 0) return;
    const { node, overlay } = this.#deps;
    const shown = [...this.#unshown.values()].filter(({ id }) => node.fold.mempool.has(id));
    for (const { id } of shown) this.#unshown.delete(id);
    overlay.markShown(shown);
  }

  #confirmLogged(): void {
    const height = chainTip(this.#deps.node.fold.store)?.height ?? 0;
    const later = this.#ahead.findIndex((block) => block.height > height);
    const logged = this.#ahead.splice(0, later < 0 ? this.#ahead.length : later);
    for (const { transactions, slot } of logged) {
      this.#deps.overlay.confirm(transactions, slot);
      for (const { id } of transactions) this.#unshown.delete(id);
    }
    if (logged.length > 0) this.#reading.wake();
  }
}
