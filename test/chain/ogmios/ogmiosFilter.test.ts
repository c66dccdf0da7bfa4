/**
 * Transactions that the filter drops mean nothing to the market: the events with and without the
 * filter are the same.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { WatchSource } from '../../../src/chain/ogmios/ogmios.ts';
import type {
  Block,
  ChainEvent,
  ChainSource,
  ChainStream,
  Point,
} from '../../../src/chain/port.ts';
import { recogniseBlock } from '../../../src/chain/recognise/block.ts';
import { BlockState, type KnownState } from '../../../src/chain/recognise/knownState.ts';
import { servedTransaction } from '../../../src/devnet/ogmios/transactionJson.ts';
import type { MarketEvent } from '../../../src/engine/market/events.ts';
import { emptyBlocks, praosBlock } from '../../support/ogmios/blocks.ts';
import type { FakeTransaction } from '../../support/ogmios/chain.ts';
import { startFakeOgmios } from '../../support/ogmios/scene.ts';
import type { FakeOgmios } from '../../support/ogmios/server.ts';
import type { Scope } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { untilSeen } from '../../support/untilSeen.ts';
import { deployment, RULES } from '../recogniseWorld.ts';
import { type Action, DEEDS, type Holdings, NO_HOLDINGS, perform } from './busyMarket.ts';
import { startOgmios } from './ogmiosWorld.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000);

const NOTHING: KnownState = {
  pool: () => null,
  order: () => null,
  lock: () => null,
  isWatched: () => false,
};

interface Understood {
  readonly point: Point;
  readonly transactions: number;
  readonly events: readonly MarketEvent[];
}

/** A follower that only recognises events. */
class Recogniser {
  blocks: Understood[] = [];
  transactions = 0;
  failure: unknown = null;
  #stream: ChainStream | null = null;
  #reading: Promise<void> = Promise.resolve();

  async open(source: ChainSource): Promise<void> {
    await this.#stream?.close();
    await this.#reading;
    const points = this.blocks.map(({ point }) => point).reverse();
    const resumed = await source.open(points);
    if (resumed === null) this.blocks = [];
    const stream = resumed ?? (await source.open([]));
    assert.ok(stream);
    this.#stream = stream;
    this.#reading = this.#read(stream).catch((error: unknown) => {
      this.failure = error;
    });
  }

  async close(): Promise<void> {
    await this.#stream?.close();
    await this.#reading;
    assert.equal(this.failure, null);
  }

  get #market(): BlockState {
    const market = new BlockState(NOTHING);
    for (const { events } of this.blocks) for (const event of events) market.apply(event);
    return market;
  }

  seen(): WatchSource {
    const events = this.blocks.flatMap((block) => block.events);
    const spent = new Set(events.flatMap((each) => (each.kind === 'spent' ? [each.ref] : [])));
    return {
      tokens: events.flatMap((each) => (each.kind === 'launched' ? [each.pool.token] : [])),
      watched: events.flatMap((each) =>
        each.kind === 'made' && !spent.has(each.ref) ? [each.ref] : [],
      ),
    };
  }

  async #read(stream: ChainStream): Promise<void> {
    for (let event = await stream.next(); event !== null; event = await stream.next()) {
      if (event.kind === 'back') {
        const hash = event.point?.hash;
        const at = this.blocks.findLastIndex(({ point }) => point.hash === hash);
        assert.ok(at >= 0 || hash === undefined);
        this.blocks = this.blocks.slice(0, at + 1);
      } else if (event.kind === 'forward') {
        const { point, transactions, txIndexes: places } = event.block;
        const events = recogniseBlock(point.slot, transactions, this.#market, RULES, places);
        this.blocks.push({ point, transactions: transactions.length, events });
        this.transactions += transactions.length;
      }
    }
  }
}

