/**
 * A program of 90 lines, written from the documents alone, keeps an order book while the chain
 * forks, its socket is cut, and the server is killed: it never differs from HTTP at one position.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from '../../src/client/index.ts';
import { readHealth } from '../support/chart.ts';
import { startServer, temporaryDirectory } from '../support/server.ts';
import { recordOf } from '../support/subscription.ts';
import { until, untilAsked } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');

test('a book that is kept by changes is that of HTTP, through forks and kill -9', async (t) => {
  const env = {
    // Below those that connections take: one to a port that is free might meet itself.
    PORT: String(20_000 + (process.pid % 10_000)),
    DATA_DIR: temporaryDirectory(),
    NETWORK: 'devnet',
    BLOCK_EVERY_MS: '250',
    TRADERS_PACE: '10',
  };
  let server = await startServer(t, [], env);
  const client = new Client({ url: server.url });
  t.after(() => client.close());
  const traded = async () => (await client.tickers.list({ limit: 1 })).data.items[0];
  // Old enough that no fork undoes its launch.
  const busiest = await untilAsked('a token is traded', traded, (found) => {
    return Number(found?.lastTradeTime) - Number(found?.createdOn) >= 4;
  });
  const file = join(ROOT, 'examples/orderBook.ts');
  const args = [file, server.url, busiest?.asset ?? ''];
  const program = spawn(process.execPath, args, { cwd: ROOT });
  t.after(() => void program.kill());
  let said = '';
  for (const output of [program.stdout, program.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-10_000);
    });
  }
  /** Nothing has differed, and so many comparisons and resumptions are made. */
  const isSame = async (compared: number, resumed: number) => {
    const counts = () => {
      const [line = '{}'] = said.match(/^\{.*\}$/gm)?.slice(-1) ?? [];
      return recordOf(JSON.parse(line));
    };
    await until(
      () => `${compared} comparisons and ${resumed} resumptions: ${said}`,
      () => Number(counts().compared) >= compared && Number(counts().resumed) >= resumed,
    );
    assert.equal(program.exitCode, null, said);
    const { different, wrong } = counts();
    assert.deepEqual([different, wrong], [0, 0], said);
    return Number(counts().compared);
  };
  const forks = async () => {
    const health = () => readHealth(server.url);
    await untilAsked('the market is served', health, ({ synced }) => synced);
    for (let fork = 0; fork < 2; fork += 1) {
      const { seq } = await readHealth(server.url);
      await client.devnet.fork({ depth: 3, resubmit: 'none' });
      await untilAsked('the market continues', health, (now) => now.seq > seq + 8);
    }
  };
  await forks();
  const before = await isSame(20, 0);
  await server.program.kill();
  server = await startServer(t, [], env);
  await isSame(before, 1);
  await forks();
  await isSame(before + 20, 1);
});
