/** Which format a request prefers, and how a row is written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { CsvWriter, wantsCsv } from '../../../src/api/http/csv.ts';

test('CSV is served where it is asked for above JSON', () => {
  const rows: readonly [accept: string, query: object, wanted: boolean][] = [
    ['', {}, false],
    ['*/*', {}, false],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', {}, false],
    ['text/csv', {}, true],
    ['TEXT/CSV; charset=utf-8', {}, true],
    ['text/*', {}, true],
    ['text/csv, application/json', {}, false],
    ['text/csv, application/json;q=0.9', {}, true],
    ['application/json;q=0.2, text/csv;q=0.1', {}, false],
    ['text/csv;q=0, */*', {}, false],
    ['text/csv, */*;q=0.1', {}, true],
    ['text/csv;q=x', {}, false],
    ['', { format: 'csv' }, true],
    ['text/csv', { format: 'json' }, false],
  ];
  for (const [accept, query, wanted] of rows) {
    assert.equal(wantsCsv(accept, query), wanted, `${accept} ${JSON.stringify(query)}`);
  }
});

test('fields that hold separators are quoted, and what is not there is empty', () => {
  const row = Type.Object({
    a: Type.String(),
    b: Type.Object({ c: Type.Number(), d: Type.Union([Type.Null(), Type.Boolean()]) }),
  });
  const rows = (answer: unknown) => (Array.isArray(answer) ? answer : []);
  const writer = new CsvWriter({ file: 'rows', row, rows });
  const told = [
    { a: 'x,y', b: { c: 1, d: true }, e: 'no column' },
    { a: 'say "no"\r\n', b: { c: 0.5, d: null } },
    { a: '', b: null },
  ];
  const lines = ['a,b.c,b.d', '"x,y",1,true', '"say ""no""\r\n",0.5,', ',,', ''];
  const { body, type, headers } = writer.answer({
    body: JSON.stringify(told),
    headers: { X: '1' },
  });
  assert.equal(String(body), lines.join('\r\n'));
  assert.equal(type, 'text/csv; charset=utf-8; header=present');
  assert.deepEqual(headers, { X: '1', 'Content-Disposition': 'attachment; filename="rows.csv"' });
  const bytes = Buffer.from('[]');
  assert.equal(writer.answer({ body: bytes }).body, writer.answer({ body: bytes }).body);
});
