/** Three nodes that follow one devnet: a fork of it is that of all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TIP } from '../../src/engine/actors/chainRows.ts';
import { type Clock, systemClock } from '../../src/engine/runtime/clock.ts';
import { type PointRecord, readRecord } from '../../src/engine/store/records.ts';
import type { TestApp } from '../support/app.ts';
import { NatsServer } from '../support/nats.ts';
import type { Scope } from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';
import { same, startNode, type TestMarket, trade } from './nodes.ts';
import { startSharedDevnet } from './sharedDevnet.ts';

const LIMIT_MS = 60_000;
const FORK_BLOCKS = 10;

interface Standing {
  readonly status: number;
  readonly role: string;
  readonly term: number;
  readonly stale: boolean;
}

async function threeNodes(scope: Scope, market: TestMarket, more = {}): Promise<TestApp[]> {
  const starting = ['a', 'b', 'c'].map((name) => startNode(scope, market, name, undefined, more));
  const nodes = await Promise.all(starting);
  await leaderOf(nodes);
  return nodes;
}

async function standing({ url }: TestApp): Promise<Standing> {
  const answer = await fetch(`${url}/health/ready`);
  // trust: the fields that a schema of ours names
  return { ...((await answer.json()) as Omit<Standing, 'status'>), status: answer.status };
}

function untilAll(nodes: readonly TestApp[], what: string, fits: (all: Standing[]) => boolean) {
  return untilAsked(what, () => Promise.all(nodes.map(standing)), fits, LIMIT_MS);
}

async function leaderOf(nodes: readonly TestApp[]): Promise<TestApp> {
  const leads = ({ role }: Standing) => role === 'leader';
  const isOne = (all: Standing[]) =>
    all.filter(leads).length === 1 && all.every(({ stale }) => !stale);
  const all = await untilAll(nodes, 'one node leads, all are well', isOne);
  return nodes[all.findIndex(leads)] ?? assert.fail('one was found');
}

function heightOf({ app }: TestApp): number {
  const text = app.node.fold.store.get('market', TIP);
  return text === null ? 0 : readRecord<PointRecord>(text).height;
}

/** The wall clock, whose timers run no more once it is held: blocks come on demand alone then. */
function heldClock(): Clock & { isHeld: boolean } {
  const clock = {
    ...systemClock,
    isHeld: false,
    after: (delayMs: number, run: () => void) =>
      systemClock.after(delayMs, () => {
        if (!clock.isHeld) run();
      }),
  };
  return clock;
}

for (const paceMs of [0, 1_000]) {
  test(`a fork without a further block is shown by all nodes, pace ${paceMs}`, async (t) => {
    const server = await NatsServer.start(t);
    const clock = heldClock();
    const chain = await startSharedDevnet(t, paceMs, { clock });
    const nodes = await threeNodes(t, { server, chain, snapshotEvery: 1_000_000 });
    const { node: devnet } = chain.devnet;
    await trade(nodes[1] ?? assert.fail(), 3);
    clock.isHeld = true;
    const before = (await devnet.mine(1)) as number;
    const heights = () => nodes.map(heightOf);
    const all = (height: number) => () => heights().every((each) => each === height);
    await until(() => `all are at ${before}: ${heights()}`, all(before), LIMIT_MS);
    const after = await devnet.fork(FORK_BLOCKS, 'all');
    assert.equal(after, before - FORK_BLOCKS);
    await until(() => `all are at ${after}: ${heights()}`, all(before - FORK_BLOCKS), LIMIT_MS);
    assert.equal(devnet.chain.tip?.height, after, 'no block has come');
    clock.isHeld = false;
    await devnet.mine(FORK_BLOCKS);
    await same(...nodes);
  });
}
