/**
 * Rows of trades or bars as the bytes of a dump file, and back: CSV (RFC 4180), NDJSON, Parquet.
 * Amounts and prices are texts in every format: they are exact, and some exceed 2^63.
 */
import type { Bar, TradeRow } from '../../../client/types.ts';

export const DUMP_FORMATS = ['csv', 'ndjson', 'parquet'] as const;
export type DumpFormat = (typeof DUMP_FORMATS)[number];

export type Row = Readonly<Record<string, string | number | boolean>>;

type ColumnType = 'STRING' | 'INT64' | 'BOOLEAN';

/** Columns in the order of the file. */
export type Columns = Readonly<Record<string, ColumnType>>;

export const TRADE_COLUMNS = {
  id: 'STRING',
  time: 'INT64',
  side: 'STRING',
  price: 'STRING',
  baseAmount: 'STRING',
  quoteAmount: 'STRING',
  txHash: 'STRING',
  pkh: 'STRING',
  spotAfter: 'STRING',
} as const satisfies Record<keyof TradeRow, ColumnType>;

export const BAR_COLUMNS = {
  time: 'INT64',
  open: 'STRING',
  high: 'STRING',
  low: 'STRING',
  close: 'STRING',
  volume: 'STRING',
  baseVolume: 'STRING',
  trades: 'INT64',
  final: 'BOOLEAN',
} as const satisfies Record<Exclude<keyof Bar, 'pair'>, ColumnType>;

const LINE_END = '\r\n';

export async function encodeRows(
  columns: Columns,
  rows: readonly Row[],
  format: DumpFormat,
): Promise<Uint8Array> {
  const names = Object.keys(columns);
  if (format === 'parquet') return parquetOf(columns, rows);
  const lines =
    format === 'ndjson'
      ? rows.map((row) => JSON.stringify(Object.fromEntries(names.map((n) => [n, row[n]]))))
      : [names, ...rows.map((row) => names.map((name) => row[name]))].map((cells) => cells.join());
  const end = format === 'csv' ? LINE_END : '\n';
  return Buffer.from(lines.map((line) => `${line}${end}`).join(''));
}

async function parquetOf(columns: Columns, rows: readonly Row[]): Promise<Uint8Array> {
  // Loaded when needed: the command line's table of commands imports this file.
  const { parquetWriteBuffer } = await import('hyparquet-writer');
  const columnData = Object.entries(columns).map(([name, type]) => {
    const values = rows.map((row) => row[name] ?? '');
    const data = type === 'INT64' ? values.map((value) => BigInt(value)) : values;
    return { name, type, data, nullable: false };
  });
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

/** Throws where the bytes are not rows of these columns, with the line. */
export async function decodeRows(
  columns: Columns,
  bytes: Uint8Array,
  format: DumpFormat,
): Promise<Row[]> {
  if (format === 'parquet') {
    const { parquetReadObjects } = await import('hyparquet');
    const { buffer, byteOffset, byteLength } = bytes;
    // trust: Buffer of a file read whole; never shared memory
    const file = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
    return (await parquetReadObjects({ file })).map((row, at) => rowOf(columns, row, at + 1));
  }
  const lines = Buffer.from(bytes).toString('utf8').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  if (format === 'ndjson') {
    return lines.map((line, at) => rowOf(columns, parseLine(line, at + 1), at + 1));
  }
  const [header, ...body] = lines;
  const names = Object.keys(columns);
  if (header !== names.join()) throw new Error(`line 1: the header is not ${names.join()}`);
  return body.map((line, at) => {
    const cells = line.split(',');
    return rowOf(columns, Object.fromEntries(names.map((n, i) => [n, cells[i]])), at + 2);
  });
}

function parseLine(line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return { ...value };
  } catch {
    // The message below says which line it is.
  }
  throw new Error(`line ${number}: not a JSON object`);
}

function rowOf(columns: Columns, cells: Record<string, unknown>, number: number): Row {
  return Object.fromEntries(
    Object.entries(columns).map(([name, type]) => {
      const value = cellOf(type, cells[name]);
      if (value === null) throw new Error(`line ${number}: ${name} is missing or no ${type}`);
      return [name, value];
    }),
  );
}

/** null: not of the type. CSV has texts, Parquet has bigint. */
function cellOf(type: ColumnType, cell: unknown): string | number | boolean | null {
  if (type === 'STRING') return typeof cell === 'string' ? cell : null;
  const text = String(cell);
  if (type === 'INT64') return /^\d{1,15}$/.test(text) ? Number(text) : null;
  return text === 'true' || text === 'false' ? text === 'true' : null;
}
