/** The trade tape of a token, newest first. */
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

/** So many come in a snapshot; fewer are all there are. */
const SNAPSHOT = 100;
const MOST = 500;

export class TradesMirror extends BaseMirror<TradesState, TradesChange> {
  readonly #subscription: Subscription;
  /** Trades before it are not all known, so none of them is shown. */
  #floor = '';

  constructor(connection: Connection, asset: string) {
    super({ isKnown: false, trades: [] });
    this.#subscription = connection.subscribe(
      { topic: 'Trades', data: { asset } },
      {
        snapshot: (data, position) => this.#told(data, position, 'snapshot'),
        update: (_event, data, position) => this.#told(data, position, 'update'),
        idle: (position) => this.reach(position),
        ended: (error) => this.fail(error),
      },
    );
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
    if (isWhole) this.#floor = trades.length < SNAPSHOT ? '' : (trades.at(-1)?.id ?? '');
    if (trades.length > MOST) {
      trades.length = MOST;
      this.#floor = trades.at(-1)?.id ?? '';
    }
    const why = removed.length > 0 ? 'revised' : reason;
    this.become({ isKnown: data !== null, trades }, position, { reason: why, added, removed });
  }
}
