/** Input of feeds: malformed lines, late trades, a live pipe, a pace. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parsed } from '../server/cli/parsed.ts';
import { newTestApp } from '../support/app.ts';
import { readHistory } from '../support/chart.ts';
import { lineOf, linesOf, TOKEN_COIN, tradeAt } from '../support/feeds.ts';
import { feedFile, runProgram, startServer, temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import { until } from '../support/until.ts';
import { untilSame } from './market.ts';

const NOON_MS = Date.UTC(2024, 4, 1, 12);
const params = { ...TOKEN_COIN, interval: 'min1' } as const;

function changed(change: Record<string, unknown>): string {
  return JSON.stringify({ ...JSON.parse(lineOf(tradeAt(NOON_MS, '1', { id: 'x' }))), ...change });
}

const MALFORMED: readonly (readonly [what: string, line: string])[] = [
  ['not JSON', 'hello'],
  ['cut short', lineOf(tradeAt(NOON_MS, '1')).slice(0, 80)],
  ['an array', '[1,2]'],
  ['a number', '7'],
  ['null', 'null'],
  ['no id', changed({ id: undefined })],
  ['an empty id', changed({ id: '' })],
  ['an id that is a number', changed({ id: 7 })],
  ['an id with a line break', changed({ id: 'a\nb' })],
  ['an id too long', changed({ id: 'x'.repeat(129) })],
  ['no time', changed({ timeMs: undefined })],
  ['a time that is text', changed({ timeMs: '1' })],
  ['a broken millisecond', changed({ timeMs: 1.5 })],
  ['a negative time', changed({ timeMs: -1 })],
  ['a time after year 9999', changed({ timeMs: 253_402_300_800_000 })],
  ['a base that is no asset', changed({ base: 'DOGE' })],
  ['a quote too long', changed({ quote: `${'c0'.repeat(28)}.${'00'.repeat(33)}` })],
  ['base and quote the same', changed({ base: '.' })],
  ['negative decimals', changed({ baseDecimals: -1 })],
  ['broken decimals', changed({ quoteDecimals: 6.5 })],
  ['an amount that is a number', changed({ baseAmount: 10 })],
  ['an amount of zero', changed({ quoteAmount: '0' })],
  ['a negative amount', changed({ baseAmount: '-5' })],
  ['an amount with a fraction', changed({ baseAmount: '5.5' })],
  ['an amount of 41 digits', changed({ baseAmount: '1'.repeat(41) })],
  ['a side that is neither', changed({ side: 'hold' })],
  ['other decimals than the pair has', changed({ baseDecimals: 3 })],
  ['a rollback to a text', '{"rollbackToMs":"1"}'],
  ['a rollback to null', '{"rollbackToMs":null}'],
  ['a line too long', changed({ note: 'x'.repeat(70_000) })],
];

test('malformed lines of every kind are reported with number, counted and skipped', async (t) => {
  const directory = temporaryDirectory();
  const good = [
    tradeAt(NOON_MS, '1.5'),
    tradeAt(NOON_MS + 1000, '2'),
    tradeAt(NOON_MS + 2000, '1'),
  ];
  const [first = '', second = '', third = ''] = good.map(lineOf);
  const lines = [first, ...MALFORMED.map(([, line]) => line), '', '   ', `${second}\r`, third];
  const file = feedFile(directory, 'feed.ndjson', lines.join('\n'));
  const env = { DATA_DIR: `${directory}/data` };
  const server = await startServer(t, ['replay', file], env);
  const counts = await server.fed();
  assert.deepEqual([counts.trades, counts.rejected], [3, MALFORMED.length]);
  const summary = `${MALFORMED.length} rejected`;
  await until(summary, () => server.program.text.includes(summary));
  const history = await readHistory(server.url, params);
  const [bar] = history?.bars ?? [];
  assert.deepEqual([bar?.open, bar?.high, bar?.close, bar?.trades], ['1.5', '2', '1', 3]);
  const told = server.program.events('lineRejected');
  for (const [index, { line, reason }] of told.entries()) {
    assert.equal(line, index + 2, `${MALFORMED[index]?.[0]} is reported with its number`);
    assert(String(reason).length > 5, `a reason for ${MALFORMED[index]?.[0]}`);
  }
  assert.equal(told.length, MALFORMED.length);
  await server.stop();
  const again = await runProgram(['replay', file, '--exit'], env);
  assert.equal(again.exit.code, 0, 'nothing was read again, so nothing was refused');
});

test('a feed of which most is refused ends with code 1, or one line with --strict', async () => {
  const directory = temporaryDirectory();
  const at = (second: number) => lineOf(tradeAt(NOON_MS + second * 1000, '1'));
  const late = Array.from({ length: 12 }, (_, index) => at(index));
  const inTime = Array.from({ length: 8 }, (_, index) => at(600 + index));
  const run = async (name: string, lines: readonly string[], ...options: string[]) => {
    const file = feedFile(directory, `${name}.ndjson`, lines.join('\n'));
    const env = { DATA_DIR: `${directory}/${name}` };
    return await runProgram(['replay', file, '--exit', ...options], env);
  };
  const [most, some, strict] = await Promise.all([
    run('most', [...inTime, ...late]),
    run('some', [...inTime, ...late.slice(0, 2)]),
    run('strict', [...inTime, ...late.slice(0, 1)], '--strict'),
  ]);
  assert.deepEqual(
    [most, some, strict].map(({ exit }) => exit.code),
    [1, 0, 1],
  );
  assert.match(most.program.text, /8 trades, 0 duplicates, 12 too late, 0 rejected/);
  assert.match(most.program.text, /More than half of the lines were refused \(12 of 20\)/);
  assert.match(strict.program.text, /1 line refused \(--strict\)/);
  const told = most.program.events('lineRejected');
  assert.deepEqual(
    told.map(({ line }) => line),
    Array.from({ length: 12 }, (_, index) => 9 + index),
  );
  assert.match(String(told[0]?.reason), /too late/);
});

test('a feed that is gzipped, a feed that is missing, a feed that is no gzip', async (t) => {
  const directory = temporaryDirectory();
  const env = { DATA_DIR: `${directory}/data` };
  const packed = `${directory}/feed.ndjson.gz`;
  writeFileSync(packed, gzipSync(linesOf([tradeAt(NOON_MS, '1')])));
  const server = await startServer(t, ['replay', packed], env);
  assert.equal((await server.fed()).trades, 1);
  await server.stop();
  const missing = await runProgram(['replay', `${directory}/none`, '--exit'], env);
  assert.equal(missing.exit.code, 1);
  assert.match(missing.program.text, /There is no file/);
  const folder = await runProgram(['replay', directory, '--exit'], env);
  assert.equal(folder.exit.code, 1);
  assert.match(folder.program.text, /The feed ended early: /);
  writeFileSync(packed, 'no gzip');
  const broken = await runProgram(['replay', packed, '--exit'], env);
  assert.equal(broken.exit.code, 1);
  assert.match(broken.program.text, /The feed ended early: /);
});

test('a line on standard input shows up over WebSocket while the pipe stays open', async (t) => {
  const env = { DATA_DIR: `${temporaryDirectory()}/data` };
  const server = await startServer(t, ['replay', '-', '--lateness', '0'], env);
  const client = await StrictClient.connect(t, server.port);
  const stream = client.subscribe(params);
  await until('subscribed', () => stream.snapshots === 1);
  assert.equal(stream.newest, null, 'the pair is not known yet');
  for (const [second, price] of [
    [0, '1'],
    [1, '2'],
    [61, '3'],
  ] as const) {
    server.program.stdin.write(lineOf(tradeAt(NOON_MS + second * 1000, price)));
    server.program.stdin.write('\n');
    await until(`the trade at ${price}`, () => stream.newest?.close === price);
  }
  assert.deepEqual(
    stream.finals.map(({ time }) => time),
    [NOON_MS / 1000],
  );
  await untilSame(server.url, stream);
  client.check();
  assert.equal(server.program.events('replayFinished').length, 0);
  server.program.stdin.end();
  await server.fed();
  await until('final at the end of the feed', () => stream.newest?.final === true);
});

test('--speed keeps the pace of the feed, and SIGTERM does not wait for it', async (t) => {
  const directory = temporaryDirectory();
  const trades = [0, 10, 20, 30, 100_000].map((s) => tradeAt(NOON_MS + s * 1000, `${s + 1}`));
  const file = feedFile(directory, 'feed.ndjson', linesOf(trades));
  const env = { DATA_DIR: `${directory}/data` };
  const server = await startServer(t, ['replay', file, '--speed', '50'], env);
  const client = await StrictClient.connect(t, server.port);
  const stream = client.subscribe(params);
  // The fifth is due in half an hour: it has not come, and the end does not wait for it.
  await until('the fourth trade', () => stream.newest?.close === '31');
  assert.equal(server.program.events('replayFinished').length, 0);
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  const [end] = server.program.events('replayFinished');
  if (end !== undefined) assert.equal(end.trades, 4);
});

test('a late trade lands in its own bar; past --lateness it is skipped', async (t) => {
  const at = (second: number, price: string) => tradeAt(NOON_MS + second * 1000, price);
  // Seen up to 130 s: with 90 s of lateness 40 s is still taken, 39.999 s is not.
  const trades = [at(10, '5'), at(130, '6'), at(40, '7'), at(39.999, '9'), at(131, '4')];
  const command = parsed(['replay', '-', '--lateness', '90s']);
  assert(typeof command !== 'string' && command.name === 'replay');
  const app = await newTestApp(t);
  const counts = await app.feed(linesOf(trades), command.latenessMs);
  assert.deepEqual([counts.trades, counts.late], [4, 1]);
  const history = await readHistory(app.url, params);
  assert.deepEqual(
    history?.bars.map(({ time, high, close, trades }) => [
      time - NOON_MS / 1000,
      high,
      close,
      trades,
    ]),
    [
      [0, '7', '7', 2],
      [120, '6', '4', 2],
    ],
  );
});
