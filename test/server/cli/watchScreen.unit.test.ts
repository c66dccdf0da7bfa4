/** The drawing of `watch`: lines that fit, without characters that could move a cursor. */
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { readExamples } from '../../../src/api/docs/examples.ts';
import type { LiquidityPoolInfo, Ticker, TokenInsightsAnswer } from '../../../src/client/types.ts';
import { drawnSize, latestOf } from '../../../src/server/cli/watch.ts';
import {
  candles,
  listScreen,
  sparkline,
  statusLine,
  tokenScreen,
} from '../../../src/server/cli/watchScreen.ts';
import { parsed } from './parsed.ts';

const SCREEN = { columns: 100, rows: 20, nowMs: 1_800_000_000_000, isColoured: false };
// trust: a recorded answer, which test/api/docs/examples.ts holds against its schema
const POOL = readExamples().routes['GET /v1/pools-main-page/koth']?.body as
  | LiquidityPoolInfo
  | undefined;

function pool(): LiquidityPoolInfo {
  assert.ok(POOL !== undefined);
  return POOL;
}

// trust: recorded answers, as above
const TICKERS = readExamples().routes['GET /v1/tickers']?.body as { items: Ticker[] } | undefined;
const INSIGHTS = readExamples().routes['GET /v1/tokens/insights']?.body as
  | TokenInsightsAnswer
  | undefined;

function tickerOf(change: Partial<Ticker> = {}): Ticker {
  const [first] = TICKERS?.items ?? [];
  assert.ok(first !== undefined);
  return { ...first, ...change };
}

function insights(): TokenInsightsAnswer {
  assert.ok(INSIGHTS !== undefined);
  return INSIGHTS;
}

test('a sparkline goes from its least to its greatest value, exactly', () => {
  assert.equal(sparkline(['1', '2', '3', '4', '5', '6', '7', '8']), '▁▂▃▄▅▆▇█');
  assert.equal(sparkline(['0.000000000000000001', '0.000000000000000002']), '▁█');
  assert.equal(sparkline(['5', '5']), '▁▁');
  assert.equal(sparkline([]), '');
});

function barOf(open: string, high: string, low: string, close: string) {
  const pair = { base: '', quote: '.' };
  return { pair, time: 0, open, high, low, close, ...AMOUNTS };
}

const AMOUNTS = { volume: '1', baseVolume: '1', trades: 1, final: true };

test('candles reach from low to high, with a body from open to close', () => {
  const bars = [barOf('1', '5', '1', '3'), barOf('4', '4', '2', '2'), barOf('3', '3', '3', '3')];
  assert.deepEqual(candles(bars, 5, false), ['│', '│█', '░█░', '░█', '░']);
  const coloured = candles(bars, 5, true).join('');
  assert.ok(coloured.includes('\x1b[32m░') && coloured.includes('\x1b[31m█'));
  assert.deepEqual(candles([], 2, false), ['', '']);
});

test('a tall screen has candles, and still fits', () => {
  const bars = Array.from({ length: 300 }, () => barOf('1', '5', '1', '3'));
  const orders = { isKnown: true, ledger: [], mempool: [], count: 0 };
  const tall = { ...SCREEN, rows: 40 };
  const lines = tokenScreen(
    { pool: pool(), change: '-3.456', insights: insights(), bars, orders },
    'live',
    tall,
  );
  assert.ok(lines.length <= tall.rows);
  assert.equal(lines.filter((line) => line === '░'.repeat(SCREEN.columns)).length, 6);
  for (const line of lines) assert.ok([...line].length <= SCREEN.columns, line);
});

test('a list fits its screen, whatever tokens are called', () => {
  const hostile = tickerOf({ name: `\x1b[2J${'x'.repeat(300)}\n\u202e`, ticker: '\x07EVIL' });
  const tickers = Array.from({ length: 100 }, () => hostile);
  const lines = listScreen('Latest', tickers, 'live', SCREEN);
  assert.ok(lines.length <= SCREEN.rows);
  for (const line of lines) {
    assert.ok([...line].length <= SCREEN.columns);
    assert.doesNotMatch(line, /\p{C}/u);
  }
  assert.equal(lines.at(-1), 'live');
  assert.match(listScreen('New', [], 'live', SCREEN).join('\n'), /Nothing here yet/);
});

test('Latest has tokens without a trade where they were launched, as the list of the API', () => {
  const token = (asset: string, createdOn: number, lastTradeTime: number | null) =>
    tickerOf({ asset, createdOn, lastTradeTime });
  const [old, sold, fresh] = [token('a', 10, 40), token('b', 20, 50), token('c', 45, null)];
  const shown = latestOf([sold, old], [fresh, sold]);
  assert.deepEqual(shown, [sold, fresh]);
  assert.deepEqual(latestOf([sold, old, fresh], [fresh, sold, old]), [sold, fresh, old]);
});

