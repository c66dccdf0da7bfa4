/** Three nodes, users who trade, clients that follow, and a watcher that checks invariants. */
import assert from 'node:assert/strict';
import { connectNats } from '../../../src/cluster/nats/connection.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { type Rng, seededRng, systemRng } from '../../../src/engine/runtime/rng.ts';
import { marketStreams, tokenStreams } from '../../e2e/live/streamSpecs.ts';
import type { Environment, Scope } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { assertChains, type Chains } from './chains.ts';
import { answered, FaultClient } from './clients.ts';
import { FAULTS, type FaultName } from './faults.ts';
import { LIMIT_MS, Nodes } from './nodes.ts';
import { TestUsers } from './testUsers.ts';
import { Watcher } from './watcher.ts';

const WARM_UP_MS = 800;
const MOST_WORDS = 25;
const SETTLE_MS = 1_500;
const FOLLOWED = new Set(['LastBar', 'LiveOrdersFeed', 'Trades', 'MCapDesc']);

export interface Setup {
  readonly nodes: Nodes;
  readonly users: TestUsers;
  readonly clients: readonly FaultClient[];
  readonly watcher: Watcher;
  readonly rng: Rng;
  note(text: string): void;
}

export async function setUp(
  scope: Scope,
  seed: number,
  note: (text: string) => void,
  env: Environment = {},
): Promise<Setup> {
  const rng = seededRng(seed);
  const startMs = performance.now();
  const nodes = await Nodes.start(scope, 3, env);
  const users = new TestUsers(nodes, rng);
  const watcher = new Watcher(scope, nodes);
  await users.settle();
  const someone = users.wallets.map(({ keyHash: pkh, address }) => ({ pkh, address }));
  const specs = [
    ...marketStreams([]),
    ...users.tokens.flatMap((token) => tokenStreams(token, someone.slice(0, 2))),
  ].filter(({ topic }) => FOLLOWED.has(topic));
  const clients = nodes.all.map((node) => new FaultClient(scope, nodes, node, specs));
  await answered(clients);
  note(`started in ${Math.round(performance.now() - startMs)} ms`);
  return { nodes, users, clients, watcher, rng, note };
}

/** Causes the fault while users trade; then checks that everything is right again. */
export async function play(setup: Setup, name: FaultName): Promise<void> {
  try {
    await causeAndRepair(setup, name);
  } catch (error) {
    for (const line of recentMessages(setup)) setup.note(line);
    throw error;
  }
}

/** What the nodes logged last that a person wants to see. */
function recentMessages({ nodes, users }: Setup): string[] {
  const usual = /^(traderActed|traderRefused|built|request)/;
  const words = nodes.all.flatMap(({ name, server: { program } }) => {
    const lines = program.log.filter(({ event }) => !usual.test(event)).slice(-MOST_WORDS);
    return [`${name}: ${program.text.slice(-2000)}`, ...lines.map((line) => JSON.stringify(line))];
  });
  return [...words, `refused: ${JSON.stringify([...users.refused])}`];
}

async function causeAndRepair(setup: Setup, name: FaultName): Promise<void> {
  const { nodes, users, clients, watcher, note } = setup;
  await archive(setup);
  users.open();
  await wait(WARM_UP_MS);
  const before = users.accepted.length;
  const startMs = performance.now();
  await FAULTS[name](setup);
  const mendedMs = performance.now() - startMs;
  await watcher.converged(LIMIT_MS);
  const agreedMs = performance.now() - startMs;
  // Trading must continue.
  const accepted = users.accepted.length;
  await until(
    () => `trading continues: ${[...users.refused]}`,
    () => users.accepted.length > accepted,
    LIMIT_MS,
  );
  await users.close();
  await Promise.all(clients.map((client) => client.agrees(LIMIT_MS)));
  const health = await watcher.converged(LIMIT_MS);
  await archive(setup);
  const counts = clients.flatMap(({ followings }) => followings.map((one) => one.received));
  const sum = (of: (one: (typeof counts)[number]) => number) =>
    counts.reduce((all, one) => all + of(one), 0);
  note(
    `${name}: ${Math.round(mendedMs)} ms, agreed after ${Math.round(agreedMs)}, all after ` +
      `${Math.round(performance.now() - startMs)}; ` +
      `${health.epoch}:${health.seq} term ${health.term}; ` +
      `${users.accepted.length - before} accepted; clients so far: ` +
      `${sum((one) => one.recovered)} recovered, ${sum((one) => one.fresh)} fresh, ` +
      `${sum((one) => one.resync)} Resync, ${sum((one) => one.retry)} to retry`,
  );
  assert.equal(nodes.living.length, nodes.all.length);
}

/** Stops all, and looks at what they leave. */
export async function finish(setup: Setup): Promise<Chains> {
  const { nodes, users, clients, watcher, note } = setup;
  await wait(SETTLE_MS);
  await watcher.converged(LIMIT_MS);
  for (const client of clients) {
    client.assertSound();
    client.close();
  }
  const exits = await Promise.all(nodes.all.map((node) => node.server.stop()));
  assert.deepEqual(
    exits,
    nodes.all.map(() => ({ code: 0, signal: null })),
  );
  watcher.assertSound();
  const chains = await assertChains(nodes, users.accepted.slice(users.forgiven));
  const { samples, shared, stale, unready, entries } = watcher;
  const frames = clients.map(({ followings }) =>
    followings.reduce((sum, one) => sum + one.frames, 0),
  );
  note(JSON.stringify({ samples, shared, stale, unready, entries, frames, ...chains }));
  note(`refused: ${JSON.stringify([...users.refused])}`);
  return chains;
}

async function archive({ watcher, nodes }: Setup): Promise<void> {
  const link = await connectNats({ url: nodes.nats.url, name: 'archive' }, systemRng);
  assert(!(link instanceof Failure));
  await watcher.archive(link);
  await link.close();
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
