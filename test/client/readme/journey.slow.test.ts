/** A client written from the README alone, in cuts, a stall, forks and a kill: no difference. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Client } from '../../../src/client/index.ts';
import { startServer, temporaryDirectory } from '../../support/server.ts';
import { until, untilAsked } from '../../support/until.ts';
import { TcpProxy } from '../tcpProxy.ts';
import { ReadmeClient } from './client.ts';

/** A trade of one token comes seldom where the machine has much else to do. */
const DEADLINE_MS = 120_000;
const MOST_LINES = 150;
const LIVELY = { NETWORK: 'devnet', BLOCK_EVERY_MS: '200', TRADERS_PACE: '4' };

test('the client has at most 150 lines', () => {
  const text = readFileSync(new URL('client.ts', import.meta.url), 'utf8');
  assert(text.split('\n').length - 1 <= MOST_LINES);
  assert.doesNotMatch(text, /^import/m, 'it uses nothing of ours');
});

test('cuts, a stall, forks and a kill leave no difference to HTTP', async (t) => {
  const env = { ...LIVELY, DATA_DIR: `${temporaryDirectory()}/data` };
  const first = await startServer(t, [], env);
  const address = await TcpProxy.start(t, first.port);
  // Beside the proxy: faults are made for the client that is tested.
  let direct = new Client({ url: first.url });
  t.after(() => direct.close());
  const isTraded = (metrics: { totalTxCount: number }) => metrics.totalTxCount > 2;
  const asked = () =>
    direct.pools.top().then(
      ({ data }) => data,
      () => null,
    );
  const top = await untilAsked(
    'a token is traded',
    asked,
    (pool) => pool !== null && isTraded(pool.metrics),
    DEADLINE_MS,
  );
  const asset = top?.info.asset ?? assert.fail('no asset');

  const client = new ReadmeClient(address.url, asset);
  t.after(() => client.close());
  const trades = () => client.copies.get('t')?.rows.size ?? 0;
  await until('loaded', () => trades() > 0, DEADLINE_MS);
  const moves = async (what: string) => {
    const newest = () => [...(client.copies.get('t')?.rows.keys() ?? [])].join();
    const before = newest();
    await until(what, () => newest() !== before, DEADLINE_MS);
  };
  await moves('it is live');

  for (let times = 1; times <= 3; times += 1) {
    const { opened } = client;
    address.cut();
    await until('open again', () => client.opened > opened, DEADLINE_MS);
    await moves('live after a cut');
  }
  address.hold();
  await new Promise((resolve) => setTimeout(resolve, 2000));
  address.release();
  await moves('live after a stall');
  for (const resubmit of ['none', 'all'] as const) {
    await direct.devnet.fork({ depth: 3, resubmit });
    await moves('live after a fork');
  }
  const { opened } = client;
  await first.program.kill();
  // Trading has stopped when it is back, so that what both say can be compared.
  const again = await startServer(t, [], { ...env, TRADERS_PACE: '0' });
  direct.close();
  direct = new Client({ url: again.url });
  address.target = again.port;
  await until('open after the kill', () => client.opened > opened, DEADLINE_MS);

  const differences = async () => {
    const found: string[] = [];
    for (const [name, { path, rows, keyOf }] of client.copies) {
      const answer = await fetch(`${again.url}${path}`);
      const theirs = new Map(
        ((await answer.json()) as { time: number }[]).map((row) => [keyOf(row), row]),
      );
      for (const key of new Set([...theirs.keys(), ...rows.keys()])) {
        const [mine, other] = [shown(rows.get(key)), shown(theirs.get(key))];
        if (mine !== other) found.push(`${name} ${key}: ${mine} is ${other}`);
      }
    }
    return found;
  };
  await untilAsked('no difference', differences, (found) => found.length === 0, DEADLINE_MS);
  assert.equal(client.reloads, 2, 'each was loaded once, and continued after every fault');
});

/** Without what a bar has on one of the two ways only. */
function shown(row: object | undefined): string {
  const { pair: _, isRelevant: __, final: ___, ...rest } = (row ?? {}) as Record<string, unknown>;
  return JSON.stringify(Object.entries(rest).sort());
}
