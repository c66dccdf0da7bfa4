/**
 * A client of each kind of topic, without a socket: it keeps what frames tell, by the client rule
 * of protocol.md 6.4, and finds what breaks the contract.
 */
import assert from 'node:assert/strict';
import { askSince, type Source } from '../../src/api/topics/port.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import type { Position } from '../../src/engine/runtime/position.ts';
import { checksumOf } from '../api/orders/naiveBook.ts';
import { recordOf } from './subscription.ts';

type Row = Readonly<Record<string, unknown>>;

export interface Heard {
  readonly event: string;
  readonly data: unknown;
  readonly seq: number;
  readonly isSnapshot: boolean;
}

/**
 * The frames that the gateway sends to a client at position `own`: page after page of changes, or a
 * snapshot if the source has no changes from there on. Each part is encoded and decoded as JSON.
 */
export function framesFor(source: Source, own: Position | null, applied: Position): Heard[] {
  const heard: Heard[] = [];
  const hear = (event: string, data: unknown, seq: number, isSnapshot: boolean) =>
    heard.push({ event, data: JSON.parse(JSON.stringify(data)), seq, isSnapshot });
  let complete = own?.epoch === applied.epoch ? own.seq : -1;
  while (complete >= 0 && complete < applied.seq) {
    const changes = askSince(source, complete, applied.seq);
    assert(!(changes instanceof Failure));
    if (changes === null) complete = -1;
    else {
      for (const { event, data, seq, isSnapshot = false } of changes.parts) {
        hear(event, data, seq, isSnapshot);
      }
      complete = changes.completeTo;
    }
  }
  if (complete < 0) {
    const data = source.snapshot();
    assert(!(data instanceof Failure));
    hear('snapshot', data, applied.seq, true);
  }
  return heard;
}

function listOf(value: unknown): Record<string, unknown>[] {
  assert(Array.isArray(value));
  return value.map((each) => ({ ...recordOf(each) }));
}

/** CRC-32 as in IEEE 802.3, bit by bit. */
function crcOf(text: string): number {
  let crc = 0xff_ff_ff_ff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xed_b8_83_20 : 0);
  }
  return ~crc >>> 0;
}

/** A list of pools or tickers, of which an item that leaves is deleted at once. */
export class ListClient {
  order: string[] = [];
  #items = new Map<string, Row>();

  /** Answers the asset ids of the items that came. */
  take(data: unknown, isSnapshot: boolean): string[] {
    if (isSnapshot) this.#items.clear();
    const { items, order, crc32 } = recordOf(data);
    assert(Array.isArray(order));
    const came = listOf(items).map((item) => {
      const asset = String('info' in item ? recordOf(item.info).asset : item.asset);
      // A ticker leaves its spark out where it is as before.
      const { spark } = this.#items.get(asset) ?? {};
      this.#items.set(asset, spark === undefined ? item : { spark, ...item });
      return asset;
    });
    this.order = order.map(String);
    for (const asset of came) assert(this.order.includes(asset), 'an item is of the list');
    for (const asset of this.order) assert(this.#items.has(asset), `${asset} was given`);
    for (const asset of [...this.#items.keys()]) {
      if (!this.order.includes(asset)) this.#items.delete(asset);
    }
    assert.equal(crc32, crcOf(this.order.join(',')));
    return came;
  }

  get page(): unknown[] {
    return this.order.map((asset) => this.#items.get(asset));
  }
}

/** Orders as they were told; without `knowsRevised` it never heard of `OrdersRevised`. */
export class OrderClient {
  readonly ledger = new Map<string, unknown>();
  readonly mempool = new Map<string, unknown>();
  readonly #knowsRevised: boolean;
  count = 0;
  revised = 0;
  #seq = -1;

  constructor(knowsRevised: boolean) {
    this.#knowsRevised = knowsRevised;
  }

  hear({ event, data, seq, isSnapshot }: Heard): void {
    if (event === 'OrdersRevised') {
      const { reason, fromSlot, toSlot } = recordOf(data);
      assert.equal(reason, 'rollback');
      for (const slot of [fromSlot, toSlot]) assert(slot === null || Number.isInteger(slot));
      this.revised += 1;
      if (!this.#knowsRevised) return;
    }
    if (isSnapshot) {
      this.ledger.clear();
      this.mempool.clear();
      this.count = 0;
    } else if (seq <= this.#seq) return;
    this.#seq = seq;
    if (data === null) return;
    const { ledger, mempool, removed, count } = recordOf(data);
    for (const order of listOf(ledger)) this.#put(this.ledger, this.mempool, order);
    for (const order of listOf(mempool)) this.#put(this.mempool, this.ledger, order);
    assert(Array.isArray(removed));
    for (const ref of removed.map(String)) {
      this.ledger.delete(ref);
      this.mempool.delete(ref);
    }
    this.count = Number(count);
  }

  #put(to: Map<string, unknown>, from: Map<string, unknown>, order: Record<string, unknown>) {
    const ref = String(order.entityId);
    from.delete(ref);
    to.set(ref, order);
  }
}

export class TradeClient {
  readonly trades = new Map<string, unknown>();
  #seq = -1;

  hear({ data, seq, isSnapshot }: Heard): void {
    if (isSnapshot) this.trades.clear();
    else if (seq <= this.#seq) return;
    this.#seq = seq;
    for (const row of data === null ? [] : listOf(data)) {
      if (row.removed === true) this.trades.delete(String(row.id));
      else this.trades.set(String(row.id), row);
    }
  }

  /** Newest first. */
  get rows(): unknown[] {
    return [...this.trades].sort(([a], [b]) => (a < b ? 1 : -1)).map(([, row]) => row);
  }
}

/** Whole each time, or as changes: then the checksum is compared after each frame. */
export class BookClient {
  book: Row | null = null;
  /** Frames that were changes. */
  changes = 0;
  readonly #mode: 'snapshot' | 'changes';

  constructor(mode: 'snapshot' | 'changes') {
    this.#mode = mode;
  }

  hear({ data, isSnapshot }: Heard): void {
    if (data === null || isSnapshot || this.#mode === 'snapshot') {
      this.book = data === null ? null : recordOf(data);
    } else {
      this.changes += 1;
      const { bids, asks, ...others } = recordOf(data);
      assert(this.book !== null, 'changes follow a book');
      this.book = {
        ...this.book,
        ...others,
        asks: merged(listOf(this.book.asks), listOf(asks), 1),
        bids: merged(listOf(this.book.bids), listOf(bids), -1),
      };
    }
    if (this.book !== null) assert.equal(this.book.checksum, checksumOf(levelsOf(this.book)));
  }

  /** Without what changes do not tell. */
  get untotalled(): Row | null {
    if (this.book === null) return null;
    return withoutTotals(this.book);
  }
}

export function withoutTotals(book: Row): Row {
  const bare = (side: unknown) => listOf(side).map(({ price, amount }) => ({ price, amount }));
  return { ...book, bids: bare(book.bids), asks: bare(book.asks) };
}

function merged(side: readonly Row[], changed: readonly Row[], sign: 1 | -1): Row[] {
  const levels = new Map(side.map((level) => [String(level.price), level]));
  for (const level of changed) levels.set(String(level.price), level);
  return [...levels.values()]
    .filter(({ amount }) => amount !== '0')
    .sort((a, b) => sign * (Number(a.price) - Number(b.price)));
}

function levelsOf({ asks, bids }: Row) {
  const level = ({ price, amount }: Row) => ({ price: String(price), amount: String(amount) });
  return { asks: listOf(asks).map(level), bids: listOf(bids).map(level) };
}
