/** Something small of which every frame says all: a pool, the top one, an order book, health. */
import type { Connection } from '../socket/connection.ts';
import type { Subscription, Wish } from '../socket/subscription.ts';
import type { Position } from '../types.ts';
import { BaseMirror } from './base.ts';
import type { Reason } from './port.ts';

/** null until it is loaded, and where the server knows no such thing. */
export class WholeMirror<T> extends BaseMirror<T | null> {
  readonly #subscription: Subscription;

  constructor(connection: Connection, wish: Wish) {
    super(null);
    this.#subscription = connection.subscribe(wish, {
      snapshot: (data, position) => this.#told(data, position, 'snapshot'),
      update: (_event, data, position) => this.#told(data, position, 'update'),
      idle: (position) => this.reach(position),
      ended: (error) => this.fail(error),
    });
  }

  protected override stop(): void {
    this.#subscription.close();
  }

  #told(data: unknown, position: Position, reason: Reason): void {
    // trust: the type comes from the schema by which the server documents this topic
    this.become(data as T | null, position, { reason });
  }
}
