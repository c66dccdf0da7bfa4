/** Small state that every frame holds whole: a pool, the top pool, an order book, health. */
import type { Connection } from '../socket/connection.ts';
import type { SubscribeParams, Subscription } from '../socket/subscription.ts';
import type { Position } from '../types.ts';
import { BaseMirror } from './base.ts';
import type { Reason } from './mirror.ts';

/** null until it is loaded, and where the server knows no such thing. */
export class WholeMirror<T> extends BaseMirror<T | null> {
  readonly #subscription: Subscription;

  constructor(connection: Connection, params: SubscribeParams) {
    super(null);
    this.#subscription = connection.subscribe(params, {
      snapshot: (data, position) => this.#apply(data, position, 'snapshot'),
      update: (_event, data, position) => this.#apply(data, position, 'update'),
      idle: (position) => this.advance(position),
      ended: (error) => this.fail(error),
    });
  }

  protected override stop(): void {
    this.#subscription.close();
  }

  #apply(data: unknown, position: Position, reason: Reason): void {
    // trust: the type comes from the schema by which the server documents this topic
    this.setState(data as T | null, position, { reason });
  }
}
