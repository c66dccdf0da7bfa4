/**
 * HTTP and WebSocket say the same at the same position, while traders trade and the chain forks:
 * clients of all topics, fast, slow, late, coming back, in both encodings, against random reads.
 */
import { type TestContext, test } from 'node:test';
import { type Rng, seededRng } from '../../../src/engine/runtime/rng.ts';
import { readTraderConfig } from '../../../src/traders/config.ts';
import { traderWallets } from '../../../src/traders/wallets.ts';
import { outcomeOf } from '../../support/apiError.ts';
import { LONG_ONLY } from '../../support/long.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { DevnetWorld, launchOf } from '../devnet/world.ts';
import { Comparer } from './comparer.ts';
import { Mirror, type MirrorOptions } from './mirror.ts';
import { assertSameAtRest } from './rest.ts';
import { marketStreams, type StreamSpec, tokenStreams } from './streamSpecs.ts';
import { assertCompared, assertRecovered, table } from './tally.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const REPLAY = `SEED=${SEED} node --test test/e2e/live/live.slow.test.ts`;
/** Between forks; a block is a second of market time. */
const BLOCKS = Number(process.env.RUNS ?? 14);
const BLOCK_MS = 100;
/** Fewest reads per block, however slow the machine is. */
const MIN_READS = 5;
const FORKS = [
  [1, 'all'],
  [3, 'none'],
  [5, 'all'],
  [4, 'none'],
] as const;
/** Blocks between comings back. */
const BACK_EVERY = 7;
const GATEWAY = { heartbeatMs: 100, sweepMs: 20 };

const CONFIG = readTraderConfig();
/** Busier traders than a devnet's own; one token graduates within seconds. */
const TRADERS = {
  ...CONFIG,
  wallets: 7,
  mostAtOnce: 5,
  launches: { ...CONFIG.launches, atStart: 2, mostTokens: 6 },
  adaEach: 100_000,
  orders: {
    ...CONFIG.orders,
    everyMs: 500,
    buyAda: [100, 4_000] satisfies [number, number],
    mostHeldPercent: 60,
  },
};

/** A launch that is built, so that its token has a name, and can be sent, again and again. */
class Launch {
  readonly token: string;
  readonly send: () => Promise<unknown>;

  private constructor(token: string, send: () => Promise<unknown>) {
    this.token = token;
    this.send = send;
  }

  static async prepare(world: DevnetWorld): Promise<Launch> {
    const trader = await world.funded('late', 400, 3);
    const { built, submit } = await trader.prepareLaunch(launchOf({ name: 'Later' }));
    return new Launch(built.assetId, () => outcomeOf(submit()));
  }
}

interface Scene {
  readonly rng: Rng;
  readonly world: DevnetWorld;
  readonly comparer: Comparer;
  readonly mirrors: Mirror[];
  readonly specs: readonly StreamSpec[];
  readonly launch: Launch;
}

async function setScene(t: TestContext, directory: string): Promise<Scene> {
  const rng = seededRng(SEED);
  const devnet = { traders: TRADERS, pace: 20, seed: SEED };
  const world = await DevnetWorld.start(t, { directory, devnet, gateway: GATEWAY });
  const people = traderWallets(TRADERS)
    .slice(0, 2)
    .map(({ keyHash: pkh, address }) => ({ pkh, address }));
  const launch = await Launch.prepare(world);
  while (world.rows('pools').length < TRADERS.launches.atStart) await world.mine();
  const tokens = [...world.rows('pools').map(([token]) => token), launch.token];
  const specs = [
    ...marketStreams(people),
    ...tokens.flatMap((token) => tokenStreams(token, people)),
  ];
  const comparer = new Comparer(rng, world.url);
  return { rng, world, comparer, mirrors: [], specs, launch };
}

async function enter(t: TestContext, scene: Scene, options: MirrorOptions): Promise<Mirror> {
  const mirror = await Mirror.connect(t, scene.world.port, options);
  mirror.subscribe(scene.specs);
  scene.comparer.add(mirror);
  scene.mirrors.push(mirror);
  await mirror.answered();
  return mirror;
}

/** Blocks at their pace, and reads all the time between them. */
async function trade({ world, comparer, mirrors, rng }: Scene, back: Mirror, loader: Mirror) {
  for (let block = 1; block <= BLOCKS; block += 1) {
    const nextMs = performance.now() + BLOCK_MS;
    await world.client.devnet.mine({ blocks: 1 });
    if (block % BACK_EVERY === 0) {
      await back.reconnect();
      await back.answered();
    }
    const stream = loader.streams[Math.floor(rng.unit() * loader.streams.length)];
    if (stream !== undefined && (await comparer.reload(stream))) loader.again(stream);
    for (let read = 0; read < MIN_READS || performance.now() < nextMs; read += 1) {
      await comparer.random();
    }
    comparer.check();
  }
  for (const mirror of mirrors) mirror.check();
}

/** After the last trade, clients that moved to another server compare everything at once. */
async function assertAtRest(t: TestContext, scene: Scene, directory: string): Promise<void> {
  const { comparer, mirrors, world } = scene;
  comparer.running = false;
  await world.app.stop();
  const devnet = world.atRest;
  const quiet = await DevnetWorld.start(t, { directory, devnet, gateway: GATEWAY });
  await assertSameAtRest(comparer, mirrors, quiet);
}

test('HTTP is what every mirror knew at the same position', LONG_ONLY, async (t) => {
  t.diagnostic(`seed ${SEED}; again: ${REPLAY}`);
  const directory = temporaryDirectory();
  const scene = await setScene(t, directory);
  const { comparer, launch, world } = scene;
  await enter(t, scene, { name: 'first', encoding: 'json' });
  await enter(t, scene, { name: 'slow', encoding: 'msgpack', paces: [5, 2, 10] });
  const back = await enter(t, scene, { name: 'coming back', encoding: 'json' });
  const loader = await enter(t, scene, { name: 'loading over HTTP', encoding: 'msgpack' });
  await trade(scene, back, loader);
  for (const [index, [depth, resubmit]] of FORKS.entries()) {
    await launch.send();
    await world.client.devnet.fork({ depth, resubmit });
    await trade(scene, back, loader);
    if (index === 1) await enter(t, scene, { name: 'late', encoding: 'msgpack' });
  }
  await assertAtRest(t, scene, directory);
  for (const line of table(comparer, scene.mirrors)) t.diagnostic(line);
  assertCompared(comparer, scene.specs);
  assertRecovered(scene.mirrors);
});
