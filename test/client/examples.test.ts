/** The programs in `examples/`, as they are, on a devnet. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from '../../src/client/index.ts';
import { startDevnet } from '../support/devnet.ts';
import type { Scope } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Person } from './person.ts';

const ROOT = join(import.meta.dirname, '../..');
const DEADLINE_MS = 60_000;
const MOST_LINES = 60;

interface Running {
  text: string;
  code: number | null;
}

function run(scope: Scope, name: string, args: readonly string[]): Running {
  const file = join(ROOT, 'examples', name);
  assert(readFileSync(file, 'utf8').split('\n').length <= MOST_LINES + 1);
  const child = spawn(process.execPath, [file, ...args], { cwd: ROOT });
  const running: Running = { text: '', code: null };
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      running.text += text;
    });
  }
  child.on('close', (code) => {
    running.code = code ?? -1;
  });
  scope.after(() => void child.kill());
  return running;
}

/** Resolves when it has ended well; `meanwhile` is done again and again until then. */
async function ended(running: Running, meanwhile: () => Promise<unknown>): Promise<string> {
  const startMs = performance.now();
  while (running.code === null && performance.now() - startMs < DEADLINE_MS) await meanwhile();
  await until(
    () => `it ends: ${running.text}`,
    () => running.code !== null,
  );
  assert.equal(running.code, 0, running.text);
  return running.text;
}

test('the price watcher and the grid bot do what they say', async (t) => {
  const url = await startDevnet(t);
  const client = new Client({ url });
  t.after(() => client.close());
  const person = new Person(client);
  await person.fund(900, 6, async () => {});
  const asset = await person.launch('Rocket', 100);
  const pool = client.pool(asset);
  await until('launched', () => pool.state !== null, DEADLINE_MS);

  const mine = client.userOrders(person.address);
  /** One order of another trader at a time; the price goes up and down. */
  let isBuy = false;
  const move = async () => {
    isBuy = !isBuy;
    const wish = { assetId: asset, slippage: 'infinity' } as const;
    const id = await (isBuy
      ? person.order({ ...wish, side: 'BUY', amount: '300000000' })
      : person.order({ ...wish, side: 'SELL', amount: '90000000' }));
    const isOver = () => mine.state.ledger.some((each) => each.entityId === id && each.evaluatedAt);
    await until('the market moves', () => isOver() === true, DEADLINE_MS);
  };
  const watcher = run(t, 'priceWatcher.ts', [url, '', '3']);
  const watched = await ended(watcher, move);
  assert.match(watched, /^Rocket \(COIN\), in ADA, minute by minute:\n/);
  assert.equal(watched.match(/^\d\d:\d\d {2}0\.0\d+ {2}low /gm)?.length, 3, watched);

  const bot = run(t, 'gridBot.ts', [url, asset, '3', '1']);
  const traded = await ended(bot, move);
  assert.match(traded, /^BUY 10000000: Evaluated, received \d+$/m);
  assert.match(traded, /^SELL \d+: (Evaluated|Refunded), received \d+$/m);
});
