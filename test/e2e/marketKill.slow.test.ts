/** kill -9 while people trade: the same chain, the same epoch, and trading continues. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ApiError, Client } from '../../src/client/index.ts';
import { settlementOf } from '../../src/client/trade/settlement.ts';
import { TradingClient } from '../../src/client/trade/tradingClient.ts';
import { KeyWallet } from '../../src/client/trade/wallet.ts';
import { LedgerFile } from '../../src/devnet/ledgerFile.ts';
import { LocalLog } from '../../src/engine/log/local.ts';
import { dataFiles } from '../../src/engine/recovery/dataFiles.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { readTraderConfig } from '../../src/traders/config.ts';
import { outcomeOf } from '../support/apiError.ts';
import { readHealth } from '../support/chart.ts';
import { secretOf } from '../support/ledgerWorld.ts';
import { LONG_ONLY } from '../support/long.ts';
import { type Server, startServer, temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import { until, untilAsked } from '../support/until.ts';
import { audit } from './devnet/audit.ts';
import { launchpadAt } from './devnet/launchpad.ts';
import { assertSeen, retold, seen } from './devnet/truth.ts';
import { ADA, DevnetWorld, launchOf } from './devnet/world.ts';
import { assertVerified, untilSame } from './market.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const KILLS = Number(process.env.RUNS ?? 1);

function traderAt(server: Server, name: string): TradingClient {
  const options = { url: server.url, maxAttempts: 4 };
  const wallet = new KeyWallet({ payment: secretOf(name), stake: null }, 'testnet');
  return new TradingClient(new Client(options), wallet);
}

async function until200(what: string, ask: () => Promise<unknown>): Promise<void> {
  await untilAsked(
    what,
    () => outcomeOf(ask()),
    (found) => !(found instanceof ApiError),
  );
}

/** Gives the trader this much ADA, in a block. */
async function fund(trader: TradingClient, ada: number): Promise<void> {
  const { client, wallet } = trader;
  for (let made = 0; made < 3; made += 1)
    await client.devnet.faucet({ address: wallet.address, ada });
  const held = async () => (await trader.utxos()).length;
  await untilAsked('funded', held, (count) => count >= 3);
}

/** Buys again and again until the server is gone; how many fills it saw. */
async function trades(
  trader: TradingClient,
  token: string,
  seen: { fills: number },
): Promise<void> {
  for (let round = 0; ; round += 1) {
    const before = await outcomeOf(trader.utxos());
    const amount = BigInt(2 + (round % 3)) * ADA;
    const request = { assetId: token, side: 'BUY', slippage: 'infinity', amount } as const;
    const order = await outcomeOf(trader.order(request));
    if (order instanceof ApiError || before instanceof ApiError) {
      const failed = order instanceof ApiError ? order : before;
      const isGone = failed instanceof ApiError && failed.status === null;
      assert(isGone, `only the kill stops it: ${JSON.stringify(failed)}`);
      return;
    }
    for (;;) {
      const now = await outcomeOf(trader.utxos());
      if (now instanceof ApiError) return;
      if (settlementOf(order, before, now) !== null) break;
    }
    seen.fills += 1;
  }
}

/** Trades until a moment in time, then kill -9. Returns everything that clients saw until then. */
async function killedInTrade(t: TestContext, server: Server, token: string, fills: number) {
  const traders = ['alice', 'bob'].map((name) => traderAt(server, name));
  const client = await StrictClient.connect(t, server.port);
  const chart = await client.chart({ base: token, quote: '.', interval: 'min1' });
  const seen = { fills: 0 };
  const trading = traders.map((trader) => trades(trader, token, seen));
  await until(
    () => `${fills} fills, ${seen.fills} so far`,
    () => seen.fills >= fills,
  );
  const health = await readHealth(server.url);
  await server.program.kill();
  await Promise.all(trading);
  return { health, client, chart };
}

/** Entries of the log that are neither block nor time. */
async function turnsIn(directory: string): Promise<string[]> {
  const log = await LocalLog.open({ file: dataFiles(directory).log, maxMb: 0 });
  const kinds: string[] = [];
  for (let next = 1; ; ) {
    const entries = await log.read(next, 1000);
    if (entries.length === 0) break;
    kinds.push(...entries.map(({ entry }) => entry.payload.kind));
    next += entries.length;
  }
  await log.close();
  const usual = new Set(['block', 'time', 'mempool']);
  return kinds.filter((kind) => !usual.has(kind));
}

test('kill -9 in the middle of trading', LONG_ONLY, async (t) => {
  t.diagnostic(`seed ${SEED}; again: SEED=${SEED} node --test test/e2e/marketKill.slow.test.ts`);
  const rng = seededRng(SEED);
  const directory = temporaryDirectory();
  const env = { DATA_DIR: directory, NETWORK: 'devnet', BLOCK_EVERY_MS: '100', TRADERS_PACE: '0' };
  let server = await startServer(t, [], env);
  const alice = traderAt(server, 'alice');
  await fund(alice, 500);
  await fund(traderAt(server, 'bob'), 500);
  const { asset: token } = await alice.launch(launchOf({ initialLovelace: 20n * ADA }));
  const quote = { assetId: token, side: 'BUY', amount: 5n * ADA, slippage: '15' } as const;
  await until200('launched', () => alice.quote(quote));
  const tips: { slot: number; hash: string }[] = [];

  for (let kill = 0; kill < KILLS; kill += 1) {
    const fills = 3 + Math.floor(rng.unit() * 6);
    const { health, client, chart } = await killedInTrade(t, server, token, fills);
    const tip: unknown = health.tip;
    tips.push(tip as { slot: number; hash: string }); // trust: compared with the chain below
    server = await startServer(t, [], env);
    const after = await untilAsked(
      'ready again',
      () => readHealth(server.url),
      ({ synced }) => synced,
    );
    assert.equal(after.epoch, health.epoch, 'the same epoch');
    assert(after.seq >= health.seq, 'nothing that was seen is gone');
    await client.reconnect(server.port);
    await until('recovered', () => !chart.asking);
    const trader = traderAt(server, 'alice');
    const before = await trader.utxos();
    const order = await trader.order(quote);
    await untilAsked(
      'trading continues',
      () => trader.utxos(),
      (now) => settlementOf(order, before, now)?.outcome === 'filled',
    );
    await untilSame(server.url, chart);
    assert.deepEqual([chart.told, chart.losses], [0, 0], 'sockets resume with since');
    assert.equal(chart.revisions, 0, 'what was in a block is in it');
    client.check();
  }
  const exit = await server.stop();
  assert.equal(exit.code, 0);
  await assertVerified({ DATA_DIR: directory });
  const file = new LedgerFile(`${directory}/devnet/chain.sqlite`);
  const { deployment } = launchpadAt(join(directory, 'keys.json'));
  for (const { slot, hash } of tips) assert.equal(file.headAt(slot)?.hash, hash, 'the same chain');
  file.close();
  assert.deepEqual(await turnsIn(directory), ['epoch'], 'no rollback, no second epoch');
  const { counts } = audit(`${directory}/devnet/chain.sqlite`, deployment);
  t.diagnostic(JSON.stringify(counts));
  const devnet = { traders: readTraderConfig(), pace: 0, seed: 1 };
  // No more blocks: a market over the same chain that was never killed gives the same answers.
  const last = await DevnetWorld.start(t, { directory, devnet });
  const market = await seen(last, [token]);
  await last.app.stop();
  const second = await retold(t, last, temporaryDirectory());
  assertSeen(await seen(second, [token]), market, 'a replayed market');
});
