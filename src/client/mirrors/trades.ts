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
import type { Change, Reason } from './port.ts';

export interface TradesState {
  /** False: the server knows no such token, yet. */
  readonly isKnown: boolean;
  /** Newest first. */
  readonly trades: readonly TradeRow[];
}

export interface TradesChange extends Change {
  readonly added: readonly TradeRow[];
  /** Ids of trades that a rollback took away. */
  readonly removed: readonly string[];
}

/** Asks for so many trades that are older than the one with the id `before`. */
export type OlderTrades = (before: string, limit: number) => Promise<Answer<readonly TradeRow[]>>;

/** So many come in a snapshot, and are asked for at once; fewer are all there are. */
const PAGE = 100;

export class TradesMirror extends BaseMirror<TradesState, TradesChange> {
  readonly #subscription: Subscription;
  readonly #older: OlderTrades;
  /** Trades before it are not all known, so none of them is shown. */
  #floor = '';
  /** That are kept; the oldest go. */
  #most = 500;
  /** Counts the times that all came anew. */
  #round = 0;

  constructor(connection: Connection, asset: string, older: OlderTrades) {
    super({ isKnown: false, trades: [] });
    this.#older = older;
    this.#subscription = connection.subscribe(
      { topic: 'Trades', data: { asset } },
      {
        snapshot: (data, position) => this.#told(data, position, 'snapshot'),
        update: (_event, data, position) => this.#told(data, position, 'update'),
        idle: (position) => this.reach(position),
        ended: (error: ApiError) => this.fail(error),
      },
    );
  }

  /** Whether there may be trades before those of `state`. */
  get hasOlder(): boolean {
    return this.#floor !== '';
  }

  /**
   * The next page of older ones; true when there was one. False too when the node that answered is
   * behind this mirror, or all came anew meanwhile: ask again. Throws `ApiError`.
   */
  async loadOlder(): Promise<boolean> {
    const [floor, round] = [this.#floor, this.#round];
    if (floor === '') return false;
    const { data, position } = await this.#older(floor, PAGE);
    const own = this.position;
    const isSame = !this.isClosed && floor === this.#floor && round === this.#round;
    if (!isSame || own === null || position === null || !includes(position, own)) return false;
    this.#floor = data.length < PAGE ? '' : (data.at(-1)?.id ?? '');
    const trades = [...this.state.trades, ...data];
    this.#most = Math.max(this.#most, trades.length + PAGE);
    const change = { reason: 'history', added: data, removed: [] } as const;
    this.become({ ...this.state, trades }, own, change);
    return data.length > 0;
  }

  protected override stop(): void {
    this.#subscription.close();
  }

  #told(told: unknown, position: Position, reason: Reason): void {
    // trust: the type comes from the schema by which the server documents this topic
    const data = told as TradesData;
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
      this.#round += 1;
      this.#floor = trades.length < PAGE ? '' : (trades.at(-1)?.id ?? '');
    }
    if (trades.length > this.#most) {
      trades.length = this.#most;
      this.#floor = trades.at(-1)?.id ?? '';
    }
    const why = removed.length > 0 ? 'revised' : reason;
    this.become({ isKnown: data !== null, trades }, position, { reason: why, added, removed });
  }
}
