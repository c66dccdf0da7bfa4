/** Names that look like another token's are refused; names as people write them are not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changesDirection,
  nameInId,
  unreadableName,
  withoutDirections,
} from '../../../src/engine/market/tokenName.ts';

/** Code points that draw nothing, or a space that is not told from another. */
const HIDDEN = [
  ...[0x200b, 0x200c, 0x200d, 0x00ad, 0x2060, 0x2063, 0xe0041, 0xfe0e, 0xfe0f, 0xe0100, 0x3164],
  ...[0x115f, 0x1160, 0xffa0, 0x034f, 0xfeff, 0x180e, 0x17b4, 0x1d173, 0x2800, 0xfff9, 0x2028],
  ...[0x00a0, 0x200a, 0x202f, 0x205f],
];
const UNKNOWN = [0xfffd, 0xfffe, 0xfdd0, 0x1ffff, 0xe000, 0x0378];

const REAL = [
  'Snek',
  'two words',
  'Café & Söhne',
  '東京　猫',
  'नमस्ते',
  // A virama with a joiner before or behind it: half letters, the Bengali ya, Sinhala's Sri.
  'क्\u200dष',
  'ক্\u200cষ',
  'র\u200d্য',
  'ශ්\u200dරී',
  // Persian.
  'می\u200cخواهم',
  'کار\u200cها',
  // A family, a style, a key, flags, a skin.
  '👨\u200d👩\u200d👧',
  '❤\ufe0f\u200d🔥',
  '1\ufe0f\u20e3',
  '🇩🇪',
  '🏳\ufe0f\u200d🌈',
  '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
  '🕵🏽\u200d♀\ufe0f',
];

test('a character that cannot be seen is refused at each place of a name', () => {
  for (const code of HIDDEN) {
    const letter = String.fromCodePoint(code);
    for (const name of [`SNE${letter}K`, `${letter}SNEK`, `SNEK${letter}`, `🐍${letter}`]) {
      if (code === 0xfe0f && name.startsWith('🐍')) continue;
      assert.equal(unreadableName(name), 'hidden', `U+${code.toString(16)}`);
    }
    assert.equal(unreadableName(letter), 'invisible', `U+${code.toString(16)} alone`);
  }
});

test('lost, private and unassigned characters are refused', () => {
  for (const code of UNKNOWN) {
    assert.equal(unreadableName(`a${String.fromCodePoint(code)}`), 'unknown', code.toString(16));
  }
  assert.equal(unreadableName('a\ud800'), 'unknown');
});

test('names as people write them are fine, joiners included', () => {
  for (const name of REAL) assert.equal(unreadableName(name), null, name);
});

test('a joiner is refused where no script or emoji needs it', () => {
  for (const name of ['A\u200dB', 'क\u200dA', 'की\u200d', '🐍\u200d', '🐍\u200dK', 'ب\u200c']) {
    assert.equal(unreadableName(name), 'hidden', name);
  }
});

test('characters that change the direction of text are found in names and descriptions', () => {
  for (const text of ['a\u202eb', '\u2067a\u2069', 'a\u200f', '\u061ca']) {
    assert.equal(unreadableName(text), 'bidirectional');
    assert.ok(changesDirection(text));
  }
  assert.ok(!changesDirection('שלום, نقطة'));
  assert.equal(withoutDirections('a\u202eb \u2067שלום\u2069'), 'ab שלום');
});

test('an id spells a name where its bytes are text that a launch would take', () => {
  const idOf = (hex: string) => `${'03'.repeat(28)}.${hex}`;
  const hexOf = (text: string) => Buffer.from(text).toString('hex');
  assert.equal(nameInId(idOf('4c696e6b')), 'Link');
  assert.equal(nameInId(idOf(hexOf('猫 🐍'))), '猫 🐍');
  assert.equal(nameInId(idOf(`0014df10${hexOf('Label')}`)), 'Label', 'after a label of CIP-67');
  for (const hex of ['', 'ff00', hexOf('a\u202eb'), '0a', hexOf('\ufeffa'), '0014df10']) {
    assert.equal(nameInId(idOf(hex)), null, hex);
  }
});
