/** Translations: whole, translated, used; and numbers with the separators of their readers. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { localized, separatorsOf } from '../../src/web/format.ts';
import { ENGLISH } from '../../src/web/messages/english.ts';
import { GERMAN } from '../../src/web/messages/german.ts';
import { SPANISH } from '../../src/web/messages/spanish.ts';
import { readAmount } from '../../src/web/trade/amount.ts';

const OTHERS = { german: GERMAN, spanish: SPANISH };

type Texts = ReadonlyMap<string, unknown>;

/** Every text by its path, as `token.sides.buy`; functions too. */
function textsOf(messages: unknown, path = ''): Texts {
  if (typeof messages !== 'object' || messages === null) return new Map([[path, messages]]);
  const inside = Object.entries(messages).flatMap(([name, value]) => [
    ...textsOf(value, path === '' ? name : `${path}.${name}`),
  ]);
  return new Map(inside);
}

const english = textsOf(ENGLISH);

/** Words that German and Spanish sentences do not have. */
const ENGLISH_WORDS = /\b(the|and|of|your|you|this|that|is|are|with|from|not|it|its|for|to|at)\b/i;
/** Names, and abbreviations that all traders know. */
const SAME = [
  /^(ADA|AMM|API|Portfolio|Live|Tokens?|Ticker|Trades|Wallet|Name|Logo|Link|Chart|Filter|Pool .*)$/,
  /^(Meme|Asset|no|pool|Orders|Limit|Lin|Log|ltr|Telegram.*|Discord.*|X \(Twitter\).*)$/,
  // Intervals, units, and signs of the legend.
  /^([\d₳%]*\s?\S{1,3}|#.* 24h|.* tokens|# tokens?.*)$/,
];

for (const [name, messages] of Object.entries(OTHERS)) {
  test(`${name} has every text, and none is English`, () => {
    const translated = textsOf(messages);
    const paths = (texts: Texts) => [...texts.keys()].filter((path) => !path.startsWith('errors.'));
    assert.deepEqual(paths(translated).sort(), paths(english).sort());
    const sources = globSync(`src/web/messages/{${name}.ts,${name}/*.ts}`);
    assert.equal(sources.length, 3);
    for (const path of sources) {
      const code = readFileSync(path, 'utf8').replaceAll(/\/\*\*?[\s\S]*?\*\/|^import .*$/gm, '');
      const literals = code.match(/'(?:[^'\\\n]|\\.)*'|`[^`]*`/g) ?? [];
      // What stands for a value is code.
      const words = literals.map((text) => text.replaceAll(/\$\{[^}]*\}/g, ''));
      assert.deepEqual(
        words.filter((text) => ENGLISH_WORDS.test(text)),
        [],
        path,
      );
    }
    const same = [...translated].filter(
      ([path, text]) =>
        typeof text === 'string' &&
        text === english.get(path) &&
        !SAME.some((known) => known.test(text)),
    );
    assert.deepEqual(same, []);
    for (const cause of Object.keys(ENGLISH.errors.byCause)) {
      assert.ok(messages.errors.byCause[cause], cause);
    }
  });
}

test('every text of the page is used on it', () => {
  const sources = globSync('src/web/**/*.{ts,tsx}').filter((path) => !path.includes('/messages/'));
  const code = sources.map((path) => readFileSync(path, 'utf8')).join('\n');
  const unused = [...english.keys()].filter((path) => {
    const [room = '', name = ''] = path.split('.');
    const named = new RegExp(`\\bt\\s*\\.${room}\\s*(\\.${name}\\b|\\[|;|$)`, 'm');
    // Destructured, as `const { names, hints } = t.launch`.
    const taken = new RegExp(`\\b${name}\\b[^}]*\\} = t\\.${room};`);
    return !named.test(code) && !taken.test(code) && room !== 'direction';
  });
  assert.deepEqual(unused, []);
});

test('numbers have the separators of the language', () => {
  const [german, spanish] = [separatorsOf('de-DE'), separatorsOf('es')];
  assert.equal(localized('1,234,567.89', german), '1.234.567,89');
  assert.equal(localized('1,234.5', spanish), '1.234,5');
  assert.equal(localized('0.0₅795', german), '0,0₅795');
});

test('an amount is read as its reader writes it, and never a thousand times as much', () => {
  const german = separatorsOf('de');
  assert.equal(readAmount('1 234,5', 6, german), 1_234_500_000n);
  for (const text of ['1.234', '1.5', '1.234,5', "1'234"]) {
    assert.equal(readAmount(text, 6, german), ENGLISH.amounts.grouped, text);
  }
  assert.equal(readAmount('1,2,3', 6, german), ENGLISH.amounts.unreadable);
  assert.equal(readAmount('1,5', 6), ENGLISH.amounts.grouped, 'in English');
});
