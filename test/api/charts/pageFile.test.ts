/**
 * The file of rendered bars: a stored page is found again, and a newer page replaces the older one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PageFile, PageFileFailed } from '../../../src/api/charts/pageFile.ts';
import { temporaryDirectory } from '../../support/server.ts';

const bars = (starts: readonly number[]) =>
  starts.map((startMs) => ({ startMs, text: `"bar ${startMs}"` }));

function textOf(file: PageFile, series: string, at: number): string | null {
  const page = file.find(series, at);
  if (page === null) return null;
  const slice = file.slice(page, 0, page.bars);
  const bytes = Buffer.alloc(slice.bytes);
  file.read(slice, bytes, 0);
  return bytes.toString();
}

test('a page takes the place of those that it overlaps, and of no other', (t) => {
  const file = new PageFile(temporaryDirectory(), { maxBytes: 500 });
  t.after(() => file.close());
  const put = (from: number, to: number, starts: readonly number[]) =>
    file.put('a', { from, to, madeOf: '' }, bars(starts));
  put(20, 30, [21, 25]);
  put(0, 10, [3]);
  put(30, 40, [30]);
  assert.deepEqual(
    [5, 10, 20, 29, 30, 40].map((at) => textOf(file, 'a', at)),
    ['"bar 3"', null, '"bar 21","bar 25"', '"bar 21","bar 25"', '"bar 30"', null],
  );
  put(0, 30, [3, 21]);
  assert.deepEqual(
    [5, 15, 25, 35].map((at) => textOf(file, 'a', at)),
    ['"bar 3","bar 21"', '"bar 3","bar 21"', '"bar 3","bar 21"', '"bar 30"'],
  );
  assert.equal(textOf(file, 'b', 5), null);
  while (file.hasRoom) put(40, 50, [41]);
  const page = file.find('a', 5);
  assert(page !== null);
  file.empty();
  assert.equal(file.find('a', 5), null);
  assert.throws(() => file.slice(page, 0, 1), PageFileFailed);
  assert.equal(file.hasRoom, true);
});
