/**
 * Clients of every topic of pools, some of which ask after each entry and others seldom, over
 * random markets on a chain that forks, with restarts and changes of epoch: whenever they have
 * asked, they have what HTTP answers at that position.
 * Replay a failure: put the printed `{ seed, path }` into the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { poolRoutes } from '../../../src/api/pools/routes.ts';
import { poolTopics } from '../../../src/api/pools/topics.ts';
import type { Source } from '../../../src/api/topics/port.ts';
import { POOL_LIST_NAMES } from '../../../src/engine/market/poolView.ts';
import type { Node } from '../../../src/engine/node/node.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import type { Position } from '../../../src/engine/runtime/position.ts';
import { appendBlock, rollBackTo } from '../../chain/foldChain.ts';
import { type Action, BlockMaker } from '../../chain/foldMarket.ts';
import { askRoute } from '../../support/askRoute.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { framesFor, ListClient } from '../../support/topicClients.ts';
import { openSource } from '../topics/openSource.ts';

type Step =
  | { readonly do: 'block'; readonly actions: readonly Action[] }
  | { readonly do: 'back'; readonly blocks: number }
  | { readonly do: 'ask'; readonly client: number; readonly listener: number }
  | { readonly do: 'restart' };

const user = fc.nat(3);
const pool = fc.nat(104);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('launch' as const), user, buy: fc.nat(60) }),
  },
  fc.record({
    do: fc.constant('place' as const),
    user,
    pool: fc.nat(4),
    side: fc.constantFrom('buy' as const, 'buy', 'sell'),
    amount: fc.constantFrom(10, 80, 203),
  }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('execute' as const), pool: fc.nat(4) }) },
  fc.record({ do: fc.constant('lock' as const), user, pool, to: user }),
  fc.record({ do: fc.constant('withdraw' as const), index: fc.nat(3) }),
  fc.record({ do: fc.constant('transfer' as const), user, pool, to: user }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('block' as const),
      actions: fc.array(action, { maxLength: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('back' as const), blocks: fc.nat(5) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      client: fc.nat(1),
      listener: fc.nat(1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

/** Counts of events over all runs, to check that the runs covered each kind. */
interface Seen {
  /** Updates of lists that do not say the whole page. */
  parts: number;
  snapshots: number;
  /** Pools of the PoolFeed. */
  feeds: number;
  /** Full pages that a pool came to and another had to leave. */
  pushed: number;
}

function nothingSeen(): Seen {
  return { parts: 0, snapshots: 0, feeds: 0, pushed: 0 };
}

/** One client: every topic, and where it stands. */
class Follower {
  readonly #lists = new Map<string, ListClient>();
  readonly #wholes = new Map<string, unknown>();
  readonly #seen: Seen;
  #own: Position | null = null;

  constructor(seen: Seen) {
    this.#seen = seen;
  }

