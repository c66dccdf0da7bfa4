/**
 * Random trading and forks on the network, a node whose messages are lost and garbled meanwhile,
 * and a client that asks all the time: every answer belongs to one block and describes the market
 * at that block. Replay: SEED; RUNS is how many steps.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../src/client/index.ts';
import type { TradingClient } from '../../src/client/trade/tradingClient.ts';
import { type Rng, seededRng } from '../../src/engine/runtime/rng.ts';
import { outcomeOf } from '../support/apiError.ts';
import { assertSound, verifyDirectory } from '../support/app.ts';
import { temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import { ADA, type DevnetWorld, launchOf } from './devnet/world.ts';
import { untilSame } from './market.ts';
import { type Real, RealWorld } from './realChainWorld.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const STEPS = Number(process.env.RUNS ?? 30);

/** Paths that the client requests again and again. */
function pathsOf(token: string): string[] {
  return [
    '/v1/pools-main-page/initial/state?filter=New',
    `/v1/pools-feed/initial/state?asset=${token}`,
    `/v1/trades?asset=${token}`,
    `/balances/v1/pool/holders?assetId=${token}`,
  ];
}

/** The network's own answers at each of its blocks, by path. */
class Truth {
  readonly #byBlock = new Map<string, Map<string, unknown>>();
  readonly #network: DevnetWorld;
  readonly #paths: readonly string[];

  constructor(network: DevnetWorld, paths: readonly string[]) {
    this.#network = network;
    this.#paths = paths;
  }

  /** To be called at each block. */
  async note(): Promise<void> {
    const hash = this.#network.tip?.hash ?? assert.fail();
    if (this.#byBlock.has(hash)) return;
    const bodies = new Map<string, unknown>();
    for (const path of this.#paths) bodies.set(path, (await this.#network.get(path)).body);
    assert.equal(this.#network.tip?.hash, hash, 'the network stood still');
    this.#byBlock.set(hash, bodies);
  }

  at(hash: string, path: string): unknown {
    const bodies = this.#byBlock.get(hash);
    assert(bodies !== undefined, `block ${hash} was on the network`);
    return bodies.get(path);
  }
}

interface Heard {
  readonly path: string;
  readonly hash: string;
  readonly body: unknown;
}

/** Asks until it is stopped; what it heard. */
function asking(real: Real, paths: readonly string[]): () => Promise<Heard[]> {
  const heard: Heard[] = [];
  let isOver = false;
  const run = async () => {
    while (!isOver) {
      for (const path of paths) {
        const { status, headers, body } = await real.get(path);
        assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
        const hash = headers.get('x-block-hash') ?? assert.fail(path);
        const last = heard.findLast((each) => each.path === path);
        // Only new answers are compared.
        if (last?.hash !== hash || JSON.stringify(last.body) !== JSON.stringify(body)) {
          heard.push({ path, hash, body });
        }
      }
    }
  };
  const running = run();
  return async () => {
    isOver = true;
    await running;
    return heard;
  };
}

async function step(world: RealWorld, traders: readonly TradingClient[], token: string, rng: Rng) {
  const { network, bridge } = world;
  const pick = Math.floor(rng.unit() * 12);
  const trader = traders[Math.floor(rng.unit() * traders.length)] ?? assert.fail();
  if (pick < 4) {
    const amount = BigInt(2 + Math.floor(rng.unit() * 9)) * ADA;
    const request = { assetId: token, side: 'BUY', amount, slippage: 'infinity' } as const;
    // A fork may have taken its funds; then it does not order.
    if ((await outcomeOf(trader.order(request))) instanceof ApiError) return;
  } else if (pick === 4) {
    await outcomeOf(trader.launch(launchOf({ name: `Fork${Math.floor(rng.unit() * 1e6)}` })));
  } else if (pick === 5) bridge.ogmios.dropAll();
  else if (pick === 6) bridge.ogmios.faults.nextBlock({ kind: 'cut' });
  else if (pick === 7) bridge.ogmios.faults.nextBlock({ kind: 'garbage', text: '{"jsonrpc":' });
  else if (pick < 11) {
    const height = network.tip?.height ?? 0;
    // The funds and the launch before the first step stay.
    const depth = Math.min(1 + Math.floor(rng.unit() * 8), height - 4);
    if (depth > 0) await network.fork(depth, rng.unit() < 0.5 ? 'all' : 'none');
  }
}

test('whatever forks, every answer is of one block, and right', async (t) => {
  t.diagnostic(`SEED=${SEED}`);
  const rng = seededRng(SEED);
  const world = await RealWorld.start(t);
  const { network, bridge } = world;
  const traders = [await network.funded('alice', 500, 6), await network.funded('bob', 500, 6)];
  const [alice] = traders;
  assert(alice !== undefined);
  const { asset: token } = await network.launch(alice, { initialLovelace: 40n * ADA });
  const real = await world.follow({ directory: temporaryDirectory() });
  await bridge.settled();
  await real.shows(network.tip?.hash ?? null);
  const paths = pathsOf(token);
  const truth = new Truth(network, paths);
  await truth.note();
  const client = await StrictClient.connect(t, real.app.app.port);
  const chart = await client.chart({ base: token, quote: '.', interval: 'min1' });
  const stopAsking = asking(real, paths);
  for (let made = 0; made < STEPS; made += 1) {
    await step(world, traders, token, rng);
    await truth.note();
    for (let blocks = Math.floor(rng.unit() * 4); blocks > 0; blocks -= 1) {
      await network.mine();
      await truth.note();
    }
    if (made % 5 !== 0) continue;
    await bridge.settled();
    await real.shows(network.tip?.hash ?? null);
  }
  await network.mine();
  await truth.note();
  await bridge.settled();
  await real.shows(network.tip?.hash ?? null);
  const heard = await stopAsking();
  for (const { path, hash, body } of heard) assert.deepEqual(body, truth.at(hash, path), path);
  t.diagnostic(`${heard.length} answers of ${new Set(heard.map(({ hash }) => hash)).size} blocks`);
  await untilSame(real.app.url, chart);
  client.check();
  await real.app.stop();
  assertSound(await verifyDirectory(real.directory, 2160));
});
