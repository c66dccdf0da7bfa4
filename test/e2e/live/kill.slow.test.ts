/**
 * kill -9 while people trade: the next process continues from its files, clients from their last
 * position, and what HTTP and WebSocket say stays one thing.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Rng, seededRng } from '../../../src/engine/runtime/rng.ts';
import { readTraderConfig } from '../../../src/traders/config.ts';
import { readHealth } from '../../support/chart.ts';
import { IS_LONG } from '../../support/long.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { recordOf } from '../../support/subscription.ts';
import { untilAsked } from '../../support/until.ts';
import { naiveMarket } from '../api/model.ts';
import { countedTrust, servedTrust } from '../api/trustCount.ts';
import { assertSeen, retold, seen } from '../devnet/truth.ts';
import { DevnetWorld } from '../devnet/world.ts';
import { assertVerified } from '../market.ts';
import { Comparer } from './comparer.ts';
import { Mirror } from './mirror.ts';
import { assertSameAtRest } from './rest.ts';
import { readAll } from './routes.ts';
import { marketStreams, type Person, tokenStreams } from './streamSpecs.ts';
import { assertRecovered, table } from './tally.ts';
import { Town } from './town.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const REPLAY = `SEED=${SEED} node --test test/e2e/live/kill.slow.test.ts`;
const KILLS = Number(process.env.RUNS ?? (IS_LONG ? 2 : 1));
/** A block is a second of market time. */
const BLOCK_MS = 100;
const BLOCKS = [10, 18] as const;
/** Most blocks that the ledger has and the log does not; one, unless the machine stood still. */
const MAX_FOLLOWED = 80;

interface Scene {
  readonly rng: Rng;
  readonly town: Town;
  readonly people: readonly Person[];
  readonly comparer: Comparer;
  readonly mirrors: Mirror[];
}

async function setScene(t: TestContext): Promise<Scene> {
  const rng = seededRng(SEED);
  const town = await Town.found(t, rng);
  const people = town.traders.map(({ wallet }) => ({
    pkh: wallet.keyHash,
    address: wallet.address,
  }));
  const comparer = new Comparer(rng, town.server.url);
  const mirrors: Mirror[] = [];
  for (const options of [
    { name: 'fast', encoding: 'json' },
    { name: 'slow', encoding: 'msgpack', paces: [5, 2, null] },
  ] as const) {
    const mirror = await Mirror.connect(t, town.server.port, options);
    mirror.subscribe([
      ...marketStreams(people.slice(0, 2)),
      ...town.tokens.flatMap((token) => tokenStreams(token, people.slice(1, 3))),
    ]);
    comparer.add(mirror);
    mirrors.push(mirror);
    await mirror.answered();
  }
  return { rng, town, people, comparer, mirrors };
}

/**
 * Trades until a random moment in time between two blocks; then kill -9. Answers a position whose
 * rows were written before.
 */
async function tradeAndKill({ town, rng, comparer }: Scene): Promise<number> {
  const [least, most] = BLOCKS;
  const blocks = least + Math.floor(rng.unit() * (most - least));
  comparer.running = true;
  town.open();
  let kept = 0;
  for (let block = 0; block < blocks; block += 1) {
    const nextMs = performance.now() + BLOCK_MS * (block === blocks - 1 ? rng.unit() : 1);
    await town.mine();
    if (block === least >> 1) kept = await written(town.server.url);
    while (performance.now() < nextMs) await comparer.random();
    comparer.check();
  }
  comparer.running = false;
  await town.kill();
  comparer.check();
  return kept;
}

/** A position up to which all rows are in the state file. */
async function written(url: string): Promise<number> {
  const { seq } = await readHealth(url);
  const commits = () => metric(url, 'commit_seconds_count');
  const before = await commits();
  // The first may have started before.
  await untilAsked('two commits', commits, (count) => count >= before + 2);
  return seq;
}

/** A counter of this process. */
async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const [, value] = new RegExp(`^[a-z]*_?${name}(?:_total)? ([0-9.e+]+)$`, 'm').exec(text) ?? [];
  return Number(value ?? assert.fail(`${name} in ${text.slice(0, 500)}`));
}

