/** BTC/USD bars of one day, from the zip files of ../shared/data (one deflated entry in each). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import type { Candle } from './feeds.ts';

const FOLDER = join(import.meta.dirname, '../../../shared/data/btcusd');
const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const DAY_S = Date.UTC(2016, 9, 7) / 1000;

export function coinbaseBars(span: 'second' | 'minute'): Candle[] {
  const text = unzipped(join(FOLDER, `coinbase_${span}_btcusd_20161007_trade.zip`));
  return text
    .trim()
    .split(/\r?\n/)
    .map((line) => {
      const [ms = '', ...fields] = line.split(',');
      const [open = '', high = '', low = '', close = '', baseVolume = ''] = fields.map(plain);
      return { time: DAY_S + Number(ms) / 1000, open, high, low, close, baseVolume };
    });
}

function unzipped(path: string): string {
  const zip = readFileSync(path);
  assert.equal(zip.readUInt32LE(0), LOCAL_HEADER);
  // The sizes stand in the central directory in any case, in the local header only sometimes.
  const central = zip.lastIndexOf(Buffer.from(Uint32Array.of(CENTRAL_HEADER).buffer));
  const size = zip.readUInt32LE(central + 20);
  const start = 30 + zip.readUInt16LE(26) + zip.readUInt16LE(28);
  return inflateRawSync(zip.subarray(start, start + size)).toString();
}

/** Without trailing zeros; some volumes are written with an exponent. */
function plain(text: string): string {
  const [digits = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  const places = fraction.length - Number(exponent);
  if (places <= 0) return whole + fraction + '0'.repeat(-places);
  const all = (whole + fraction).padStart(places + 1, '0');
  const point = all.length - places;
  return `${all.slice(0, point)}.${all.slice(point)}`.replace(/\.?0+$/, '');
}
