/**
 * The trade tape of a token, newest first. A snapshot holds the newest 100; older ones come with
 * `loadOlder`.
 */

import type { ApiError } from '../apiError.ts';
import { type Answer, includes } from '../rest/answer.ts';
import type { Connection } from '../socket/connection.ts';
import type { Subscription } from '../socket/subscription.ts';
import type { Position, TradeRow, TradesData } from '../types.ts';
import { BaseMirror } from './base.ts';
import type { Change, Reason } from './mirror.ts';

export interface TradesState {
  /** False: the server knows no such token, yet. */
  readonly isKnown: boolean;
  /** Newest first. */
  readonly trades: readonly TradeRow[];
}

export interface TradesChange extends Change {
  readonly added: readonly TradeRow[];
  /** Ids of trades that a rollback removed. */
  readonly removed: readonly string[];
}

/** Loads the given number of trades older than the trade with the id `before`. */
type OlderTrades = (before: string, limit: number) => Promise<Answer<readonly TradeRow[]>>;

/** Rows of a snapshot and of a page; fewer rows mean that there are no more. */
const PAGE = 100;

export class TradesMirror extends BaseMirror<TradesState, TradesChange> {
  readonly #subscription: Subscription;
  readonly #older: OlderTrades;
  /** Some trades older than this id are unknown, so no older trade is shown. */
  #floor = '';
  /** Beyond it the oldest are dropped. */
  #maxRows = 500;
  /** Counts snapshots: a page from before one is dropped. */
  #generation = 0;

  constructor(connection: Connection, asset: string, older: OlderTrades) {
    super({ isKnown: false, trades: [] });
    this.#older = older;
    this.#subscription = connection.subscribe(
      { topic: 'Trades', data: { asset } },
      {
        snapshot: (data, position) => this.#apply(data, position, 'snapshot'),
        update: (_event, data, position) => this.#apply(data, position, 'update'),
        idle: (position) => this.advance(position),
        ended: (error: ApiError) => this.fail(error),
      },
    );
  }

  /** Whether there may be trades older than the oldest in `state`. */
  get hasOlder(): boolean {
    return this.#floor !== '';
  }

  /**
   * The next page of older ones; true when there was one. False too when the node that answered is
   * behind this mirror, or a snapshot came meanwhile: call again. Throws `ApiError`.
   */
  async loadOlder(): Promise<boolean> {
    const [floor, generation] = [this.#floor, this.#generation];
    if (floor === '') return false;
    const { data, position } = await this.#older(floor, PAGE);
    const own = this.position;
    const isSame = !this.isClosed && floor === this.#floor && generation === this.#generation;
    if (!isSame || own === null || position === null || !includes(position, own)) return false;
    this.#floor = data.length < PAGE ? '' : (data.at(-1)?.id ?? '');
    const trades = [...this.state.trades, ...data];
    this.#maxRows = Math.max(this.#maxRows, trades.length + PAGE);
    const change = { reason: 'history', added: data, removed: [] } as const;
    this.setState({ ...this.state, trades }, own, change);
    return data.length > 0;
  }

  protected override stop(): void {
    this.#subscription.close();
  }

  #apply(frame: unknown, position: Position, reason: Reason): void {
    // trust: the type comes from the schema by which the server documents this topic
    const data = frame as TradesData;
    const rows = new Map<string, TradeRow>();
    const isWhole = reason === 'snapshot' || data === null;
    if (!isWhole) for (const trade of this.state.trades) rows.set(trade.id, trade);
    const added: TradeRow[] = [];
    const removed: string[] = [];
    for (const row of data ?? []) {
      if ('removed' in row) {
        if (rows.delete(row.id)) removed.push(row.id);
      } else if (isWhole || row.id >= this.#floor) {
        rows.set(row.id, row);
        added.push(row);
      }
    }
    const trades = [...rows.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
    if (isWhole) {
      this.#generation += 1;
      this.#floor = trades.length < PAGE ? '' : (trades.at(-1)?.id ?? '');
    }
    if (trades.length > this.#maxRows) {
      trades.length = this.#maxRows;
      this.#floor = trades.at(-1)?.id ?? '';
    }
    const why = removed.length > 0 ? 'revised' : reason;
    this.setState({ isKnown: data !== null, trades }, position, { reason: why, added, removed });
  }
}
