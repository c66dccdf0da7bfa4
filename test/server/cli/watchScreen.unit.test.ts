/** What `watch` draws: lines that fit, without what could move a cursor. */
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { readExamples } from '../../../src/api/docs/examples.ts';
import type { LiquidityPoolInfo } from '../../../src/client/types.ts';
import { parseCommand } from '../../../src/server/cli/commands.ts';
import {
  candles,
  listScreen,
  sparkline,
  statusLine,
  tokenScreen,
} from '../../../src/server/cli/watchScreen.ts';

const SCREEN = { columns: 100, rows: 20, nowMs: 1_800_000_000_000, isColoured: false };
// trust: a recorded answer, which test/api/docs/examples.ts holds against its schema
const POOL = readExamples().routes['GET /v1/pools-main-page/koth']?.body as
  | LiquidityPoolInfo
  | undefined;

function pool(): LiquidityPoolInfo {
  assert.ok(POOL !== undefined);
  return POOL;
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
  const lines = tokenScreen({ pool: pool(), change: '-3.456', bars, orders }, 'live', tall);
  assert.ok(lines.length <= tall.rows);
  assert.equal(lines.filter((line) => line === '░'.repeat(SCREEN.columns)).length, 6);
  for (const line of lines) assert.ok([...line].length <= SCREEN.columns, line);
});

test('a list fits its screen, whatever tokens are called', () => {
  const hostile = {
    ...pool(),
    info: { ...pool().info, name: `\x1b[2J${'x'.repeat(300)}\n\u202e`, ticker: '\x07EVIL' },
  };
  const pools = Array.from({ length: 100 }, () => hostile);
  const changes = new Map([[pool().info.asset, '12.345']]);
  const lines = listScreen('Latest', { pools, changes }, 'live', SCREEN);
  assert.ok(lines.length <= SCREEN.rows);
  for (const line of lines) {
    assert.ok([...line].length <= SCREEN.columns);
    assert.doesNotMatch(line, /\p{C}/u);
  }
  assert.equal(lines.at(-1), 'live');
  assert.match(
    listScreen('New', { pools: [], changes }, 'live', SCREEN).join('\n'),
    /Nothing here yet/,
  );
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
  const text = tokenScreen({ pool: pool(), change: '-3.456', bars, orders }, 'live', SCREEN).join(
    '\n',
  );
  assert.match(text, new RegExp(pool().info.ticker));
  assert.match(text, /1\.5 ₳ {2}-3\.4 % in 24h/);
  assert.match(text, /07:59 {2}.*7\.12/);
  const unknown = tokenScreen(
    { pool: null, change: undefined, bars: [], orders },
    'live',
    SCREEN,
  ).join('\n');
  assert.match(unknown, /no such token/);
});

test('columns stay aligned beside characters that take two columns, and colours take none', () => {
  const named = ['Cat', '猫の王様トークン', '🐈🐈 Cats', 'e\u0301te\u0301'].map((name) => {
    return { ...pool(), info: { ...pool().info, name } };
  });
  const changes = new Map([[pool().info.asset, '12.345']]);
  const width = (text: string) => wcwidthOf(text);
  const plain = listScreen('New', { pools: named, changes }, 'live', SCREEN);
  const rows = plain.filter((line) => line.includes('+12.3 %'));
  assert.equal(rows.length, named.length);
  const places = rows.map((line) => width(line.slice(0, line.indexOf('+12.3 %'))));
  assert.deepEqual([...new Set(places)].length, 1, 'the changes stand below each other');
  const coloured = listScreen('New', { pools: named, changes }, 'live', {
    ...SCREEN,
    isColoured: true,
  });
  assert.ok(coloured.some((line) => line.includes('\x1b[32m+12.3 %\x1b[39m')));
  assert.deepEqual(coloured.map(stripVTControlCharacters), plain);
  const narrow = { ...SCREEN, columns: 40 };
  for (const line of listScreen('New', { pools: named, changes }, 'live', narrow)) {
    assert.ok(width(line) <= 40, line);
  }
});

/** Columns of a terminal, by the one of Node's own readline. */
function wcwidthOf(text: string): number {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: Readable.from([]), output, terminal: false });
  // The prompt is all that the cursor stands behind.
  lines.setPrompt(text);
  const { cols } = lines.getCursorPos();
  lines.close();
  return cols;
}

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
  const usual = { name: 'watch', url, token: null, list: 'Latest', once: false };
  assert.deepEqual(parseCommand(['watch']), usual);
  assert.deepEqual(parseCommand(['watch', 'RKT', '--once']), {
    ...usual,
    token: 'RKT',
    once: true,
  });
  assert.deepEqual(parseCommand(['watch', '--list', 'new']), { ...usual, list: 'New' });
  for (const bad of [
    ['--list', 'x'],
    ['a', 'b'],
    ['a', '--list', 'New'],
    ['--url', 'ftp://a'],
  ]) {
    assert.equal(typeof parseCommand(['watch', ...bad]), 'string', bad.join(' '));
  }
});