test('a token shows what is known of it, and that it is unknown', () => {
  const orders = { isKnown: true, ledger: [], mempool: [], count: 0 };
  const bar = {
    time: 1_799_999_940,
    open: '1',
    high: '2',
    low: '0.5',
    close: '1.5',
    volume: '7.129',
  };
  const bars = [
    { ...bar, pair: { base: '', quote: '.' }, baseVolume: '1', trades: 3, final: false },
  ];
  const text = tokenScreen(
    { pool: pool(), change: '-3.456', insights: insights(), bars, orders },
    'live',
    SCREEN,
  ).join('\n');
  const { top10Percent, author, holders } = insights();
  assert.match(text, new RegExp(`^holders ${holders} {2}top 10 ${top10Percent} %`, 'm'));
  assert.match(text, /of the supply outside the pool/);
  assert.match(text, new RegExp(`^author ${author.percent} %, sold`, 'm'));
  assert.match(text, new RegExp(pool().info.ticker));
  assert.match(text, /1\.5 ₳ {2}-3\.4 % in 24h/);
  assert.match(text, /07:59 {2}.*7\.12/);
  const unknown = tokenScreen(
    { pool: null, change: undefined, insights: null, bars: [], orders },
    'live',
    SCREEN,
  ).join('\n');
  assert.match(unknown, /no such token/);
});

test('columns stay aligned beside characters that take two columns, and colours take none', () => {
  const named = ['Cat', '猫の王様トークン', '🐈🐈 Cats', 'e\u0301te\u0301'].map((name) => {
    return tickerOf({ name, change24h: '12.345' });
  });
  const width = (text: string) => wcwidthOf(text);
  const plain = listScreen('New', named, 'live', SCREEN);
  const rows = plain.filter((line) => line.includes('+12.3 %'));
  assert.equal(rows.length, named.length);
  const places = rows.map((line) => width(line.slice(0, line.indexOf('+12.3 %'))));
  assert.deepEqual([...new Set(places)].length, 1, 'the changes stand below each other');
  const coloured = listScreen('New', named, 'live', {
    ...SCREEN,
    isColoured: true,
  });
  assert.ok(coloured.some((line) => line.includes('\x1b[32m+12.3 %\x1b[39m')));
  assert.deepEqual(coloured.map(stripVTControlCharacters), plain);
  const narrow = { ...SCREEN, columns: 40 };
  for (const line of listScreen('New', named, 'live', narrow)) {
    assert.ok(width(line) <= 40, line);
  }
});

/** Columns of a text in a terminal, as Node's own readline counts them. */
function wcwidthOf(text: string): number {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: Readable.from([]), output, terminal: false });
  // With only a prompt on the line, the cursor stands right after it.
  lines.setPrompt(text);
  const { cols } = lines.getCursorPos();
  lines.close();
  return cols;
}

test('a list shows who is behind its tokens, and nothing of a pair without a pool', () => {
  const wide = { ...SCREEN, columns: 200 };
  const shares = { top10Percent: '81.25', authorPercent: '3.00', snipersPercent: '0.50' };
  const unknown = { holders: null, top10Percent: null, authorPercent: null, snipersPercent: null };
  const lines = listScreen(
    'New',
    [tickerOf({ ...shares, holders: 1234 }), tickerOf(unknown)],
    'live',
    wide,
  );
  assert.match(lines[0] ?? '', /of the supply outside the pool/);
  assert.match(lines[2] ?? '', /holders {2,}top 10 {2,}author {2,}snipers/);
  assert.match(lines[3] ?? '', /1,234 {2,}81\.25 % {2,}3\.00 % {2,}0\.50 %/);
  assert.doesNotMatch(lines[4] ?? '', /null|NaN/);
});

test('the status says how the connection is', () => {
  const state = {
    is: 'waiting',
    node: 'http://a',
    transport: 'socket',
    retryAtMs: 5_000,
    tries: 1,
    tip: null,
    position: null,
    heardAtMs: null,
    why: 'gone',
  } as const;
  assert.match(statusLine(state, 2_000), /^waiting {2}http:\/\/a {2}next try in 3\Ds {2}gone$/u);
});

test('what the command line may say of it', () => {
  const url = 'http://127.0.0.1:8080';
  const shown = { bounds: {}, once: false, json: false };
  const usual = { name: 'watch', url, token: null, list: 'Latest', ...shown };
  assert.deepEqual(parsed(['watch']), usual);
  assert.deepEqual(parsed(['watch', 'RKT', '--once']), {
    ...usual,
    token: 'RKT',
    once: true,
  });
  assert.deepEqual(parsed(['watch', '--list', 'new']), { ...usual, list: 'New' });
  const shares = ['--max-top10', '50', '--max-author', '9.5', '--max-snipers', '0'];
  assert.deepEqual(parsed(['watch', ...shares, '--min-holders', '20', '--json']), {
    ...usual,
    bounds: { maxTop10Percent: 50, maxAuthorPercent: 9.5, maxSnipersPercent: 0, minHolders: 20 },
    json: true,
  });
  for (const bad of [
    ['--max-top10', '101'],
    ['--max-author', '-1'],
    ['--max-snipers', '1.234'],
    ['--min-holders', '1.5'],
    ['a', '--min-holders', '1'],
    ['--list', 'x'],
    ['a', 'b'],
    ['a', '--list', 'New'],
    ['--url', 'ftp://a'],
  ]) {
    assert.equal(typeof parsed(['watch', ...bad]), 'string', bad.join(' '));
  }
});

test('a terminal that does not know its size gets what a pipe gets, and no empty picture', () => {
  const pipe = drawnSize(null);
  assert(pipe.columns >= 80 && pipe.rows >= 24);
  assert.deepEqual(drawnSize({ columns: 0, rows: 0 }), pipe);
  assert.deepEqual(drawnSize({ columns: 90, rows: 30 }), { columns: 90, rows: 30 });
});