const action = fc.record({ action: fc.constantFrom(...DEEDS), at: fc.nat(1_000) });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.array(action, { maxLength: 8 }) },
  // With `again` the same transactions come in another block.
  {
    weight: 2,
    arbitrary: fc.record({ back: fc.integer({ min: 1, max: 8 }), again: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.constantFrom('reopen' as const, 'drop' as const) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class World {
  readonly fake: FakeOgmios;
  readonly all = new Recogniser();
  readonly few = new Recogniser();
  /** Transactions of each block, and the outputs that could be spent after it. */
  #mined: { readonly transactions: FakeTransaction[]; readonly holdings: Holdings }[] = [];
  #salt = 0;

  constructor(fake: FakeOgmios) {
    this.fake = fake;
  }

  async perform(step: Step, sources: { all: ChainSource; few: ChainSource }): Promise<void> {
    const { chain } = this.fake;
    if (step === 'drop') this.fake.dropAll();
    else if (step === 'reopen') await this.few.open(sources.few);
    else if ('back' in step) {
      // The first block stays: a stream that begins behind it has no other point to go back to.
      const left = Math.min(chain.length, Math.max(1, chain.length - step.back));
      this.#salt += 1;
      chain.fork(chain.length - left);
      const taken = this.#mined.splice(left);
      const last = taken.at(-1);
      if (step.again && last !== undefined) {
        this.#extend(
          taken.flatMap(({ transactions }) => transactions),
          last.holdings,
        );
      }
    } else this.#mine(step);
  }

  #mine(actions: readonly { readonly action: Action; readonly at: number }[]): void {
    let holdings = this.#mined.at(-1)?.holdings ?? NO_HOLDINGS;
    const transactions = actions.map(({ action: kind, at }) => {
      const { tx, left } = perform(kind, at, holdings);
      holdings = left;
      return servedTransaction(tx);
    });
    this.#extend(transactions, holdings);
  }

  #extend(transactions: FakeTransaction[], holdings: Holdings): void {
    const { chain } = this.fake;
    const salt = `${this.#salt} ${chain.length}`;
    chain.extend(praosBlock(chain.tip, { salt, transactions }));
    this.#mined.push({ transactions, holdings });
  }

  async agree(): Promise<void> {
    const { tip } = this.fake.chain;
    const isThere = ({ blocks, failure }: Recogniser) =>
      failure !== null || blocks.at(-1)?.point.hash === tip?.id;
    await until('both are at the tip', () => isThere(this.all) && isThere(this.few));
    assert.deepEqual([this.all.failure, this.few.failure], [null, null]);
    const meanings = ({ blocks }: Recogniser) => blocks.map(({ point, events }) => [point, events]);
    assert.deepEqual(meanings(this.few), meanings(this.all));
  }
}

async function startWorld(scope: Scope): Promise<[World, { all: ChainSource; few: ChainSource }]> {
  const world = new World(await startFakeOgmios(scope));
  const all = await startOgmios(scope, world.fake.url);
  const seen = () => world.few.seen();
  const few = await startOgmios(scope, world.fake.url, { deployment, watched: seen });
  return [world, { all, few }];
}

test('the market is the same with and without what is left out, over forks and reopenings', {
  timeout: 180_000,
}, async (t) => {
  t.diagnostic(`seed ${SEED}; again: SEED=${SEED} node --test ${import.meta.filename}`);
  const [world, sources] = await startWorld(t);
  await world.all.open(sources.all);
  await world.few.open(sources.few);
  const kinds = ['launched', 'placed', 'cancelled', 'filled', 'made', 'spent', 'locked'] as const;
  const seen: Record<string, number> = Object.fromEntries(kinds.map((kind) => [kind, 0]));
  await untilSeen(seen, (round) =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
        for (const each of steps) await world.perform(each, sources);
        await world.agree();
        for (const { events } of world.all.blocks) {
          for (const { kind } of events) if (kind in seen) seen[kind] = (seen[kind] ?? 0) + 1;
        }
      }),
      { seed: SEED + round, numRuns: 10, endOnFailure: true, includeErrorInReport: true },
    ),
  );
  assert.ok(world.few.transactions < world.all.transactions, 'something is left out');
  await world.all.close();
  await world.few.close();
});

test('empty blocks come with all that they have', { timeout: 120_000 }, async (t) => {
  const [{ fake }, { few }] = await startWorld(t);
  fake.chain.extend(...emptyBlocks(null, 5));
  const stream = await few.open([]);
  assert.ok(stream);
  for (const { id, slot, height } of fake.chain.blocks) {
    const event: ChainEvent | null = await stream.next();
    assert.ok(event?.kind === 'forward');
    const { point, transactions, timeMs, height: told }: Block = event.block;
    assert.deepEqual([point, told], [{ hash: id, slot: Number(slot) }, Number(height)]);
    assert.deepEqual(transactions, []);
    const startMs = Date.parse(fake.facts.startTime);
    assert.equal(timeMs, startMs + Number(slot) * 20_000, 'slots of Byron have 20 s');
  }
  await stream.close();
});
