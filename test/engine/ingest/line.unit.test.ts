/** Conditions for a line of a feed. Replay a property: `{ seed, path }` as printed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseLine } from '../../../src/engine/ingest/feedLines.ts';

const POLICY = 'ab'.repeat(28);
const TRADE = {
  id: '7',
  timeMs: 1_700_000_000_000,
  base: `${POLICY}.4f4b`,
  quote: '.',
  baseDecimals: 0,
  quoteDecimals: 6,
  baseAmount: '1000',
  quoteAmount: '2545',
};

function parse(change: object): ReturnType<typeof parseLine> {
  return parseLine(JSON.stringify({ ...TRADE, ...change }));
}

test('a trade line is read, in the spelling of the market', () => {
  const { timeMs, ...trade } = TRADE;
  assert.deepEqual(parse({}), { kind: 'trade', timeMs, trade });
  assert.deepEqual(parse({ base: `${POLICY.toUpperCase()}.4F4B` }), parse({}));
  assert.deepEqual(parse({ side: 'buy', note: { any: 'thing' } }), parse({}));
  assert.deepEqual(parse({ side: null }), parse({}));
  assert.deepEqual(parseLine(`  ${JSON.stringify(TRADE)} \r`), parse({}));
});

test('a rollback line is read', () => {
  assert.deepEqual(parseLine('{"rollbackToMs": 5}'), { kind: 'rollback', toMs: 5 });
  assert.deepEqual(parseLine('{"rollbackToMs": 5, "why": "fork"}'), { kind: 'rollback', toMs: 5 });
  assert.deepEqual(parseLine('{"rollbackToMs": -1}'), { kind: 'rollback', toMs: -1 });
});

const BAD: readonly (readonly [string, string, RegExp])[] = [
  ['no JSON', '{"id":', /not JSON/],
  ['a number', '5', /not an object/],
  ['null', 'null', /not an object/],
  ['an array', '[{}]', /not an object/],
  ['an empty object', '{}', /required/],
  ['a rollback to nowhere', '{"rollbackToMs": null}', /rollbackToMs.*integer/],
  ['a byte order mark before it', `\ufeff${JSON.stringify(TRADE)}`, /byte order mark/],
  ['a rollback that names a trade', '{"rollbackToMs": 5, "id": "7"}', /two lines/],
  ['a rollback to half a millisecond', '{"rollbackToMs": 1.5}', /rollbackToMs.*integer/],
  ...(
    [
      ['an empty id', { id: '' }, /\/id/],
      ['an id that is a number', { id: 7 }, /\/id/],
      ['an id with a tab', { id: 'a\tb' }, /\/id/],
      ['an id with a line feed', { id: 'a\nb' }, /\/id/],
      ['a long id', { id: 'x'.repeat(129) }, /\/id/],
      ['an id with half a surrogate pair', { id: 'a\ud83d' }, /id/],
      ['a time in the past of all', { timeMs: -1 }, /\/timeMs/],
      ['a time that is text', { timeMs: '5' }, /\/timeMs/],
      ['a broken time', { timeMs: 1.5 }, /\/timeMs/],
      ['a time after the year 9999', { timeMs: 253_402_300_800_000 }, /\/timeMs/],
      ['a base that is no asset', { base: 'ADA' }, /\/base/],
      ['a quote that is no asset', { quote: `${POLICY}.4` }, /\/quote/],
      ['a pair of one asset', { base: TRADE.quote }, /same asset/],
      ['one asset in two spellings', { quote: `${POLICY}.4F4B` }, /same asset/],
      ['negative decimals', { baseDecimals: -1 }, /\/baseDecimals/],
      ['too many decimals', { quoteDecimals: 39 }, /\/quoteDecimals/],
      ['an amount of nothing', { baseAmount: '0' }, /\/baseAmount/],
      ['an amount of nothing, written long', { baseAmount: '000' }, /\/baseAmount/],
      ['a negative amount', { quoteAmount: '-5' }, /\/quoteAmount/],
      ['a broken amount', { quoteAmount: '1.5' }, /\/quoteAmount/],
      ['an amount with an exponent', { quoteAmount: '1e5' }, /\/quoteAmount/],
      ['an amount in hex', { quoteAmount: '0x10' }, /\/quoteAmount/],
      ['an amount with a space', { quoteAmount: '1 ' }, /\/quoteAmount/],
      ['an amount that is a number', { quoteAmount: 5 }, /\/quoteAmount/],
      ['an amount of 41 digits', { quoteAmount: '1'.repeat(41) }, /\/quoteAmount/],
      ['a trade that is a rollback too', { rollbackToMs: 5 }, /two lines/],
      ['a side we do not know', { side: 'hold' }, /\/side/],
    ] as const
  ).map(([name, change, why]) => [name, JSON.stringify({ ...TRADE, ...change }), why] as const),
];

for (const [name, text, why] of BAD) {
  test(`is refused with its reason: ${name}`, () => {
    const found = parseLine(text);
    assert.ok(typeof found === 'string', `taken: ${text}`);
    assert.match(found, why);
    assert.ok(found.length < 300);
  });
}

test('no line at all makes it throw', () => {
  const field = fc.oneof(fc.jsonValue(), fc.constantFrom(...Object.values(TRADE)));
  const keys = fc.constantFrom(...Object.keys(TRADE), 'rollbackToMs', 'side', '__proto__');
  const nearly = fc
    .dictionary(keys, field)
    .map((change) => JSON.stringify({ ...TRADE, ...change }));
  const text = fc.oneof(fc.string(), fc.json(), nearly);
  fc.assert(
    fc.property(text, (line) => {
      const found = parseLine(line);
      assert.ok(typeof found === 'string' ? found !== '' : found.kind.length > 0);
    }),
    { includeErrorInReport: true, numRuns: 3_000 },
  );
  const deep = '['.repeat(60_000) + ']'.repeat(60_000);
  assert.equal(typeof parseLine(deep), 'string');
  assert.equal(typeof parseLine(`{"id":${deep}}`), 'string');
});

test('an amount keeps its value, whatever zeros stand before it', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 40n - 1n }), fc.nat(8), (amount, zeros) => {
      const line = parse({ baseAmount: '0'.repeat(zeros) + amount.toString() });
      assert.ok(typeof line !== 'string' && line.kind === 'trade');
      assert.equal(BigInt(line.trade.baseAmount), amount);
    }),
  );
});
