/**
 * `import`: the trades of a dump as lines of a feed (docs/replay.md). All files are checked before
 * the first line; days are read one after the other.
 */

import { Readable } from 'node:stream';
import { messageOf } from '../../../engine/runtime/errors.ts';
import { DumpError, type DumpFile, listDumpFiles, readDumpFile } from './files.ts';
import { decodeRows, type Row, TRADE_COLUMNS } from './format.ts';

const COIN_DECIMALS = 6;

/** The dump that a feed of trades starts from. */
interface DumpOfTrades {
  readonly tokens: number;
  readonly days: number;
  /** Lines in order of time. */
  open(): Readable;
  /** How many files of the lines were read, of how many. */
  read(): readonly [done: number, all: number];
}

/**
 * Throws where a file is damaged, unreadable, or there is none. `checked` gets the number of files
 * that are checked, and of all.
 */
export async function openDump(
  directory: string,
  checked: (done: number, all: number) => void = () => {},
): Promise<DumpOfTrades> {
  const all = await listDumpFiles(directory).catch((error: NodeJS.ErrnoException) => {
    throw new DumpError(`${directory} cannot be read: ${error.code ?? error.message}`);
  });
  const files = all.filter(({ kind }) => kind === 'trades');
  if (files.length === 0) {
    throw new DumpError(`${directory} has no files ASSET/trades/DAY.csv, .ndjson or .parquet`);
  }
  const byDay = new Map<string, DumpFile[]>();
  for (const [at, file] of files.entries()) {
    const ofDay = byDay.get(file.day) ?? [];
    const same = ofDay.find(({ asset }) => asset === file.asset);
    if (same !== undefined) {
      throw new DumpError(`${same.path} and ${file.path} are the same day: remove one of them`);
    }
    byDay.set(file.day, [...ofDay, file]);
    await rowsOf(file);
    checked(at + 1, files.length);
  }
  let done = 0;
  const one = () => {
    done += 1;
  };
  return {
    tokens: new Set(files.map(({ asset }) => asset)).size,
    days: byDay.size,
    open: () => Readable.from(lines([...byDay.values()], one)),
    read: () => [done, files.length],
  };
}

async function* lines(
  days: readonly (readonly DumpFile[])[],
  wasRead: () => void,
): AsyncGenerator<string> {
  for (const files of days) {
    const trades: { readonly asset: string; readonly row: Row }[] = [];
    for (const file of files) {
      for (const row of await rowsOf(file)) trades.push({ asset: file.asset, row });
      wasRead();
    }
    // Stable: trades of one second keep the order of their file.
    trades.sort((a, b) => Number(a.row.time) - Number(b.row.time));
    for (const { asset, row } of trades) yield `${JSON.stringify(feedLine(asset, row))}\n`;
  }
}

async function rowsOf(file: DumpFile): Promise<Row[]> {
  const bytes = await readDumpFile(file);
  try {
    return await decodeRows(TRADE_COLUMNS, bytes, file.format);
  } catch (error) {
    throw new DumpError(`${file.path}: ${messageOf(error)}`);
  }
}

function feedLine(asset: string, { id, time, baseAmount, quoteAmount }: Row) {
  const timeMs = Number(time) * 1000;
  const decimals = { baseDecimals: 0, quoteDecimals: COIN_DECIMALS };
  return { id, timeMs, base: asset, quote: '.', ...decimals, baseAmount, quoteAmount };
}