/** The process that was started last did not begin at the beginning. */
async function assertWentOn(t: TestContext, { town }: Scene, [least, kept]: [number, number]) {
  const { url } = town.server;
  const { seq } = await readHealth(url);
  const folded = await metric(url, 'entries_applied');
  const transactions = await metric(url, 'chain_transactions');
  t.diagnostic(`position ${seq}: ${folded} entries folded, ${transactions} transactions followed`);
  assert(seq >= least, 'nothing that was seen is gone');
  assert(folded <= seq - kept, `${folded} of ${seq} entries were folded, ${kept} were written`);
  assert(
    transactions <= Math.max(MAX_FOLLOWED, town.orders / 2),
    `${transactions} transactions were followed`,
  );
}

/** Blocks until the executor has nothing to do: a kill would lose the mempool. */
async function emptied(town: Town, all: () => Promise<ReadonlyMap<string, unknown>>) {
  let quiet = 0;
  const quietBlocks = async () => {
    await town.mine();
    const isWaiting = JSON.stringify([...(await all())]).includes('"Mempool');
    quiet = isWaiting || (await fillable(town)) > 0 ? 0 : quiet + 1;
    return quiet;
  };
  await untilAsked('the executor comes to an end', quietBlocks, (blocks) => blocks === 2);
}

/** How many orders in blocks the pools would fill now. */
async function fillable({ server, tokens }: Town): Promise<number> {
  const counts = tokens.map(async (token) => {
    const answer = await server.get(`/v1/order-book?asset=${token}`);
    const { buys, sells } = recordOf(recordOf(await answer.json()).pending);
    return Number(buys) + Number(sells);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** A kill in a quiet moment changes no answer that a client can read. */
async function assertNothingForgotten(t: TestContext, { town, people }: Scene): Promise<void> {
  const all = () => readAll(town.server.url, town.tokens, people);
  await emptied(town, all);
  const before = await all();
  await town.kill();
  await town.restart(t);
  const after = await all();
  let same = 0;
  for (const [question, { body, position }] of before) {
    const now = after.get(question);
    assert.deepEqual(now?.body, body, question);
    if (position === now?.position) same += 1;
  }
  t.diagnostic(`${before.size} answers are the same, ${same} of them at the same position`);
}

test('kill -9 in the middle of trading: HTTP and mirrors go on as one', async (t) => {
  t.diagnostic(`seed ${SEED}; again: ${REPLAY}`);
  const scene = await setScene(t);
  const { town, mirrors, comparer } = scene;
  const { epoch } = await readHealth(town.server.url);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const kept = await tradeAndKill(scene);
    const seqs = mirrors.flatMap(({ streams }) => streams.map(({ own }) => own?.seq ?? 0));
    await town.restart(t);
    await assertWentOn(t, scene, [Math.max(...seqs), kept]);
    await assertSameAtRest(comparer, mirrors, town.server);
    assert.equal((await readHealth(town.server.url)).epoch, epoch);
  }
  await assertNothingForgotten(t, scene);
  for (const mirror of mirrors) mirror.terminate();
  assert.equal((await town.server.stop()).code, 0);
  for (const line of table(comparer, mirrors)) t.diagnostic(line);
  t.diagnostic(`${town.orders} orders, refused: ${JSON.stringify([...town.refused])}`);
  assertRecovered(mirrors);
  await assertVerified({ DATA_DIR: town.directory });
  const devnet = { traders: readTraderConfig(), pace: 0, seed: SEED };
  const last = await DevnetWorld.start(t, { directory: town.directory, devnet });
  const market = await seen(last, town.tokens);
  const chain = naiveMarket(await last.blocks(), last.kit.txContext.deployment);
  assert(chain.chain.trades.length > 0, 'there is something to count');
  const trust = await servedTrust(async (path) => (await last.get(path)).body, town.tokens);
  assert.deepEqual(trust, countedTrust(chain, town.tokens));
  await last.app.stop();
  const second = await retold(t, last, temporaryDirectory());
  assertSeen(await seen(second, town.tokens), market, 'a replayed market');
});
