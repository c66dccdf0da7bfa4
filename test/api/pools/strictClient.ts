/** A client of the topics of pools that keeps to the contract, and finds what breaks it. */
import assert from 'node:assert/strict';
import { askSince, type Source } from '../../../src/api/topics/port.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import type { Position } from '../../../src/engine/runtime/position.ts';
import { recordOf } from '../../support/subscription.ts';

/** CRC-32 as in IEEE 802.3, bit by bit. */
export function crcOf(text: string): number {
  let crc = 0xff_ff_ff_ff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xed_b8_83_20 : 0);
  }
  return ~crc >>> 0;
}

/** The first page of a list, put together from updates; forgets at once what has left the page. */
export class ListClient {
  order: string[] = [];
  #items = new Map<string, unknown>();

  /** Answers the asset ids of the items that came. */
  take(data: unknown, isSnapshot: boolean): string[] {
    if (isSnapshot) this.#items.clear();
    const { items, order, crc32 } = recordOf(data);
    assert(Array.isArray(items) && Array.isArray(order));
    const came = items.map((item) => {
      const asset = String(recordOf(recordOf(item).info).asset);
      this.#items.set(asset, item);
      return asset;
    });
    this.order = order.map(String);
    for (const asset of came) assert(this.order.includes(asset), 'an item is of the page');
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

/** What the gateway does for a subscription: since where it can, else a snapshot. */
export function pull(
  source: Source,
  own: Position | null,
  applied: Position,
  take: (data: unknown, isSnapshot: boolean) => void,
): void {
  const isKnown = own !== null && own.epoch === applied.epoch;
  const changes = isKnown ? askSince(source, own.seq, applied.seq) : null;
  assert(!(changes instanceof Failure));
  if (changes !== null) {
    assert.equal(changes.completeTo, applied.seq);
    assert(changes.parts.length <= 1);
    for (const { data, seq, isSnapshot = false } of changes.parts) {
      assert(isKnown && seq > own.seq);
      // As a client gets it.
      take(JSON.parse(JSON.stringify(data)), isSnapshot);
    }
    return;
  }
  const data = source.snapshot();
  assert(!(data instanceof Failure));
  take(JSON.parse(JSON.stringify(data)), true);
}
