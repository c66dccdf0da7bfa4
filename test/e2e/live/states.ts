/**
 * A client's state of one topic, built from frames; each value is immutable. Two states of the same
 * topic at one position must be equal in the part that both know: a client with a first page does
 * not know the rows after it.
 */
import assert from 'node:assert/strict';
import { recordOf } from '../../support/subscription.ts';

export type Row = Readonly<Record<string, unknown>>;

/** `null` data: the server does not know the token (yet, or any more). */
export interface State {
  next(event: string, data: unknown): State;
  assertSame(other: State): void;
}

export function rowsOf(value: unknown): Row[] {
  assert(Array.isArray(value), `an array, not ${JSON.stringify(value)?.slice(0, 200)}`);
  return value.map(recordOf);
}

/** Something small, whole each time. */
export class WholeState implements State {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }

  next(_event: string, data: unknown): WholeState {
    return new WholeState(data);
  }

  assertSame(other: State): void {
    assert(other instanceof WholeState);
    assert.deepEqual(this.value, other.value);
  }
}

/** The first page of a list of pools. */
export class ListState implements State {
  readonly page: readonly Row[];

  constructor(page: readonly Row[]) {
    this.page = page;
  }

  static told(data: unknown): ListState {
    return new ListState([]).next('', data);
  }

  next(_event: string, data: unknown): ListState {
    const { items, order } = recordOf(data);
    assert(Array.isArray(order));
    const known = new Map(this.page.map((pool) => [assetOf(pool), pool]));
    for (const pool of rowsOf(items)) {
      assert(order.includes(assetOf(pool)), 'an item is of the page');
      known.set(assetOf(pool), pool);
    }
    return new ListState(
      order.map((asset) => known.get(String(asset)) ?? assert.fail(`${asset} was never told`)),
    );
  }

  assertSame(other: State): void {
    assert(other instanceof ListState);
    assert.deepEqual(this.page, other.page);
  }
}

function assetOf(pool: Row): string {
  return String(recordOf(pool.info).asset);
}

/** Keyed rows above a floor; below it some may be known and others not. */
function assertRowsSame(
  mine: ReadonlyMap<string, Row>,
  others: ReadonlyMap<string, Row>,
  isAboveFloor: (row: Row) => boolean,
): void {
  for (const [name, row] of mine) {
    const other = others.get(name);
    if (other !== undefined) assert.deepEqual(row, other);
    else assert(!isAboveFloor(row), `only one has ${JSON.stringify(row)}`);
  }
  for (const [name, row] of others) {
    assert(mine.has(name) || !isAboveFloor(row), `only the other has ${JSON.stringify(row)}`);
  }
}

export interface OrderParts {
  readonly ledger: ReadonlyMap<string, Row>;
  readonly mempool: ReadonlyMap<string, Row>;
  readonly count: number;
  /** Orders placed after this second are all known. */
  readonly floor: number;
  /** Ids, newest first, right after a whole page; what changed later has no place in its row. */
  readonly order: readonly string[] | null;
}

const ids = (rows: readonly Row[]) =>
  new Map(rows.map((row): [string, Row] => [String(row.entityId), row]));

/** A feed or a history of orders; null parts: the token is not known. */
export class OrdersState implements State {
  readonly parts: OrderParts | null;

  constructor(parts: OrderParts | null) {
    this.parts = parts;
  }

  static told(data: unknown): OrdersState {
    if (data === null) return new OrdersState(null);
    const { ledger, mempool, removed, count } = recordOf(data);
    assert.deepEqual(removed, []);
    return OrdersState.page(rowsOf(ledger), rowsOf(mempool), Number(count));
  }

  static page(ledger: readonly Row[], mempool: readonly Row[], count: number): OrdersState {
    const isWhole = ledger.length === count;
    const floor = isWhole ? Number.NEGATIVE_INFINITY : Number(ledger.at(-1)?.timestamp);
    const order = [...ledger, ...mempool].map(({ entityId }) => String(entityId));
    return new OrdersState({ ledger: ids(ledger), mempool: ids(mempool), count, floor, order });
  }

  next(_event: string, data: unknown): OrdersState {
    const changes = recordOf(data);
    const ledger = new Map(this.parts?.ledger);
    const mempool = new Map(this.parts?.mempool);
    for (const [row, to, from] of [
      ...rowsOf(changes.ledger).map((row) => [row, ledger, mempool] as const),
      ...rowsOf(changes.mempool).map((row) => [row, mempool, ledger] as const),
    ]) {
      from.delete(String(row.entityId));
      to.set(String(row.entityId), row);
    }
    assert(Array.isArray(changes.removed));
    for (const ref of changes.removed.map(String)) {
      ledger.delete(ref);
      mempool.delete(ref);
    }
    const floor = this.parts?.floor ?? Number.NEGATIVE_INFINITY;
    const count = Number(changes.count);
    return new OrdersState({ ledger, mempool, count, floor, order: null });
  }

  assertSame(other: State): void {
    assert(other instanceof OrdersState);
    const [mine, theirs] = [this.parts ?? NO_ORDERS, other.parts ?? NO_ORDERS];
    assert.equal(mine.count, theirs.count, 'count');
    assert.deepEqual(mine.mempool, theirs.mempool);
    const floor = Math.max(mine.floor, theirs.floor);
    assertRowsSame(mine.ledger, theirs.ledger, (row) => Number(row.timestamp) > floor);
    for (const { floor: at, ledger, count } of [mine, theirs]) {
      if (at === Number.NEGATIVE_INFINITY) assert.equal(ledger.size, count, 'count of a whole');
    }
    if (mine.order !== null && theirs.order !== null) assert.deepEqual(mine.order, theirs.order);
  }
}

const NO_ORDERS: OrderParts = {
  ledger: new Map(),
  mempool: new Map(),
  count: 0,
  floor: Number.NEGATIVE_INFINITY,
  order: null,
};

const MAX_TRADES = 100;

/** The trade tape, by the ids of trades, which sort. */
export class TradesState implements State {
  readonly rows: ReadonlyMap<string, Row>;
  /** Trades with this id or a later one are all known. */
  readonly floor: string;

  constructor(rows: ReadonlyMap<string, Row>, floor: string) {
    this.rows = rows;
    this.floor = floor;
  }

  static told(data: unknown): TradesState {
    const rows = data === null ? [] : rowsOf(data);
    const sorted = rows.map(({ id }) => String(id));
    assert.deepEqual(sorted, sorted.toSorted().reverse(), 'newest first');
    const floor = rows.length < MAX_TRADES ? '' : (sorted.at(-1) ?? '');
    return new TradesState(new Map(rows.map((row) => [String(row.id), row])), floor);
  }

  next(_event: string, data: unknown): TradesState {
    const rows = new Map(this.rows);
    for (const row of data === null ? [] : rowsOf(data)) {
      if (row.removed === true) rows.delete(String(row.id));
      else rows.set(String(row.id), row);
    }
    return new TradesState(data === null ? new Map() : rows, this.floor);
  }

  assertSame(other: State): void {
    assert(other instanceof TradesState);
    const floor = this.floor > other.floor ? this.floor : other.floor;
    assertRowsSame(this.rows, other.rows, ({ id }) => String(id) >= floor);
  }
}
