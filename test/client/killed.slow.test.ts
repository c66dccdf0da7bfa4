/** kill -9 of a server in the middle of a market, and its return: mirrors stay right. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, type Notice } from '../../src/client/index.ts';
import { startServer, temporaryDirectory } from '../support/server.ts';
import { TcpProxy } from '../support/tcpProxy.ts';
import { until, untilAsked } from '../support/until.ts';
import { barsLikeHttp } from './sameAsHttp.ts';

const DEADLINE_MS = 60_000;
const LIVELY = { NETWORK: 'devnet', BLOCK_EVERY_MS: '200', TRADERS_PACE: '4' };
const PAGE = 100;

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

test('a server is killed and comes back: bars, orders, trades and lists continue', async (t) => {
  const env = { ...LIVELY, DATA_DIR: `${temporaryDirectory()}/data` };
  const first = await startServer(t, [], env);
  // One address for both lives of the server: its port may be taken by the time it is back.
  const address = await TcpProxy.start(t, first.port);
  const client = new Client({ url: address.url });
  t.after(() => client.close());
  const top = client.topPool();
  const isTraded = () => (top.state?.metrics.totalTxCount ?? 0) > 5;
  await until('a token is traded', isTraded, DEADLINE_MS);
  const asset = top.state?.info.asset ?? assert.fail('no asset');

  const pair = { base: asset, quote: '.' };
  const [bars, orders] = [client.bars(pair, 'min1'), client.orders(asset)];
  const [trades, pools] = [client.trades(asset), client.pools('Latest')];
  await Promise.all([bars.ready(), orders.ready(), trades.ready(), pools.ready()]);
  const traded = trades.state.trades[0]?.id ?? '';
  await until('it moves', () => (trades.state.trades[0]?.id ?? '') > traded, DEADLINE_MS);
  const notices: Notice[] = [];
  client.connection.onNotice((notice) => notices.push(notice));
  const reasons = new Set<string>();
  for (const mirror of [bars, orders, trades]) {
    mirror.onChange((_state, { reason }) => reasons.add(reason));
  }

  await first.program.kill();
  await until('waiting', () => client.connection.state.is === 'waiting', DEADLINE_MS);
  assert(bars.state.bars.length > 0 && trades.state.trades.length > 0, 'what is known stays');
  // Trading has stopped: pending transactions settle, and after that nothing changes.
  const again = await startServer(t, [], { ...env, TRADERS_PACE: '0' });
  address.target = again.port;
  await until('back', () => client.connection.state.is === 'open', DEADLINE_MS);

  const compared = barsLikeHttp(client, bars, pair, 'min1');
  const found = async () => {
    const { check } = await compared.compare();
    const feed = (await client.orders.feed({ asset })).data;
    const tape = (await client.trades.list({ asset })).data;
    const list = (await client.pools.list('Latest')).data;
    const { ledger, mempool, count } = orders.state;
    return {
      bars: passes(check),
      orders: same([count, ledger.slice(0, PAGE)], [feed.ledger.count, feed.ledger.items]),
      mempool: mempool.length === 0 && feed.mempool.length === 0,
      trades: same(trades.state.trades.slice(0, PAGE), tape),
      pools: same(pools.state, list),
    };
  };
  const all = (answer: Awaited<ReturnType<typeof found>>) => Object.values(answer).every(Boolean);
  await untilAsked('all mirrors say what HTTP says', found, all, DEADLINE_MS);
  assert.deepEqual(notices, [], 'nothing had to be loaded again');
  assert.equal(reasons.has('snapshot'), false, `${[...reasons]}`);
});

function passes(check: () => void): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof assert.AssertionError) return false;
    throw error;
  }
}
