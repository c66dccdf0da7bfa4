/**
 * Tickers of some tokens, or of a sorted list, in order; an update has only the changed tickers.
 */
import type { Connection } from '../socket/connection.ts';
import type { Subscription } from '../socket/subscription.ts';
import type { Position, Ticker, TickersInput, TickersUpdate } from '../types.ts';
import { BaseMirror } from './base.ts';
import { crc32 } from './crc32.ts';
import type { Change, Reason } from './mirror.ts';

/** A ticker that did not change is the same object. */
export type TickersState = readonly Ticker[];

export interface TickersChange extends Change {
  /** Asset ids of tickers that changed or are new in the list. */
  readonly changed: readonly string[];
}

export class TickersMirror extends BaseMirror<TickersState, TickersChange> {
  readonly #subscription: Subscription;
  #known: ReadonlyMap<string, Ticker> = new Map();

  constructor(connection: Connection, data: TickersInput) {
    super([]);
    this.#subscription = connection.subscribe(
      { topic: 'Tickers', data },
      {
        snapshot: (data, position) => this.#apply(new Map(), data, position, 'snapshot'),
        update: (_event, data, position) => this.#apply(this.#known, data, position, 'update'),
        idle: (position) => this.advance(position),
        ended: (error) => this.fail(error),
      },
    );
  }

  protected override stop(): void {
    this.#subscription.close();
  }

  #apply(
    before: ReadonlyMap<string, Ticker>,
    data: unknown,
    position: Position,
    reason: Reason,
  ): void {
    // trust: the type comes from the schema by which the server documents this topic
    const { items, order, crc32: sum } = data as TickersUpdate;
    const tickers = new Map(before);
    for (const item of items) {
      const spark = item.spark ?? before.get(item.asset)?.spark;
      if (spark !== undefined) tickers.set(item.asset, { ...item, spark });
    }
    const listed = order.flatMap((asset) => tickers.get(asset) ?? []);
    if (listed.length !== order.length || crc32(order.join(',')) !== sum) {
      this.#subscription.restart('checksum');
      return;
    }
    this.#known = new Map(listed.map((ticker) => [ticker.asset, ticker]));
    const changed = items.map(({ asset }) => asset);
    this.setState(listed, position, { reason, changed });
  }
}
