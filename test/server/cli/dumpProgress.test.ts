/** How far `export` and `import` are. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { runExport } from '../../../src/server/cli/dump/export.ts';
import { startOfDay, writeDumpFile } from '../../../src/server/cli/dump/files.ts';
import { encodeRows, TRADE_COLUMNS } from '../../../src/server/cli/dump/format.ts';
import { openDump } from '../../../src/server/cli/dump/import.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { parsed } from './parsed.ts';

const ASSET = `${'ab'.repeat(28)}.1a`;
const DAY_SECONDS = 86_400;
const FIRST_DAY = 20_000;

/** One at noon of that day. */
function tradeOn(day: number) {
  const time = day * DAY_SECONDS + DAY_SECONDS / 2;
  return { id: `${day}`, time, side: 'buy', price: '1', baseAmount: '1', quoteAmount: '1' };
}

test('an export says how much of the time since the launch is written', async () => {
  let nowMs = 0;
  // Each look at it is later than the pause between two lines.
  const monotonicMs = () => {
    nowMs += 11_000;
    return nowMs;
  };
  const clock = { ...systemClock, monotonicMs };
  const texts: string[] = [];
  const terminal = { print: (text: string) => void texts.push(text), isTerminal: false };
  const trades = [4, 3, 1, 0].map((day) => tradeOn(FIRST_DAY + day));
  const said: string[] = [];
  const answer = async (input: string | URL | Request) => {
    const url = new URL(String(input instanceof Request ? input.url : input));
    if (url.pathname.includes('pools-feed')) {
      return Response.json({ pool: { createdOn: FIRST_DAY * DAY_SECONDS } });
    }
    return Response.json(trades);
  };
  const directory = temporaryDirectory();
  const command = parsed(['export', '--pair', ASSET, '--out', directory]);
  assert.ok(typeof command !== 'string' && command.name === 'export');
  const deps = { clock, terminal, fetch: answer, signal: new AbortController().signal };
  const ending = { say: (line: string) => said.push(line), complain: assert.fail };
  assert.equal(await runExport(command, { ...deps, ...ending }), 0);
  assert.match(said.join(), /4 trades in 4 files/);
  const shares = texts.map((text) => text.split(/[,\n]/)[0]);
  assert.deepEqual(shares, ['export: 0 %', 'export: 25 %', 'export: 75 %', 'export: 100 %']);
});

test('an import counts the files that it checks, and those that it has read', async () => {
  const directory = temporaryDirectory();
  for (const day of ['2024-10-04', '2024-10-05', '2024-10-06']) {
    const rows = [tradeOn((startOfDay(day) ?? 0) / DAY_SECONDS)];
    const bytes = await encodeRows(TRADE_COLUMNS, rows, 'csv');
    await writeDumpFile(join(directory, ASSET, 'trades', `${day}.csv`), bytes);
  }
  const checked: string[] = [];
  const dump = await openDump(directory, (done, all) => checked.push(`${done}/${all}`));
  assert.deepEqual(checked, ['1/3', '2/3', '3/3']);
  assert.deepEqual(dump.read(), [0, 3]);
  const lines = await dump.open().toArray();
  assert.deepEqual([lines.length, dump.read()], [3, [3, 3]]);
});
