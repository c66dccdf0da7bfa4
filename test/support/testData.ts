/** Reads `test/data`; the README there names the source of each file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A candle of an exchange: decimals without trailing zeros. */
export interface Candle {
  readonly time: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  /** In the base asset. */
  readonly baseVolume: string;
}

const DATA = join(import.meta.dirname, '../data');

/** The text of a file; `.gz` is decompressed. */
export function dataText(path: string): string {
  const bytes = readFileSync(join(DATA, path));
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
}

/** The rows of a CSV file without its header. Numbers stay text, so none becomes a float. */
export function dataRows(path: string): string[][] {
  const [, ...lines] = dataText(path).trimEnd().split('\n');
  return lines.map((line) => line.split(','));
}

export function dataCandles(folder: string, interval: string): Candle[] {
  return dataRows(`${folder}/candles-${interval}.csv.gz`).map((row) => {
    const [ms, open = '', high = '', low = '', close = '', baseVolume = ''] = row;
    return { time: Number(ms) / 1000, open, high, low, close, baseVolume };
  });
}
