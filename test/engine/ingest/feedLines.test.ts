/** Lines of files and pipes, however they arrive. Replay a property: `{ seed, path }`. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import {
  fingerprint,
  MAX_LINE_CHARACTERS,
  type NumberedLine,
  openFile,
  readLines,
} from '../../../src/engine/ingest/feedLines.ts';
import { temporaryDirectory } from '../../support/server.ts';

async function linesOf(input: Readable): Promise<NumberedLine[]> {
  const lines: NumberedLine[] = [];
  for await (const some of readLines(input)) lines.push(...some);
  return lines;
}

function inPieces(content: string | Buffer, size: number): Readable {
  const bytes = Buffer.from(content);
  const count = Math.ceil(bytes.length / size);
  return Readable.from(
    Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size)),
    { objectMode: false },
  );
}

test('lines and their numbers do not depend on how the bytes were cut', async () => {
  const content = fc.array(fc.constantFrom('', ' ', 'a', 'é', '😀', '{"id":"€"}', 'x\ty'));
  const ends = fc.constantFrom('\n', '\r\n');
  await fc.assert(
    fc.asyncProperty(content, ends, fc.boolean(), fc.integer({ min: 1, max: 9 }), async (...of) => {
      const [texts, end, ended, size] = of;
      const whole = texts.join(end) + (ended ? end : '');
      const expected = whole
        .split('\n')
        .map((text, index) => ({ number: index + 1, text }))
        .filter(({ text }) => text.trim() !== '');
      assert.deepEqual(await linesOf(inPieces(whole, size)), expected);
    }),
    { includeErrorInReport: true, numRuns: 300 },
  );
});

test('the last line counts without a line feed, blank ones are numbered but left out', async () => {
  assert.deepEqual(await linesOf(inPieces('a\n\n \nb', 2)), [
    { number: 1, text: 'a' },
    { number: 4, text: 'b' },
  ]);
  assert.deepEqual(await linesOf(Readable.from([])), []);
  assert.deepEqual(await linesOf(inPieces('\n\n', 1)), []);
});

test('a line too long is cut one character past the limit, the next is whole', async () => {
  const most = 'x'.repeat(MAX_LINE_CHARACTERS);
  for (const size of [1_000, 65_536, 1_000_000]) {
    const text = `${most}\n${most}y\n${'z'.repeat(300_000)}\nshort\n${most}${most}`;
    const lines = await linesOf(inPieces(text, size));
    assert.deepEqual(
      lines.map(({ number, text: line }) => [number, line.length]),
      [
        [1, MAX_LINE_CHARACTERS],
        [2, MAX_LINE_CHARACTERS + 1],
        [3, MAX_LINE_CHARACTERS + 1],
        [4, 5],
        [5, MAX_LINE_CHARACTERS + 1],
      ],
    );
  }
});

test('a line that is not UTF-8 is marked, the others of its chunk are not', async () => {
  const bytes = Buffer.concat([
    Buffer.from('{"id":"é"}\n{"id":"'),
    Buffer.from([0xff]),
    Buffer.from('"}\n{"id":"\ufffd"}\n'),
    Buffer.from([0xe2, 0x82]),
  ]);
  for (const size of [1, 3, 100]) {
    assert.deepEqual(await linesOf(inPieces(bytes, size)), [
      { number: 1, text: '{"id":"é"}' },
      { number: 2, text: '{"id":"\ufffd"}', isBroken: true },
      { number: 3, text: '{"id":"\ufffd"}' },
      { number: 4, text: '\ufffd', isBroken: true },
    ]);
  }
});

test('a gzip file gives the lines of the plain one', async (scope) => {
  const directory = temporaryDirectory(scope);
  const texts = Array.from({ length: 20_000 }, (_, index) => `{"line":${index},"text":"é😀"}`);
  const plain = join(directory, 'feed.ndjson');
  const packed = join(directory, 'feed.ndjson.gz');
  writeFileSync(plain, texts.join('\n'));
  writeFileSync(packed, gzipSync(texts.join('\n')));
  const expected = texts.map((text, index) => ({ number: index + 1, text }));
  assert.deepEqual(await linesOf(openFile(plain)), expected);
  assert.deepEqual(await linesOf(openFile(packed)), expected);
  const [first, again, other] = await Promise.all([plain, plain, packed].map(fingerprint));
  assert.notEqual(first?.name, other?.name);
  assert.deepEqual(first, again);
  assert.equal(first?.lines, texts.length);
});

test('a file that is missing or no gzip fails, it does not end quietly', async (scope) => {
  const directory = temporaryDirectory(scope);
  const torn = join(directory, 'torn.gz');
  writeFileSync(torn, gzipSync('a\n'.repeat(100_000)).subarray(0, 60));
  await assert.rejects(linesOf(openFile(torn)), /cannot be unpacked: it is cut off/);
  await assert.rejects(linesOf(openFile(join(directory, 'missing'))), /ENOENT/);
  await assert.rejects(linesOf(openFile(join(directory, 'missing.gz'))), /ENOENT/);
});

test('bytes after the end of gzip data are an error, not skipped without a word', async (scope) => {
  const path = join(temporaryDirectory(scope), 'feed.gz');
  const [first, second] = ['a\nb', 'c\n'].map((text) => gzipSync(text));
  assert.ok(first !== undefined && second !== undefined);
  writeFileSync(path, Buffer.concat([first, second]));
  const texts = async () => (await linesOf(openFile(path))).map(({ text }) => text);
  assert.deepEqual(await texts(), ['a', 'bc'], 'two members are one file');
  writeFileSync(path, Buffer.concat([first, Buffer.from('{}\n')]));
  await assert.rejects(texts(), /other bytes follow its end/);
  for (const padding of [1, 900_000]) {
    writeFileSync(path, Buffer.concat([first, Buffer.alloc(padding), second]));
    const read: string[] = [];
    const all = async () => {
      for await (const some of readLines(openFile(path))) {
        read.push(...some.map(({ text }) => text));
      }
    };
    const behind = padding + second.length;
    await assert.rejects(all(), new RegExp(`has ${behind} bytes after the end of its gzip data`));
    assert.deepEqual(read, ['a', 'b']);
  }
});
