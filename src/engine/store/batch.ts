/**
 * A commit as text in UTF-8, which is handed to the writer's thread without a copy. Keys, values
 * and images hold no control characters but tab and line feed; sections use others.
 */

import { type Clock, nextTurn } from '../runtime/clock.ts';
import { barWrites } from './barRows.ts';
import { changeIndexWrites, type IndexedChange } from './changeIndex.ts';
import type { Database } from './database.ts';
import { keyedWrites, perTable } from './keyedRows.ts';
import { lineOf } from './pendingBars.ts';
import type { PendingWrites } from './pendingWrites.ts';
import { KEYED_TABLES, type KeyedTable, textOf } from './rows.ts';
import { decodePiece, type Text, TextPieces } from './textPieces.ts';
import { contentCode, tradeKey } from './tradeIds.ts';
import { decodeRecord, encodeRecord, recordsOf, undoWrites } from './undoRows.ts';

export interface Batch {
  /** Bars that a rollback restored, before anything else; lines as `bars`. */
  readonly restored: Text;
  /** Lines of `lineOf`. */
  readonly bars: Text;
  /** Per table, lines `key, seq, value`. */
  readonly keyed: readonly (readonly [table: KeyedTable, lines: Text])[];
  /** Lines `seq, undone seq, scope, ref, about`. */
  readonly changeIndex: Text;
  /** A record of each entry: see `encodeRecord`. */
  readonly records: Text;
  readonly undoneTo: number | null;
  /** Undo records and tombstones below this are dropped. */
  readonly horizonSeq: number;
  readonly checkpoint: string;
}

type Head = Pick<Batch, 'checkpoint' | 'horizonSeq'>;

/** The stage is closed, so it does not change meanwhile. No `clock`: in one turn of the loop. */
export async function encodeInSteps(
  stage: PendingWrites,
  head: Head,
  clock?: Clock,
): Promise<Batch> {
  const steps = encode(stage, head);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (clock !== undefined) await nextTurn(clock);
  }
}

function* encode(stage: PendingWrites, head: Head): Generator<void, Batch> {
  const restored = yield* pieces(stage.bars.restored, lineOf);
  for (const pair of stage.bars.pairs()) if (pair.encode()) yield;
  const bars = stage.bars.lines.all();
  const keyed: [KeyedTable, Text][] = [];
  for (const table of KEYED_TABLES) {
    const lines = yield* pieces(stage.keyed[table], ([key, { seq, value }]) => {
      return `${key}\t${seq}\t${value === null ? '' : textOf(value)}\n`;
    });
    if (lines.length > 0) keyed.push([table, lines]);
  }
  const changeIndex = yield* pieces(stage.changeIndex.all(), (change) => {
    const { scope, ref, seq, undoneSeq, about } = change;
    return `${seq}\t${undoneSeq}\t${scope}\t${ref}\t${about}\n`;
  });
  const records = yield* pieces(stage.entries, (entry) => encodeRecord(entry, head.horizonSeq));
  return { restored, bars, keyed, changeIndex, records, undoneTo: stage.undoneTo, ...head };
}

function* pieces<T>(rows: Iterable<T>, textOf: (row: T) => string): Generator<void, Text> {
  const whole = new TextPieces();
  for (const row of rows) if (whole.add(textOf(row))) yield;
  return whole.all();
}

/** The memory of its texts: the batch is of no use to who handed this to another thread. */
export function memoryOf(batch: Batch): ArrayBuffer[] {
  const { restored, bars, keyed, changeIndex, records } = batch;
  const tables = keyed.map(([, text]) => text);
  return [restored, bars, ...tables, changeIndex, records].flat().map(({ buffer }) => buffer);
}

/** Writes batches, each in one transaction. Throws what SQLite throws; nothing is written then. */
export function batchWriter(database: Database): (batch: Batch) => void {
  const bars = barWrites(database);
  const undo = undoWrites(database);
  const keyed = perTable((table) => keyedWrites(database, table));
  const changeIndex = changeIndexWrites(database);
  const putCheckpoint = database.prepare<[string]>(
    'INSERT INTO checkpoint (id, text) VALUES (1, ?) ' +
      'ON CONFLICT DO UPDATE SET text = excluded.text',
  );
  let prunedTo = 0;

  const write = database.transaction((batch: Batch) => {
    putBars(batch.restored, bars.put);
    const before = putBars(batch.bars, bars.put);
    for (const [table, lines] of batch.keyed) {
      for (const line of linesOf(lines)) {
        const [key = '', seq, value] = cut(line, 2);
        keyed[table].put(key, value || null, Number(seq));
      }
    }
    // Behind the keyed rows: an id that a rollback removed may have come again.
    const records = batch.records.map(decodePiece);
    for (const piece of records) for (const record of recordsOf(piece)) putTradeIds(record);
    for (const line of linesOf(batch.changeIndex)) changeIndex.put(readIndexedChange(line));
    if (batch.undoneTo !== null) undo.dropAfter(batch.undoneTo);
    undo.dropBefore(batch.horizonSeq);
    undo.put(records.join(''), before, batch.horizonSeq);
    if (batch.horizonSeq > prunedTo) {
      bars.pruneTombstones(batch.horizonSeq);
      changeIndex.prune(batch.horizonSeq);
      keyed.dropped.prune(batch.horizonSeq);
    }
    putCheckpoint.run(batch.checkpoint);
  });

  function putTradeIds(record: string): void {
    const { seq, trades } = decodeRecord(record);
    for (const { pair, trade } of trades) {
      keyed.trade_ids.put(tradeKey(pair, trade.id), contentCode(trade), seq);
    }
  }

  return (batch) => {
    write(batch);
    prunedTo = batch.horizonSeq;
  };
}

/** Returns the earlier values, lines of key and value. */
function putBars(lines: Text, put: ReturnType<typeof barWrites>['put']): string {
  let before = '';
  for (const line of linesOf(lines)) {
    const [key = '', seq, cause, value] = cut(line, 3);
    before += `${key}\t${put(key, value || null, Number(seq), Number(cause)) ?? ''}\n`;
  }
  return before;
}

function readIndexedChange(line: string): IndexedChange {
  const [seq, undoneSeq, scope = '', ref = '', about = ''] = cut(line, 4);
  return { scope, ref, seq: Number(seq), undoneSeq: Number(undoneSeq), about };
}

function* linesOf(text: Text): Generator<string> {
  for (const piece of text) {
    const lines = decodePiece(piece).split('\n');
    lines.pop();
    yield* lines;
  }
}

/** The first `count` tab-separated fields, and the rest as it is. */
function cut(line: string, count: number): string[] {
  const fields: string[] = [];
  let from = 0;
  while (fields.length < count) {
    const tab = line.indexOf('\t', from);
    fields.push(line.slice(from, tab));
    from = tab + 1;
  }
  fields.push(line.slice(from));
  return fields;
}
