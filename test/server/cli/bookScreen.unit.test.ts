/** The drawing of `book`: both sides around spot, in lines that fit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readExamples } from '../../../src/api/docs/examples.ts';
import type {
  LiquidityPoolInfo,
  OrderBook,
  TokenInsightsAnswer,
} from '../../../src/client/types.ts';
import { bookScreen } from '../../../src/server/cli/bookScreen.ts';
import { parsed } from './parsed.ts';

const SCREEN = { columns: 80, rows: 24, nowMs: 1_800_000_000_000, isColoured: false };
const { routes } = readExamples();
// trust: recorded answers, which test/api/docs/examples.ts holds against their schemas
const BOOK = routes['GET /v1/order-book']?.body as OrderBook | undefined;
const INSIGHTS = routes['GET /v1/tokens/insights']?.body as TokenInsightsAnswer | undefined;
const POOL = routes['GET /v1/pools-main-page/koth']?.body as LiquidityPoolInfo | undefined;

test('asks stand above spot and bids below, best prices next to it; all fits', () => {
  assert.ok(BOOK !== undefined && POOL !== undefined);
  const insights = INSIGHTS ?? null;
  const info = { ...POOL.info, name: 'Rocket\x1b[2J' };
  const level = { price: '0.5', amount: '1200', orders: 2 };
  const book = { ...BOOK, limits: { buys: [], sells: [level] } };
  for (const screen of [SCREEN, { ...SCREEN, columns: 40 }, { ...SCREEN, rows: 60 }]) {
    const lines = bookScreen({ info, book, insights }, 'live', screen);
    assert.ok(lines.length <= screen.rows, `${lines.length} lines`);
    for (const line of lines) {
      assert.ok([...line].length <= screen.columns && !line.includes('\x1b'), line);
    }
    const spot = lines.findIndex((line) => line.includes(`spot ${book.spot}`));
    assert.match(lines[spot - 1] ?? '', new RegExp(`^ *${book.asks[0]?.price ?? ''} `));
    assert.match(lines[spot + 1] ?? '', new RegExp(`^ *${book.bids[0]?.price ?? ''} `));
    assert.ok(lines.some((line) => line.startsWith('holders ')));
    assert.ok(lines.some((line) => /sell {2}0\.5 {2}1,200 tokens {2}2 orders/.test(line)));
  }
  assert.match(
    bookScreen({ info: null, book: null, insights: null }, 'live', SCREEN).join(),
    /no such token/,
  );
});

test('what the command line may say of it', () => {
  const url = 'http://127.0.0.1:8080';
  const usual = { name: 'book', url, token: 'RKT', digits: 3, once: false, json: false };
  assert.deepEqual(parsed(['book', 'RKT']), usual);
  const fine = ['book', 'RKT', '--digits', '4', '--once'];
  assert.deepEqual(parsed(fine), { ...usual, digits: 4, once: true });
  for (const bad of [[], ['a', 'b'], ['a', '--digits', '5'], ['a', '--url', 'ftp://a']]) {
    assert.equal(typeof parsed(['book', ...bad]), 'string', bad.join(' '));
  }
});
