/** NewLaunches: from the mempool into a block and back, for all and for one author. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendBlock, appendMempool } from '../../chain/foldChain.ts';
import type { Action, MadeBlock } from '../../chain/foldMarket.ts';
import { ownerOf } from '../../chain/foldState.ts';
import type { Scope } from '../../support/server.ts';
import { recordOf } from '../../support/subscription.ts';
import { until } from '../../support/until.ts';
import { Listener, type MarketApi, openMarketApi } from '../marketApi.ts';

const launchBy = (user: number): Action => ({ do: 'launch', user, buy: 5 });

/**
 * The state of a client that applies the frames: state by asset, and in `events` everything that
 * came.
 */
class Launches {
  readonly #listener: Listener;
  readonly #api: MarketApi;
  /** In the order in which they were first seen. */
  readonly #names: string[] = [];

  private constructor(api: MarketApi, listener: Listener) {
    this.#api = api;
    this.#listener = listener;
  }

  static async open(scope: Scope, api: MarketApi, data: object): Promise<Launches> {
    return new Launches(api, await Listener.open(scope, api, 'NewLaunches', data));
  }

  get events(): string[] {
    return this.#listener.frames
      .filter(({ event }) => event === 'NewLaunchesUpdate')
      .flatMap(({ data }) => (Array.isArray(data) ? data : assert.fail('rows')))
      .map((row) => {
        const { asset, pending, removed } = recordOf(row);
        const index = this.#indexOf(String(asset));
        if (removed === true) return `${index} removed`;
        return `${index} ${pending === true ? 'pending' : 'in a block'}`;
      });
  }

  #indexOf(asset: string): number {
    if (!this.#names.includes(asset)) this.#names.push(asset);
    return this.#names.indexOf(asset);
  }

  async see(...events: string[]): Promise<void> {
    await until(
      () => `${events}, not ${this.events}`,
      () => this.events.length >= events.length,
    );
    assert.deepEqual(this.events, events);
    assert.deepEqual(this.#api.faults, []);
  }
}

const idOf = (block: MadeBlock) => block.events[0]?.tx ?? assert.fail('a transaction');

async function pend(api: MarketApi, block: MadeBlock): Promise<void> {
  const { fold } = api.world;
  await appendMempool(api.world, {
    seenMs: fold.marketMs,
    whole: false,
    added: [{ id: idOf(block), events: block.events }],
    removed: [],
  });
}

test('a launch comes when it is pending, in its block, and when a fork undoes it', async (t) => {
  const api = await openMarketApi(t);
  await api.block([]);
  const all = await Launches.open(t, api, {});
  const own = await Launches.open(t, api, { author: ownerOf(2).toUpperCase() });
  const other = await Launches.open(t, api, { author: ownerOf(3) });
  const none = await Launches.open(t, api, { assetType: 'AI' });
  const block = api.maker.block([launchBy(2)], 20_000);
  await pend(api, block);
  await all.see('0 pending');
  await appendBlock(api.world, block, { settled: [idOf(block)] });
  await all.see('0 pending', '0 in a block');
  await api.back(1);
  await all.see('0 pending', '0 in a block', '0 removed');
  await own.see('0 pending', '0 in a block', '0 removed');
  assert.deepEqual(other.events, [], 'of another author');
  assert.equal(none.events.includes('0 pending'), false);
  await pend(api, block);
  await all.see('0 pending', '0 in a block', '0 removed', '0 pending');
});

test('a launch that leaves the mempool without a block is removed', async (t) => {
  const api = await openMarketApi(t);
  await api.block([]);
  const all = await Launches.open(t, api, {});
  const block = api.maker.block([launchBy(1)], 20_000);
  api.maker.back(1);
  await pend(api, block);
  await all.see('0 pending');
  const removed = [{ id: idOf(block), reason: 'gone' }];
  const { marketMs: seenMs } = api.world.fold;
  await appendMempool(api.world, { seenMs, whole: false, added: [], removed });
  await all.see('0 pending', '0 removed');
});

test('a snapshot has pending launches first, then the newest in blocks', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(1)]);
  await api.block([launchBy(2), { do: 'execute', pool: 0 }]);
  const block = api.maker.block([launchBy(1)], 20_000);
  api.maker.back(1);
  await pend(api, block);
  const all = await Launches.open(t, api, {});
  await all.see('0 pending', '1 in a block', '2 in a block');
  const own = await Launches.open(t, api, { author: ownerOf(2) });
  await own.see('0 in a block');
});
