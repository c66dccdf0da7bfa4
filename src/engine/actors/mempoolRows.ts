/**
 * The mempool as rows: what waiting transactions would do to orders. It is the leader's, told by
 * its entries; no rollback touches it, the chain tells it anew then.
 */
import type { ChainBlock, MempoolPayload, PendingTransaction } from '../log/entry.ts';
import type { AssetId } from '../market/asset.ts';
import type { PlacedOrder, RefText } from '../market/events.ts';
import { type MempoolRecord, type OrderRecord, readRecord } from '../store/records.ts';
import { isEnd, type MempoolIndex } from './mempoolBook.ts';
import { dropOrder } from './orderRows.ts';
import type { RowDraft } from './rowDraft.ts';
import { noteOrderChange } from './streamTags.ts';

export function foldMempool(
  { added, removed, seenMs, whole, absent }: MempoolPayload,
  seq: number,
  rows: RowDraft,
  book: MempoolIndex,
): void {
  const gone = absent ?? (whole ? absentFrom(added, book) : []);
  // Removed first: what is added may spend the same outputs in another way.
  for (const id of [...gone, ...removed.map((each) => each.id)]) take(id, seq, rows, book);
  for (const [index, waiting] of added.entries()) {
    if (rows.get('mempool', waiting.id) !== null) continue;
    const place = `${String(seq).padStart(15, '0')}.${String(index).padStart(6, '0')}`;
    put({ ...waiting, place, seenMs }, rows, book);
  }
}

/** Sorted: a node that started again has them in another order than one that saw them come. */
function absentFrom(added: MempoolPayload['added'], book: MempoolIndex): string[] {
  const there = new Set(added.map(({ id }) => id));
  return [...book.ids()].filter((id) => !there.has(id)).sort();
}

/** Block `seq` holds some of it, and makes others impossible; its own rows are there already. */
export function settleMempool(
  { settled, dropped }: Pick<ChainBlock, 'settled' | 'dropped'>,
  seq: number,
  rows: RowDraft,
  book: MempoolIndex,
): void {
  for (const id of [...settled, ...dropped.map((each) => each.id)]) take(id, seq, rows, book);
}

/** Where those orders are expected to fill has changed. */
export function notePendingOrderChanges(rows: RowDraft, token: AssetId, book: MempoolIndex): void {
  for (const { order } of book.ofToken(token)) noteOrderChange(rows, order);
}

function put(
  { id, events, place, seenMs }: PendingTransaction & Pick<MempoolRecord, 'place' | 'seenMs'>,
  rows: RowDraft,
  book: MempoolIndex,
): void {
  const record: MempoolRecord = { place, seenMs, events };
  rows.set('mempool', id, JSON.stringify(record));
  for (const event of events) {
    if (event.kind === 'placed') {
      rows.set('beacons', event.order.beacon, event.order.ref);
      noteOrderChange(rows, event.order);
    } else if (isEnd(event)) {
      noteKnownOrderChange(event.order, events, rows, book);
    }
  }
}

/** Orders that it placed vanish with it, where they are in no block. */
function take(id: string, seq: number, rows: RowDraft, book: MempoolIndex): void {
  const text = rows.get('mempool', id);
  if (text === null) return;
  rows.set('mempool', id, null);
  const { events, seenMs } = readRecord<MempoolRecord>(text);
  for (const event of events) {
    if (event.kind === 'placed') {
      const { order } = event;
      noteOrderChange(rows, order);
      if (rows.get('orders', order.ref) === null) dropOrder(rows, { order, seq, shownMs: seenMs });
    } else if (isEnd(event)) {
      noteKnownOrderChange(event.order, events, rows, book);
    }
  }
}

/** An order of the chain, of the mempool as it was, or of the same transaction. */
function noteKnownOrderChange(
  ref: RefText,
  events: MempoolRecord['events'],
  rows: RowDraft,
  book: MempoolIndex,
): void {
  const confirmed = rows.get('orders', ref);
  const own = events.flatMap((event) => (event.kind === 'placed' ? [event.order] : []));
  const order: PlacedOrder | undefined =
    confirmed === null
      ? (book.placed(ref)?.order ?? own.find((each) => each.ref === ref))
      : readRecord<OrderRecord>(confirmed);
  if (order !== undefined) noteOrderChange(rows, order);
}