  ask(node: Node, sources: ReadonlyMap<string, Source>): void {
    const applied = node.applied();
    for (const [name, source] of sources) {
      const frames = framesFor(source, this.#own, applied);
      assert(frames.length <= 1);
      for (const { data, isSnapshot } of frames) {
        if (isSnapshot) this.#seen.snapshots += 1;
        if (name === 'PoolFeed' && data !== null) this.#seen.feeds += 1;
        if (name === 'KOTH' || name === 'PoolFeed') this.#wholes.set(name, data);
        else this.#take(name, data, isSnapshot);
      }
    }
    this.#own = applied;
  }

  check(get: (path: string, query: Record<string, string>) => unknown, asset: string): void {
    for (const list of POOL_LIST_NAMES) {
      const page = get('/v1/pools-main-page/initial/state', { filter: list });
      assert.deepEqual(this.#list(list).page, page, list);
    }
    assert.deepEqual(this.#wholes.get('KOTH'), get('/v1/pools-main-page/koth', {}));
    const feed = get('/v1/pools-feed/initial/state', { asset });
    assert.deepEqual(this.#wholes.get('PoolFeed'), feed);
  }

  #take(name: string, data: unknown, isSnapshot: boolean): void {
    const list = this.#list(name);
    const before = list.order;
    const came = list.take(data, isSnapshot);
    if (came.length < list.order.length) this.#seen.parts += 1;
    const isFull = before.length === 100 && list.order.length === 100;
    if (isFull && before.some((asset) => !list.order.includes(asset))) this.#seen.pushed += 1;
  }

  #list(name: string): ListClient {
    const list = this.#lists.get(name) ?? new ListClient();
    this.#lists.set(name, list);
    return list;
  }
}

/** The sources and routes of one node, valid until it stops. */
function offer(node: Node, asset: string) {
  const sources = new Map<string, Source>();
  for (const topic of poolTopics(node)) {
    sources.set(topic.name, openSource(topic, topic.name === 'PoolFeed' ? { asset } : undefined));
  }
  const routes = poolRoutes(node);
  const get = (path: string, query: Record<string, string>): unknown => {
    const route = routes.find((each) => each.path === path);
    assert(route !== undefined, path);
    const answer = askRoute(route, query);
    assert(!(answer instanceof Promise));
    if (answer instanceof Failure) return null;
    return JSON.parse(Buffer.from(answer.body).toString());
  };
  return { sources, get };
}

async function follow(
  seen: Seen,
  steps: readonly Step[],
  horizonBlocks: number,
  pools: number,
): Promise<void> {
  const ends: (() => unknown)[] = [];
  const scope = { after: (end: () => unknown) => void ends.push(end) };
  const directory = join(temporaryDirectory(), 'data');
  let world = await FoldWorld.open(scope, directory, { horizonBlocks });
  try {
    const maker = new BlockMaker();
    // Known before it is launched: the first pool that any of these markets has.
    const first = new BlockMaker();
    first.block([{ do: 'launch', user: 0, buy: 0 }], 1_000);
    const asset = [...first.state.pools.keys()][0] ?? '';
    // Two listeners with separate sources, so neither knows which frames the other got.
    let offers = [offer(world.node, asset), offer(world.node, asset)];
    const live = new Follower(seen);
    const others = [new Follower(seen), new Follower(seen)];
    const look = (follower: Follower, listener = 0) => {
      const offered = offers[listener];
      assert(offered !== undefined);
      follower.ask(world.node, offered.sources);
      follower.check(offered.get, asset);
    };
    look(live);
    const launches = Array.from({ length: pools }, (_, at): Action => {
      return { do: 'launch', user: at % 4, buy: at % 7 };
    });
    await appendBlock(world, maker.block(launches, 1_000));
    for (const each of steps) {
      if (each.do === 'block') await appendBlock(world, maker.block(each.actions, 1_000));
      else if (each.do === 'back') await rollBackTo(world, maker.back(each.blocks));
      else if (each.do === 'restart') {
        world = await world.restarted();
        offers = [offer(world.node, asset), offer(world.node, asset)];
      } else {
        const other = others[each.client];
        if (other !== undefined) look(other, each.listener);
      }
      look(live);
    }
    for (const other of others) look(other);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

test('a snapshot equals the HTTP answer, whatever the chain did meanwhile', async () => {
  const seen = nothingSeen();
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 25, size: 'max' }),
      fc.constantFrom(3, 2160),
      fc.constantFrom(0, 99, 104, 104),
      (...run) => follow(seen, ...run),
    ),
    { numRuns: Number(process.env.RUNS ?? 10), includeErrorInReport: true },
  );
  for (const [what, count] of Object.entries(seen)) assert(count > 3, `${what}: ${count}`);
});

test('a pool that comes back to a page is given again, also by who missed it leave', async () => {
  const ask = (listener: number): Step => ({ do: 'ask', client: 0, listener });
  const seen = nothingSeen();
  const launch: Step = { do: 'block', actions: [{ do: 'launch', user: 0, buy: 5 }] };
  const back: Step = { do: 'back', blocks: 1 };
  await follow(seen, [ask(1), launch, ask(0), back, ask(1)], 2160, 100);
  assert(seen.pushed > 0);
});
