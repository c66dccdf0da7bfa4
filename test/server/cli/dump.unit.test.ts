/** Rows of a dump survive each format; arguments of `export` and `import` are checked. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { endOfDay, readDumpFile, startOfDay } from '../../../src/server/cli/dump/files.ts';
import {
  BAR_COLUMNS,
  DUMP_FORMATS,
  decodeRows,
  encodeRows,
} from '../../../src/server/cli/dump/format.ts';
import { parsed } from './parsed.ts';

const ASSET = `${'ab'.repeat(28)}.1a`;

const decimal = fc.bigInt({ min: 0n, max: 2n ** 80n }).map((n) => `0.${n}`);
const fields = {
  time: fc.nat(4_000_000_000),
  open: decimal,
  high: decimal,
  low: decimal,
  close: decimal,
  volume: decimal,
  baseVolume: decimal,
  trades: fc.nat(),
  final: fc.boolean(),
};
const bar = fc.record(fields, { noNullPrototype: true });

test('rows are the same after each format', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(bar), fc.constantFrom(...DUMP_FORMATS), async (rows, format) => {
      const bytes = await encodeRows(BAR_COLUMNS, rows, format);
      assert.deepEqual(await decodeRows(BAR_COLUMNS, bytes, format), rows);
    }),
  );
});

test('a line that is no row is refused with its number', async () => {
  const read = (text: string, format: 'csv' | 'ndjson') =>
    decodeRows({ time: 'INT64' }, Buffer.from(text), format);
  await assert.rejects(read('zeit\r\n1\r\n', 'csv'), /line 1: the header is not time/);
  await assert.rejects(read('time\r\n1\r\nx\r\n', 'csv'), /line 3: time is missing or no INT64/);
  await assert.rejects(read('{"time":1}\n{"time":-1}\n', 'ndjson'), /line 2: time/);
  await assert.rejects(read('{"time":1}\nnonsense\n', 'ndjson'), /line 2: not a JSON object/);
});

test('a day is 24 hours of UTC, or refused', () => {
  assert.equal(startOfDay('2026-11-23'), Date.UTC(2026, 10, 23) / 1000);
  assert.equal(endOfDay('2024-02-29'), Date.UTC(2024, 2, 1) / 1000);
  for (const wrong of ['2026-02-30', '2026-2-3', 'today', ''])
    assert.equal(startOfDay(wrong), null);
});

test('a file that is too large for a day is not read', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'upcurve-dump-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, '2026-11-23.csv');
  writeFileSync(path, '');
  truncateSync(path, 2 ** 30); // sparse: takes no room
  const file = { path, asset: ASSET, kind: 'trades', day: '2026-11-23', format: 'csv' } as const;
  await assert.rejects(readDumpFile(file), /at most 536870912: a file holds one day/);
});

test('arguments are checked', () => {
  assert.match(String(parsed(['export'])), /--pair takes tickers or ids/);
  for (const wrong of ['.', 'CAT,', 'a b', 'SEVENTY', `${ASSET},.`]) {
    const named = parsed(['export', '--pair', wrong]);
    assert.match(String(named), /--pair takes tickers or ids/, wrong);
  }
  const both = parsed(['export', '--pair', `Cat,${ASSET.toUpperCase()}`]);
  assert.ok(typeof both !== 'string' && both.name === 'export');
  assert.deepEqual(both.tokens, [{ ticker: 'Cat' }, { id: ASSET }]);
  const pair = ['export', '--pair', ASSET];
  assert.deepEqual(parsed([...pair, '--from', '2026-11-01', '--out', '/tmp/x']), {
    name: 'export',
    url: 'http://127.0.0.1:8080',
    tokens: [{ id: ASSET }],
    resolution: null,
    format: 'csv',
    directory: '/tmp/x',
    fromDay: '2026-11-01',
    toDay: null,
  });
  assert.match(String(parsed([...pair, '--resolution', 'min2'])), /--resolution takes min1/);
  assert.match(String(parsed([...pair, '--format', 'xml'])), /--format takes csv/);
  assert.match(String(parsed([...pair, '--to', '2026-13-01'])), /take days/);
  const turned = ['--from', '2026-11-02', '--to', '2026-11-01'];
  assert.match(String(parsed([...pair, ...turned])), /--from is after --to/);
  assert.match(String(parsed(['import'])), /needs the directory/);
  assert.match(String(parsed(['import', 'a', 'b'])), /unexpected argument: b/);
});
