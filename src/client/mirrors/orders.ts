/**
 * Orders of a token or of an address: orders on the chain, newest first, and orders in the mempool.
 * A snapshot holds the newest 100; older ones come with `loadOlder`.
 */

import type { ApiError } from '../apiError.ts';
import type { Answer } from '../rest/answer.ts';
import type { Connection } from '../socket/connection.ts';
import type { SubscribeParams, Subscription } from '../socket/subscription.ts';
import type { ApiOrder, LiveOrdersFeedData, OrderPage, Position } from '../types.ts';
import { BaseMirror } from './base.ts';
import type { Change, Reason } from './mirror.ts';

export interface OrdersState {
  /** False: the server knows no such token, yet. */
  readonly isKnown: boolean;
  /** On the chain, newest first. */
  readonly ledger: readonly ApiOrder[];
  /** In no block yet: all of them. */
  readonly mempool: readonly ApiOrder[];
  /** Number of all orders on the chain, whether `ledger` lists them or not. */
  readonly count: number;
}

export interface OrdersChange extends Change {
  /** Changed or new, in either list. */
  readonly changed: readonly ApiOrder[];
  /** Ids of orders that are neither on the chain nor in the mempool now. */
  readonly removed: readonly string[];
}

/** Loads the page of orders older than the order with the id `before`. */
type OlderOrders = (before: string) => Promise<Answer<OrderPage>>;

const EMPTY: OrdersState = { isKnown: false, ledger: [], mempool: [], count: 0 };

export class OrdersMirror extends BaseMirror<OrdersState, OrdersChange> {
  readonly #subscription: Subscription;
  readonly #older: OlderOrders;
  /** Most orders on the chain that are kept; beyond it the oldest are dropped. */
  #maxRows = 500;

  constructor(connection: Connection, params: SubscribeParams, older: OlderOrders) {
    super(EMPTY);
    this.#older = older;
    this.#subscription = connection.subscribe(params, {
      snapshot: (data, position) => this.#apply(data, position, 'snapshot'),
      update: (event, data, position) =>
        this.#apply(data, position, event === 'OrdersRevised' ? 'revised' : 'update'),
      idle: (position) => this.advance(position),
      ended: (error: ApiError) => this.fail(error),
    });
  }

  /** Whether the chain has orders that are not in `state.ledger`. */
  get hasOlder(): boolean {
    return this.state.ledger.length < this.state.count;
  }

  /** The next page of older ones; true when there was one. Throws `ApiError`. */
  async loadOlder(): Promise<boolean> {
    const oldest = this.state.ledger.at(-1);
    if (oldest === undefined || !this.hasOlder) return false;
    const { data } = await this.#older(oldest.entityId);
    // Meanwhile it may have been rolled back, or a snapshot has come.
    if (this.isClosed || this.state.ledger.at(-1)?.entityId !== oldest.entityId) return false;
    const known = new Set(this.state.ledger.map(({ entityId }) => entityId));
    const news = data.ledger.items.filter(({ entityId }) => !known.has(entityId));
    if (news.length === 0 || this.position === null) return false;
    const ledger = [...this.state.ledger, ...news];
    this.#maxRows = Math.max(this.#maxRows, ledger.length + 100);
    const change = { reason: 'history', changed: news, removed: [] } as const;
    this.setState({ ...this.state, ledger }, this.position, change);
    return true;
  }

  protected override stop(): void {
    this.#subscription.close();
  }

  #apply(frame: unknown, position: Position, reason: Reason): void {
    // trust: the type comes from the schema by which the server documents this topic
    const data = frame as LiveOrdersFeedData;
    if (data === null) {
      this.setState(EMPTY, position, { reason, changed: [], removed: [] });
      return;
    }
    const before = reason === 'snapshot' ? EMPTY : this.state;
    const { removed, count } = data;
    const { ledger, mempool } = merged(before, data);
    if (ledger.length > this.#maxRows) ledger.length = this.#maxRows;
    const changed = [...data.mempool, ...data.ledger];
    this.setState({ isKnown: true, ledger, mempool, count }, position, {
      reason,
      changed,
      removed,
    });
  }
}

interface Rows {
  /** Newest first. */
  readonly ledger: readonly ApiOrder[];
  readonly mempool: readonly ApiOrder[];
}

interface Changes extends Rows {
  readonly removed: readonly string[];
  /** Number of all orders on the chain. */
  readonly count: number;
}

/**
 * Inserts changed orders into the known ones, in the order of HTTP: newest first by block and place
 * in it. Rows hold only the second, so the order within one is taken from the frame, which is in
 * this order. An order that the frame does not name was not undone, so it is older than all in it.
 */
export function merged(known: Rows & { readonly count: number }, changes: Changes) {
  const gone = new Set(changes.removed);
  for (const { entityId } of changes.mempool) gone.add(entityId);
  const stays = ({ entityId }: ApiOrder) => !gone.has(entityId);
  const floor = known.ledger.length < known.count ? known.ledger.at(-1)?.timestamp : undefined;
  const ledger = withChanges(known.ledger.filter(stays), changes.ledger, floor ?? -1);
  const onChain = new Set(changes.ledger.map(({ entityId }) => entityId));
  const waiting = known.mempool.filter(
    (order) => !changes.removed.includes(order.entityId) && !onChain.has(order.entityId),
  );
  return { ledger, mempool: withChanges(waiting, changes.mempool, -1) };
}

/** `floor`: the second of the oldest one known; new orders older than that are left out. */
function withChanges(
  known: readonly ApiOrder[],
  changed: readonly ApiOrder[],
  floor: number,
): ApiOrder[] {
  const news = new Map(changed.map((order) => [order.entityId, order]));
  // With another second its place changes, as if it were new.
  const rows = known.filter(({ entityId, timestamp }) => {
    const now = news.get(entityId);
    return now === undefined || now.timestamp === timestamp;
  });
  const stays = new Set(rows.map(({ entityId }) => entityId));
  exchange(
    rows,
    changed.filter(({ entityId }) => stays.has(entityId)),
  );
  const newest = rows[0]?.timestamp;
  let after = 0;
  for (const order of changed) {
    if (stays.has(order.entityId)) {
      after = rows.indexOf(order, after) + 1;
      continue;
    }
    if (order.timestamp <= floor && order.timestamp !== newest) continue;
    const at = rows.findIndex(
      ({ timestamp }, index) => index >= after && timestamp <= order.timestamp,
    );
    const place = at < 0 ? rows.length : at;
    rows.splice(place, 0, order);
    after = place + 1;
  }
  return rows;
}

/**
 * Replaces the earlier versions of the given orders; orders of one second keep the given sequence.
 */
function exchange(rows: ApiOrder[], orders: readonly ApiOrder[]): void {
  const waiting = new Map<number, ApiOrder[]>();
  for (const order of orders) {
    const same = waiting.get(order.timestamp);
    if (same === undefined) waiting.set(order.timestamp, [order]);
    else same.push(order);
  }
  const ids = new Set(orders.map(({ entityId }) => entityId));
  for (const [index, { entityId, timestamp }] of rows.entries()) {
    if (!ids.has(entityId)) continue;
    const next = waiting.get(timestamp)?.shift();
    if (next !== undefined) rows[index] = next;
  }
}
