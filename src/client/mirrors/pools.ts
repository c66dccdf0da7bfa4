/** A list of pools. A frame has the changed pools, the order of the list and its checksum. */
import type { Connection } from '../socket/connection.ts';
import type { Subscription } from '../socket/subscription.ts';
import type { LiquidityPoolInfo, PoolListName, PoolListUpdate, Position } from '../types.ts';
import { BaseMirror } from './base.ts';
import { crc32 } from './crc32.ts';
import type { Change, Reason } from './mirror.ts';

/** At most 100 pools, in the order of the list. A pool that did not change is the same object. */
export type PoolsState = readonly LiquidityPoolInfo[];

export interface PoolsChange extends Change {
  /** Asset ids of pools that changed or are new on the page. */
  readonly changed: readonly string[];
}

export class PoolsMirror extends BaseMirror<PoolsState, PoolsChange> {
  readonly #subscription: Subscription;
  #known: ReadonlyMap<string, LiquidityPoolInfo> = new Map();

  constructor(connection: Connection, list: PoolListName, maxHz?: number) {
    super([]);
    this.#subscription = connection.subscribe(
      { topic: list, maxHz },
      {
        snapshot: (data, position) => this.#apply(data, position, 'snapshot'),
        update: (_event, data, position) => this.#apply(data, position, 'update'),
        idle: (position) => this.advance(position),
        ended: (error) => this.fail(error),
      },
    );
  }

  protected override stop(): void {
    this.#subscription.close();
  }

  #apply(data: unknown, position: Position, reason: Reason): void {
    // trust: the type comes from the schema by which the server documents this topic
    const { items, order, crc32: sum } = data as PoolListUpdate;
    const news = new Map(items.map((pool) => [pool.info.asset, pool]));
    const known = new Map<string, LiquidityPoolInfo>();
    for (const asset of order) {
      const pool = news.get(asset) ?? (reason === 'snapshot' ? undefined : this.#known.get(asset));
      if (pool !== undefined) known.set(asset, pool);
    }
    if (known.size !== order.length || crc32(order.join(',')) !== sum) {
      this.#subscription.restart('checksum');
      return;
    }
    this.#known = known;
    this.setState([...known.values()], position, { reason, changed: [...news.keys()] });
  }
}
