/** A client written from the README alone, in cuts, a stall, forks and a kill: no difference. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ApiError, Client, newSecret } from '../../../src/client/index.ts';
import { TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { KeyWallet } from '../../../src/client/trade/wallet.ts';
import { type Rng, seededRng } from '../../../src/engine/runtime/rng.ts';
import { ADA, launchOf } from '../../e2e/devnet/world.ts';
import { outcomeOf } from '../../support/apiError.ts';
import { type Server, startServer, temporaryDirectory } from '../../support/server.ts';
import { TcpProxy } from '../../support/tcpProxy.ts';
import { until, untilAsked } from '../../support/until.ts';
import { ReadmeClient } from './client.ts';

/** A trade of one token comes seldom where the machine has much else to do. */
const DEADLINE_MS = 120_000;
const MAX_LINES = 150;
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
/** `RUNS=14` repeats the scale of the examination that found the fault. */
const KILLS = Number(process.env.RUNS ?? 1);
/** Most clients at once, one for each young token. */
const MAX_CLIENTS = 6;
const LIVELY = { NETWORK: 'devnet', BLOCK_EVERY_MS: '200', TRADERS_PACE: '4' };

test('the client has at most 150 lines', () => {
  const text = readFileSync(new URL('client.ts', import.meta.url), 'utf8');
  assert(text.split('\n').length - 1 <= MAX_LINES);
  assert.doesNotMatch(text, /^import/m, 'it uses nothing of ours');
});

test('cuts, a stall, forks and kills in forks leave no difference to HTTP', async (t) => {
  const env = { ...LIVELY, DATA_DIR: `${temporaryDirectory()}/data` };
  const first = await startServer(t, [], env);
  const address = await TcpProxy.start(t, first.port);
  // Beside the proxy: faults are made for the client that is tested.
  const direct = new Client({ url: first.url });
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
  direct.close();
  const clients = [client];
  let server = first;
  t.diagnostic(`seed ${SEED}`);
  const rng = seededRng(SEED);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const { data: before } = await new Client({ url: server.url }).devnet.mine({ blocks: 1 });
    const young = await followedLaunch(server.url, address.url);
    if (clients.push(young) > MAX_CLIENTS) clients.splice(1, 1)[0]?.close();
    await killedInFork(server, before.height, rng);
    // Trading has stopped when it is back, so that what both say can be compared.
    server = await startServer(t, [], { ...env, TRADERS_PACE: '0' });
    address.target = server.port;
    const gone = await assertNoDifference(clients, server.url);
    t.diagnostic(`kill ${kill + 1}: ${gone} of ${clients.length} tokens were undone`);
    assert.equal(client.reloads, 2, 'each was loaded once, and continued after every fault');
    if (kill + 1 === KILLS) break;
    await server.program.kill();
    server = await startServer(t, [], env);
    address.target = server.port;
    await moves('live after a kill');
  }
  for (const each of clients) each.close();
});

/** Launches a token, which the forks that follow undo; resolves once the client has its bars. */
async function followedLaunch(url: string, clientUrl: string): Promise<ReadmeClient> {
  const wallet = new KeyWallet({ payment: newSecret(), stake: null }, 'testnet');
  const trader = new TradingClient(new Client({ url, maxAttempts: 4 }), wallet);
  await trader.client.devnet.faucet({ address: wallet.address, ada: 1_000 });
  const held = () => outcomeOf(trader.utxos());
  await untilAsked('funded', held, (utxos) => !(utxos instanceof ApiError) && utxos.length > 0);
  const { asset } = await trader.launch(launchOf({ initialLovelace: 20n * ADA }));
  const known = () => fetch(`${url}/v1/trades?asset=${asset}`);
  await untilAsked('launched', known, ({ ok }) => ok, DEADLINE_MS);
  const client = new ReadmeClient(clientUrl, asset);
  const bars = () => client.copies.get('b')?.rows.size ?? 0;
  await until('its bars are there', () => bars() > 0, DEADLINE_MS);
  return client;
}

/** Forks one after the other, none below `floor`; kill -9 at some moment of them. */
async function killedInFork({ url, program }: Server, floor: number, rng: Rng): Promise<void> {
  const client = new Client({ url });
  let isOver = false;
  const forking = (async () => {
    while (!isOver) {
      const mined = await outcomeOf(client.devnet.mine({ blocks: 1 }));
      if (mined instanceof ApiError) continue;
      const depth = Math.ceil(rng.unit() * (mined.data.height - floor));
      const resubmit = rng.unit() < 0.5 ? 'none' : 'all';
      await outcomeOf(client.devnet.fork({ depth, resubmit }));
    }
  })();
  await new Promise((resolve) => setTimeout(resolve, 300 + Math.floor(rng.unit() * 2_000)));
  await program.kill();
  isOver = true;
  client.close();
  await forking;
}

/** Answers how many of their tokens a fork undid. */
async function assertNoDifference(clients: readonly ReadmeClient[], url: string): Promise<number> {
  let gone = 0;
  const differences = async () => {
    const found: string[] = [];
    gone = 0;
    const copies = clients.flatMap((client) => [...client.copies]);
    for (const [name, { path, rows, keyOf }] of copies) {
      const answer = await fetch(`${url}${path}`);
      // A token that a fork undid is known no more.
      if (!answer.ok && name === 'b') gone += 1;
      const theirs = answer.ok ? ((await answer.json()) as { time: number }[]) : [];
      const others = new Map(theirs.map((row) => [keyOf(row), row]));
      for (const key of new Set([...others.keys(), ...rows.keys()])) {
        const [mine, other] = [shown(rows.get(key)), shown(others.get(key))];
        if (mine !== other) found.push(`${name} ${path} ${key}: ${mine} is ${other}`);
      }
    }
    return found;
  };
  await untilAsked('no difference', differences, (found) => found.length === 0, DEADLINE_MS);
  return gone;
}

/** A bar without the fields that only HTTP or only the socket sends. */
function shown(row: object | undefined): string {
  const { pair: _, isRelevant: __, final: ___, ...rest } = (row ?? {}) as Record<string, unknown>;
  return JSON.stringify(Object.entries(rest).sort());
}
