/** Names of strangers on one line: bounded, and without what reorders, hides or overprints. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { shownText } from '../../../src/engine/market/shownText.ts';

test('names as people write them stay as they are', () => {
  const names = [
    'Snek',
    'Ångström & Söhne',
    '東京の猫',
    '한국어',
    'نُقْطَة',
    'שלום',
    'हिन्दी',
    '👩‍👩‍👧 🏳️‍🌈',
    '<b>"x"</b>',
  ];
  for (const name of names) assert.equal(shownText(name, 60), name.normalize('NFC'));
});

test('invisible characters, and ones that move their neighbours, are removed', () => {
  assert.equal(shownText('a\u202eb\u2066c\u200f\ufeff\u0000d\r\n\te', 60), 'abc d e');
  assert.equal(shownText('\u2028 x \u00a0\u3000 y ', 60), 'x y');
  assert.equal(shownText('a\ud800b\ue000c\u{e0041}d', 60), 'abcd');
});

test('marks do not pile up, and a text of marks without end is cut', () => {
  const piled = shownText(`a${'\u0301'.repeat(10_000)}b`, 60);
  assert.ok(piled.length < 10, String(piled.length));
  assert.ok(piled.endsWith('…'), 'what was not read is said to be missing');
  assert.equal(shownText(`x${'\u0336'.repeat(9)}y`, 60), `x${'\u0336'.repeat(3)}y`);
});

test('the length is that of what readers count', () => {
  assert.equal(shownText('abcdef', 6), 'abcdef');
  assert.equal(shownText('abcdefg', 6), 'abcde…');
  assert.equal(shownText('👩‍👩‍👧'.repeat(7), 6), `${'👩‍👩‍👧'.repeat(5)}…`);
});

test('any text becomes one short line, and stays what it became', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 200 }), (points) => {
      const text = String.fromCodePoint(...points);
      const shown = shownText(text, 20);
      assert.doesNotMatch(shown, /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
      assert.doesNotMatch(shown, /\p{M}{4}/u);
      assert.equal(shownText(shown, 20), shown);
    }),
    { numRuns: 50 },
  );
});
