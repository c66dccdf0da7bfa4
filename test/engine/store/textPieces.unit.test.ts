/** Long texts as bytes. Replay: `{ seed, path }` as printed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodePiece, TextPieces } from '../../../src/engine/store/textPieces.ts';

const line = fc
  .tuple(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 8_000 }))
  .map(([text, times]) => `${text.replaceAll('\n', ' ').repeat(times)}\n`);

test('pieces read back as the lines that were added, each in one piece', () => {
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const pieces = new TextPieces();
      for (const each of lines) pieces.add(each);
      const read = pieces.all().map(decodePiece);
      assert.equal(read.join(''), lines.join(''));
      for (const piece of read) assert.ok(piece.endsWith('\n'));
    }),
    { includeErrorInReport: true, numRuns: 200 },
  );
});
