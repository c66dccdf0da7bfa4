/**
 * A random market with forks, cuts and restarts, made through the client alone: every mirror is
 * what HTTP says at the same position.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  type Answer,
  type ApiOrder,
  Client,
  type OrdersState,
  type Position,
} from '../../src/client/index.ts';
import type { TickersAnswer } from '../../src/client/types.ts';
import { type Rng, seededRng } from '../../src/engine/runtime/rng.ts';
import { DevnetWorld } from '../e2e/devnet/world.ts';
import { temporaryDirectory } from '../support/server.ts';
import { TcpProxy } from '../support/tcpProxy.ts';
import { Person } from './person.ts';
import { assertSame, barsLikeHttp, type Compared } from './sameAsHttp.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const REPLAY = `SEED=${SEED} node --test test/client/market.slow.test.ts`;
const GATEWAY = { heartbeatMs: 50, sweepMs: 10 };
const ROUNDS = Number(process.env.RUNS ?? 4);
const ACTIONS = 6;
const DEEPEST_FORK = 4;

interface Mirrored<State> {
  readonly state: State;
  readonly position: Position | null;
}

interface Asked {
  readonly data: unknown;
  readonly position: Position | null;
}

/** A mirror beside the call that says the same. */
function likeHttp<State>(
  mirror: Mirrored<State>,
  ask: () => Promise<Asked>,
  shown: (state: State) => unknown = (state) => state,
): Compared {
  return {
    get position() {
      return mirror.position;
    },
    async compare() {
      const { data, position } = await ask();
      return { position, check: () => assert.deepEqual(shown(mirror.state), data) };
    },
  };
}

/** Orders of one second may come in another order; the set of orders is the same. */
function ordersShown({ ledger, mempool, count }: Omit<OrdersState, 'isKnown'>) {
  const ids = (orders: readonly ApiOrder[]) =>
    orders.toSorted((a, b) => (a.entityId < b.entityId ? -1 : 1));
  const seconds = ledger.map(({ timestamp }) => timestamp);
  assert.deepEqual(
    seconds,
    seconds.toSorted((a, b) => b - a),
    'newest first',
  );
  return { ledger: { count, items: ids(ledger) }, mempool: ids(mempool) };
}

function mirrorsOf(client: Client, token: string, person: Person): [string, Compared][] {
  const pair = { base: token, quote: '.' };
  const own = [person.key.hash];
  const orders = async (
    ask: Promise<{ data: Parameters<typeof pageShown>[0]; position: Position | null }>,
  ) => {
    const { data, position } = await ask;
    return { data: pageShown(data), position };
  };
  const tickers = async (ask: Promise<Answer<TickersAnswer>>) => {
    const { data, position } = await ask;
    return { data: data.items, position };
  };
  const lists = [
    'New',
    'Latest',
    'MCapDesc',
    'CompletedCreateOn',
    'CompletedMCap',
    'Trending',
  ] as const;
  return [
    ...lists.map((list): [string, Compared] => [
      list,
      likeHttp(client.pools(list), () => client.pools.list(list)),
    ]),
    ['top pool', likeHttp(client.topPool(), () => client.pools.top())],
    ['pool', likeHttp(client.pool(token), () => client.pools.one(token))],
    ['tickers', likeHttp(client.tickers(), () => tickers(client.tickers.list({})))],
    [
      'ticker',
      likeHttp(client.tickers({ assets: [token] }), () =>
        tickers(client.tickers.ofAssets([token])),
      ),
    ],
    [
      'trades',
      likeHttp(
        client.trades(token),
        () => client.trades.list({ asset: token, limit: 500 }),
        ({ trades }) => trades,
      ),
    ],
    [
      'orders',
      likeHttp(
        client.orders(token),
        () => orders(client.orders.feed({ asset: token })),
        ordersShown,
      ),
    ],
    [
      'orders of a key',
      likeHttp(
        client.orders(token, { pkhs: own }),
        () => orders(client.orders.feed({ asset: token }, own)),
        ordersShown,
      ),
    ],
    [
      'orders of an address',
      likeHttp(
        client.userOrders(person.address),
        () => orders(client.orders.ofKeys(own)),
        ordersShown,
      ),
    ],
    ...(['min1', 'hour1'] as const).flatMap((interval): [string, Compared][] => [
      [interval, barsLikeHttp(client, client.bars(pair, interval), pair, interval)],
      [
        `${interval} of market caps`,
        barsLikeHttp(
          client,
          client.bars(pair, interval, { kind: 'mcap', limit: 2 }),
          pair,
          interval,
          'mcap',
        ),
      ],
    ]),
  ];
}

