/** A market is exported in each format, and imported into another: same bars, to the unit. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from '../../src/client/index.ts';
import { LONG_ONLY } from '../support/long.ts';
import { runProgram, type Server, startServer, temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';

const DEADLINE_MS = 60_000;
const LIVELY = { NETWORK: 'devnet', BLOCK_EVERY_MS: '200', TRADERS_PACE: '6' };
const MIN_TRADES = 20;
const QUIET_SLOTS = 20;

/** A market with some trades, where nothing happens any more. */
async function quietMarket(t: TestContext) {
  const env = { ...LIVELY, DATA_DIR: `${temporaryDirectory()}/data` };
  const lively = await startServer(t, [], env);
  const asset = await tradedAsset(lively);
  assert.equal((await lively.stop()).code, 0);
  const server = await startServer(t, [], { ...env, TRADERS_PACE: '0' });
  // It refuses until it has read its market.
  const client = new Client({ url: server.url, maxAttempts: 50 });
  t.after(() => client.close());
  let [before, sinceSlot] = ['', 0];
  const quietSlots = async () => {
    const { data } = await client.orders.feed({ asset });
    // Orders that the executor can fill, and has not yet.
    const { buys, sells } = (await client.orders.book(asset)).data.pending;
    const { slot } = (await client.server.ready()).data.tip;
    const now = JSON.stringify(data);
    const isAtWork = data.mempool.length + buys + sells > 0;
    if (now !== before || isAtWork) [before, sinceSlot] = [now, slot ?? 0];
    return (slot ?? 0) - sinceSlot;
  };
  await untilAsked('nothing happens', quietSlots, (slots) => slots >= QUIET_SLOTS, DEADLINE_MS);
  return { server, asset, client };
}

async function tradedAsset({ url }: Server): Promise<string> {
  const client = new Client({ url });
  const top = () =>
    client.pools.top().then(
      ({ data }) => data,
      () => null,
    );
  const isTraded = (pool: Awaited<ReturnType<typeof top>>) =>
    (pool?.metrics.totalTxCount ?? 0) >= MIN_TRADES;
  const pool = await untilAsked('a token is traded', top, isTraded, DEADLINE_MS);
  client.close();
  return pool?.info.asset ?? assert.fail('no asset');
}

async function barsOf({ url }: Server, asset: string) {
  const client = new Client({ url });
  const span = { base: asset, quote: '.', resolution: 'min1', from: 0, to: 4_000_000_000 } as const;
  const { data } = await client.charts.history(span);
  client.close();
  // The last minute of a feed has ended; the last minute of a chain has not.
  return data.map(({ time, open, high, low, close, volume, baseVolume, trades }) => {
    return { time, open, high, low, close, volume, baseVolume, trades };
  });
}

test(
  'each format of an export is imported into the same bars; damage is refused',
  LONG_ONLY,
  async (t) => {
    const { server, asset, client } = await quietMarket(t);
    const bars = await barsOf(server, asset);
    assert(bars.length > 0);
    const ask = ['export', '--url', server.url, '--pair', asset];
    for (const format of ['csv', 'ndjson', 'parquet']) {
      const out = join(temporaryDirectory(), 'dump');
      for (const kind of [[], ['--resolution', 'min1']]) {
        const { exit, program } = await runProgram(
          [...ask, ...kind, '--format', format, '--out', out],
          {},
        );
        assert.equal(exit.code, 0, program.text);
      }
      const folder = join(out, asset, 'trades');
      const sums = readdirSync(folder).filter((name) => name.endsWith('.sha256'));
      assert(sums.length > 0);
      execFileSync('sha256sum', ['--check', '--strict', ...sums], { cwd: folder });

      const env = { NETWORK: 'none', DATA_DIR: `${temporaryDirectory()}/data` };
      const copy = await startServer(t, ['import', out], env);
      const { rejected, late } = await copy.fed();
      assert.deepEqual([rejected, late], [0, 0]);
      assert.deepEqual(await barsOf(copy, asset), bars, format);
      assert.equal((await copy.stop()).code, 0);
      const again = await runProgram(['import', out, '--exit'], env);
      assert.equal(again.exit.code, 0, again.program.text);
      assert.match(again.program.text, / 0 trades, /, 'the same dump again changes nothing');

      const [name = ''] = readdirSync(folder).filter((file) => file.endsWith(format));
      appendFileSync(join(folder, name), ' ');
      const damaged = await runProgram(['import', out, '--exit'], env);
      assert.equal(damaged.exit.code, 1);
      assert.match(damaged.program.text, /its SHA-256 is not that of .*Nothing was imported/s);
      rmSync(out, { recursive: true });
    }
    const unknown = ['export', '--url', server.url, '--pair', `${'ab'.repeat(28)}.aa`];
    const { exit, program } = await runProgram(unknown, {});
    assert.equal(exit.code, 1);
    assert.match(program.text, /ASSET_NOT_FOUND/);
    client.close();
  },
);
