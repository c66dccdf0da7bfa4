/**
 * A program of at most 80 lines, written from README and /docs alone, keeps an order book while the
 * chain forks, its socket is cut, and the server is killed: it never differs from HTTP at one
 * position.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ApiError, Client } from '../../src/client/index.ts';
import { TradingClient } from '../../src/client/trade/tradingClient.ts';
import { KeyWallet } from '../../src/client/trade/wallet.ts';
import { outcomeOf } from '../support/apiError.ts';
import { readHealth } from '../support/chart.ts';
import { secretOf } from '../support/ledgerWorld.ts';
import { startServer, temporaryDirectory } from '../support/server.ts';
import { recordOf } from '../support/subscription.ts';
import { TcpProxy } from '../support/tcpProxy.ts';
import { until, untilAsked } from '../support/until.ts';
import { ADA, launchOf } from './devnet/world.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILE = join(ROOT, 'examples/orderBook.ts');

/** Counts of the program, by its newest line. */
interface Counts {
  readonly whole: number;
  readonly changes: number;
  readonly resumed: number;
  readonly compared: number;
}

test('a book kept by changes is that of HTTP, through cuts, forks and kill -9', async (t) => {
  assert.ok(readFileSync(FILE, 'utf8').trimEnd().split('\n').length <= 80);
  const env = {
    DATA_DIR: temporaryDirectory(),
    NETWORK: 'devnet',
    BLOCK_EVERY_MS: '100',
    TRADERS_PACE: '0',
  };
  let server = await startServer(t, [], env);
  const proxy = await TcpProxy.start(t, Number(new URL(server.url).port));
  const client = new Client({ url: proxy.url, maxAttempts: 1 });
  t.after(() => client.close());
  const assetId = await startTrading(t, client);
  const reaches = startProgram(t, proxy.url, assetId);
  /** Blocks are undone, some of their transactions for good, and the socket breaks meanwhile. */
  const fork = async (depth: number, resubmit: 'all' | 'none') => {
    const { seq } = await readHealth(server.url);
    // Not through the proxy, which would cut the request off as well.
    const operator = new Client({ url: server.url });
    const forked = operator.devnet.fork({ depth, resubmit });
    if (resubmit === 'none') proxy.cut();
    await forked;
    operator.close();
    await untilAsked(
      'the market continues',
      () => readHealth(server.url),
      (now) => now.seq > seq + 4,
    );
  };
  const first = await reaches({ changes: 8, compared: 6 });
  let { resumed: cuts } = first;
  for (const depth of [1, 3, 2]) {
    await fork(depth, depth === 1 ? 'all' : 'none');
    // The next cut must find it connected.
    if (depth > 1) ({ resumed: cuts } = await reaches({ resumed: cuts + 1 }));
  }
  const forked = await reaches({ changes: first.changes + 4, compared: first.compared + 3 });
  for (const depth of [2, 3]) {
    void client.devnet.fork({ depth, resubmit: 'none' }).catch(() => {});
    await server.program.kill();
    server = await startServer(t, [], env);
    proxy.target = Number(new URL(server.url).port);
    const { resumed, compared, changes } = await reaches({ resumed: forked.resumed + 1 });
    await reaches({ resumed, compared: compared + 3, changes: changes + 3 });
    forked.resumed = resumed;
  }
  await fork(3, 'none');
  await reaches({ resumed: forked.resumed + 1 });
});

/** A token that is bought and sold until the test ends, whatever becomes of the server. */
async function startTrading(t: TestContext, client: Client): Promise<string> {
  const wallet = new KeyWallet({ payment: secretOf('alice'), stake: null }, 'testnet');
  const trader = new TradingClient(client, wallet);
  for (let made = 0; made < 5; made += 1) {
    await client.devnet.faucet({ address: wallet.address, ada: 1000 });
  }
  const count = async () => (await trader.utxos()).length;
  await untilAsked('funded', count, (utxos) => utxos >= 5);
  const { asset: assetId } = await trader.launch(launchOf({ initialLovelace: 20n * ADA }));
  const request = { assetId, slippage: 'infinity' } as const;
  const buy = { ...request, side: 'BUY', amount: 5n * ADA } as const;
  await untilAsked(
    'launched',
    () => outcomeOf(trader.quote(buy)),
    (quote) => !(quote instanceof ApiError),
  );
  let isOver = false;
  t.after(() => {
    isOver = true;
  });
  const seqNow = async () => {
    const health = await outcomeOf(client.server.ready());
    return health instanceof ApiError ? 0 : health.data.seq;
  };
  const trade = async () => {
    for (let round = 0; !isOver; round += 1) {
      await outcomeOf(trader.order({ ...buy, amount: BigInt(3 + (round % 7)) * ADA }));
      const seq = await seqNow();
      await untilAsked('an entry', seqNow, (now) => isOver || now !== seq);
    }
  };
  void trade();
  // So that no fork undoes the launch.
  const start = await seqNow();
  await untilAsked('blocks', seqNow, (seq) => seq > start + 12);
  return assetId;
}

/**
 * Starts the program. The returned function waits until the program has counted this much, without
 * a difference.
 */
function startProgram(t: TestContext, url: string, asset: string) {
  const program = spawn(process.execPath, [FILE, url, asset], { cwd: ROOT });
  t.after(() => void program.kill());
  let said = '';
  for (const output of [program.stdout, program.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-10_000);
    });
  }
  const counted = () => {
    const [line = '{}'] = said.match(/^\{.*\}$/gm)?.slice(-1) ?? [];
    return recordOf(JSON.parse(line));
  };
  return async (least: Partial<Counts>) => {
    await until(
      () => `${JSON.stringify(least)}: ${said}`,
      () => {
        const counts = counted();
        return Object.entries(least).every(([name, count]) => Number(counts[name]) >= count);
      },
    );
    assert.equal(program.exitCode, null, said);
    const { whole, changes, resumed, compared, different, wrong } = counted();
    assert.deepEqual([different, wrong], [0, 0], said);
    return {
      whole: Number(whole),
      changes: Number(changes),
      resumed: Number(resumed),
      compared: Number(compared),
    };
  };
}
