/** Translations: complete, translated, used; and numbers with the separators of their readers. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { LocalCause } from '../../src/client/apiError.ts';
import type { Cause } from '../../src/engine/runtime/errors.ts';
import { localized, separatorsOf } from '../../src/web/format.ts';
import { ENGLISH } from '../../src/web/messages/english.ts';
import { textsOf } from '../../src/web/messages/texts.ts';
import { readAmount } from '../../src/web/trade/amount.ts';

const LANGUAGES = ['de', 'es'];

function translationOf(language: string): unknown {
  return JSON.parse(readFileSync(`src/web/messages/${language}.json`, 'utf8'));
}

type Templates = ReadonlyMap<string, unknown>;

/** Every text by its path, as `token.sides.buy`. */
function templatesOf(messages: unknown, path = ''): Templates {
  if (typeof messages !== 'object' || messages === null) return new Map([[path, messages]]);
  const inside = Object.entries(messages).flatMap(([name, value]) => [
    ...templatesOf(value, path === '' ? name : `${path}.${name}`),
  ]);
  return new Map(inside);
}

const english = templatesOf(ENGLISH);

function valuesIn(template: unknown): readonly string[] {
  return [...String(template).matchAll(/\{\w+\}|#/g)].map(([value]) => value).sort();
}

/** Words that German and Spanish sentences do not have. */
const ENGLISH_WORDS = /\b(the|and|of|your|you|this|that|is|are|with|from|not|it|its|for|to|at)\b/i;
/** Names, and abbreviations that all traders know. */
const SAME = [
  /^(ADA|AMM|API|Portfolio|Live|Tokens?|Ticker|Trades|Wallet|Name|Logo|Link|Chart|Filter|Pool)$/,
  /^(Meme|Asset|no|pool|Orders|Limit|Lin|Log|ltr|Telegram.*|Discord.*|X \(Twitter\).*)$/,
  // Traders everywhere call them so.
  /^(Top 10.*|Snipers.*|Bundlers|Insiders)$/,
  // Intervals, units, and signs of the legend.
  /^([\d₳%]*\s?\S{1,3}|#.* 24h|:? *tokens|# tokens?.*)$/,
];

for (const language of LANGUAGES) {
  const translated = templatesOf(translationOf(language));

  test(`${language} has every text, with its values, and none is English`, () => {
    const missing = [...english.keys()].filter((path) => !translated.has(path));
    // Other languages have more plurals than two.
    const unknown = [...translated.keys()].filter(
      (path) => !english.has(path) && !/\.(zero|two|few|many)$/.test(path),
    );
    assert.deepEqual({ missing, unknown }, { missing: [], unknown: [] });
    for (const [path, template] of translated) {
      // English says the words of the server where other languages have a sentence.
      if (!english.has(path) || path.startsWith('errors.byCause.')) continue;
      assert.deepEqual(valuesIn(template), valuesIn(english.get(path)), path);
    }
    const isEnglish = ([path, template]: [string, unknown]) => {
      const words = String(template)
        .replaceAll(/\{\w+\}/g, '')
        .trim();
      const isSame = template === english.get(path) && !SAME.some((known) => known.test(words));
      return ENGLISH_WORDS.test(words) || (isSame && words !== '');
    };
    assert.deepEqual([...translated].filter(isEnglish), []);
  });
}

/** Checked by the compiler: a browser does not load the list of causes. */
type Named = keyof typeof ENGLISH.errors.byCause;
const named: Named extends Cause | LocalCause ? readonly Named[] : never = ['RATE_LIMITED'];

test('an error of a known cause is said in the language of the reader', () => {
  const words = 'wait 3 seconds.';
  assert.ok(named.every((cause) => cause in ENGLISH.errors.byCause));
  const german = textsOf(ENGLISH, translationOf('de'), 'de').errors.byCause;
  assert.match(german.RATE_LIMITED({ words }), /^Zu viele Anfragen/);
  assert.match(german.TIMEOUT, /^Der Server hat nicht rechtzeitig/);
  assert.equal(textsOf(ENGLISH, null, 'en').errors.byCause.RATE_LIMITED({ words }), words);
});

test('a text that a translation lacks, or has in another shape, is English', () => {
  const source = {
    plain: 'Buy',
    valued: 'Buy {what}',
    counted: { one: '# buy of {who}', other: '# buys of {who}' },
    list: ['first', 'second'],
  } as const;
  const english = textsOf(source, null, 'en');
  assert.equal(english.valued({ what: 'it' }), 'Buy it');
  assert.equal(english.counted(1, { who: 'a' }), '1 buy of a');
  assert.equal(english.counted(1234, { who: 'a' }), '1,234 buys of a');
  for (const translation of [{}, { plain: 1, valued: ['x'], counted: 'x', list: 'x' }, 7]) {
    const texts = textsOf(source, translation, 'de');
    assert.deepEqual([texts.plain, texts.list], ['Buy', ['first', 'second']]);
    assert.equal(texts.valued({ what: 'X' }), 'Buy X');
    assert.equal(texts.counted(2, { who: 'a' }), '2 buys of a');
  }
});

test('a translation has the order of words and the plurals of its language', () => {
  const source = { sent: '{from} to {to}', days: { one: '# day', other: '# days' } } as const;
  const polish = {
    sent: 'do {to} z {from}',
    days: { one: '# dzień', few: '# dni', many: '# dni!', other: '# dnia' },
  };
  const texts = textsOf(source, polish, 'pl');
  assert.equal(texts.sent({ from: 'A', to: 7 }), 'do 7 z A');
  assert.deepEqual(
    [1, 3, 5].map((days) => texts.days(days)),
    ['1 dzień', '3 dni', '5 dni!'],
  );
  assert.equal(texts.sent({ from: '{to}', to: 'B' }), 'do B z {to}', 'a value is not a template');
});

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
