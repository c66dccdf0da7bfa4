/**
 * A commit as text, so that handing it to the writer's thread costs one copy. Keys, values and
 * images hold no control characters but tab and line feed; sections use others.
 */

import { barText, barWrites } from './barRows.ts';
import { changeIndexWrites, type IndexedChange } from './changeIndex.ts';
import type { Database } from './database.ts';
import { keyedWrites, perTable } from './keyedRows.ts';
import { CAUSES, KEYED_TABLES, type KeyedTable } from './rows.ts';
import type { Stage } from './stage.ts';
import { encodeImages, undoWrites } from './undoRows.ts';

export interface Batch {
  /** Lines `key, seq, cause, undone, value` (tab-separated; no value: a tombstone). */
  readonly bars: string;
  /** Per table, lines `key, seq, value`. */
  readonly keyed: readonly (readonly [table: KeyedTable, lines: string])[];
  /** Lines `seq, undone seq, scope, ref, about`. */
  readonly changeIndex: string;
  /** Records `seq, block, atMs, marketMs`, a line feed, images; each ends with UNDO_END. */
  readonly undo: string;
  readonly undoneTo: number | null;
  /** Undo records and tombstones below this are dropped. */
  readonly horizonSeq: number;
  readonly checkpoint: string;
  /** Rows that the next state hash covers: see `HashWindow`. */
  readonly unhashed: string;
}

const UNDO_END = '\u0002';

export function encodeBatch(
  stage: Stage,
  { checkpoint, unhashed, horizonSeq }: Pick<Batch, 'checkpoint' | 'unhashed' | 'horizonSeq'>,
): Batch {
  let bars = '';
  for (const { place, seq, cause, undone, value } of stage.bars.all()) {
    const flags = `${CAUSES.indexOf(cause)}\t${undone ? 1 : 0}`;
    bars += `${place.key}\t${seq}\t${flags}\t${barText(value) ?? ''}\n`;
  }
  const keyed: [KeyedTable, string][] = [];
  for (const table of KEYED_TABLES) {
    let lines = '';
    for (const [key, { seq, value }] of stage.keyed[table])
      lines += `${key}\t${seq}\t${value ?? ''}\n`;
    if (lines !== '') keyed.push([table, lines]);
  }
  let changeIndex = '';
  for (const { scope, ref, seq, undoneSeq, about } of stage.changeIndex.all()) {
    changeIndex += `${seq}\t${undoneSeq}\t${scope}\t${ref}\t${about}\n`;
  }
  let undo = '';
  for (const entry of stage.undo) {
    const { seq, block, atMs, marketMs } = entry;
    // What is beyond the horizon already is never written at all. The oldest point keeps its
    // record, for its moment; its images are not needed to get back to it.
    if (seq < horizonSeq) continue;
    const images = seq === horizonSeq ? '' : encodeImages(entry.changes, entry.bars);
    undo += `${seq}\t${block ? 1 : 0}\t${atMs}\t${marketMs}\n${images}${UNDO_END}`;
  }
  return {
    bars,
    keyed,
    changeIndex,
    undo,
    undoneTo: stage.undoneTo,
    horizonSeq,
    checkpoint,
    unhashed,
  };
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
  const putUnhashed = database.prepare<[string]>(
    'INSERT INTO unhashed (id, rows) VALUES (1, ?) ON CONFLICT DO UPDATE SET rows = excluded.rows',
  );
  let prunedTo = 0;

  const write = database.transaction((batch: Batch) => {
    for (const line of linesOf(batch.bars)) {
      const [key = '', seq, cause, undone, value] = cut(line, 4);
      bars.put(key, value || null, Number(seq), Number(cause), undone === '1');
    }
    for (const [table, lines] of batch.keyed) {
      for (const line of linesOf(lines)) {
        const [key = '', seq, value] = cut(line, 2);
        keyed[table].put(key, value || null, Number(seq));
      }
    }
    for (const line of linesOf(batch.changeIndex)) changeIndex.put(readIndexedChange(line));
    if (batch.undoneTo !== null) undo.dropAfter(batch.undoneTo);
    undo.dropBefore(batch.horizonSeq);
    for (const record of batch.undo.split(UNDO_END)) {
      if (record !== '') writeUndo(record);
    }
    if (batch.horizonSeq > prunedTo) {
      bars.pruneTombstones(batch.horizonSeq);
      changeIndex.prune(batch.horizonSeq);
      keyed.dropped.prune(batch.horizonSeq);
    }
    putCheckpoint.run(batch.checkpoint);
    putUnhashed.run(batch.unhashed);
  });

  function writeUndo(record: string): void {
    const end = record.indexOf('\n');
    const [seq, block, atMs, marketMs] = record.slice(0, end).split('\t').map(Number);
    const point = { seq: seq ?? 0, atMs: atMs ?? 0, marketMs: marketMs ?? 0 };
    undo.insert(point, block === 1, record.slice(end + 1));
  }

  return (batch) => {
    write(batch);
    prunedTo = batch.horizonSeq;
  };
}

function readIndexedChange(line: string): IndexedChange {
  const [seq, undoneSeq, scope = '', ref = '', about = ''] = cut(line, 4);
  return { scope, ref, seq: Number(seq), undoneSeq: Number(undoneSeq), about };
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  lines.pop();
  return lines;
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