function pageShown({
  ledger,
  mempool,
}: {
  ledger: { count: number; items: readonly ApiOrder[] };
  mempool: readonly ApiOrder[];
}) {
  return ordersShown({ ledger: ledger.items, mempool, count: ledger.count });
}

/** Does one random action of a trader, the chain or a connection. */
async function act(
  rng: Rng,
  world: DevnetWorld,
  people: readonly Person[],
  tokens: string[],
  proxy: TcpProxy,
) {
  const one = <T>(of: readonly T[]): T => of[Math.floor(rng.unit() * of.length)] ?? assert.fail();
  const [person, token, dice] = [one(people), one(tokens), rng.unit()];
  const amount = 4 + Math.floor(rng.unit() * 20);
  const refused = await attempt(async () => {
    if (dice < 0.35) {
      await person.order({
        assetId: token,
        side: 'BUY',
        amount: `${amount}000000`,
        slippage: 'infinity',
      });
    } else if (dice < 0.5) {
      await person.order({
        assetId: token,
        side: 'SELL',
        amount: `${amount}00000`,
        slippage: '50',
      });
    } else if (dice < 0.6) {
      const { data } = await person.client.orders.openOfKeys([person.key.hash]);
      const [open] = data.ledger.items;
      if (open !== undefined) await person.cancel(open);
    } else if (dice < 0.75) await world.mine(1 + Math.floor(rng.unit() * 40));
    else if (dice < 0.85)
      await world.fork(
        1 + Math.floor(rng.unit() * DEEPEST_FORK),
        rng.unit() < 0.5 ? 'all' : 'none',
      );
    else if (dice < 0.95) proxy.cut();
    else tokens.push(await person.launch(`Coin ${tokens.length}`));
  });
  return refused;
}

/**
 * The message if the API refused it, which may happen: the funds of a wallet depend on the blocks
 * that were rolled back.
 */
async function attempt(run: () => Promise<void>): Promise<string | null> {
  try {
    await run();
    return null;
  } catch (error) {
    if (error instanceof Error && error.name === 'ApiError') return error.message;
    throw error;
  }
}

async function begin(t: TestContext, directory: string): Promise<DevnetWorld> {
  return await DevnetWorld.start(t, { directory, gateway: GATEWAY });
}

test('every mirror is what HTTP says at the same position', async (t) => {
  t.diagnostic(`seed ${SEED}; again: ${REPLAY}`);
  const rng = seededRng(SEED);
  const directory = temporaryDirectory();
  let world = await begin(t, directory);
  const proxy = await TcpProxy.start(t, world.port);
  const clients = (['json', 'msgpack'] as const).map(
    (encoding) => new Client({ url: proxy.url, encoding }),
  );
  t.after(() => {
    for (const client of clients) client.close();
  });
  const people = clients.map((client) => new Person(client));
  for (const person of people) await person.fund(900, 6, () => world.mine());
  const [first, second] = people;
  assert(first !== undefined && second !== undefined);
  const tokens = [await first.launch('First')];
  // Mirrors of a token that is in no block yet.
  const compared = mirrorsOf(first.client, tokens[0] ?? '', first);
  await world.mine();
  tokens.push(await second.launch('Second'));
  await world.mine();
  compared.push(...mirrorsOf(second.client, tokens[1] ?? '', second));
  // More blocks than all forks together undo, so no rollback removes the launches that are
  // compared.
  await world.mine(ROUNDS * ACTIONS * DEEPEST_FORK);
  let [done, refusals] = [0, 0];
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (let action = 0; action < ACTIONS; action += 1) {
      const refused = await act(rng, world, people, tokens, proxy);
      if (refused === null) done += 1;
      else refusals += 1;
    }
    await world.mine();
    if (round === ROUNDS - 1) {
      await world.app.stop();
      world = await begin(t, directory);
      proxy.target = world.port;
    }
    for (const [name, mirror] of compared) await assertSame(mirror, `${name} in round ${round}`);
  }
  t.diagnostic(`${done} actions, ${refusals} refused`);
  assert(done > ROUNDS * 2, 'most of it happened');
});
