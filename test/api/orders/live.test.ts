/**
 * Real sockets over a real port while a market with a mempool lives and forks: clients of every
 * cadence that come and go with `since`, each by the client rule only. Whenever it is quiet they
 * have what HTTP has. Replay a failure: put the printed `{ seed, path }` into `fc.assert`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ownerOf } from '../../chain/foldState.ts';
import { MempoolMarket, type Step } from '../../chain/mempoolMarket.ts';
import { anyStep } from '../../chain/mempoolSteps.ts';
import { answerOf } from '../../e2e/devnet/world.ts';
import { seedOf, untilSeen } from '../../support/untilSeen.ts';
import { type MarketApi, openMarketApi } from '../marketApi.ts';
import { FEED, HISTORY, keyAddress } from './offer.ts';
import { OrderSubscription, type Stand } from './orderSubscription.ts';

type Act =
  | Step
  | { readonly do: 'away' | 'back again'; readonly subscription: number }
  | { do: 'quiet' };

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 12, arbitrary: anyStep },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('away' as const, 'back again'),
      subscription: fc.nat(4),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'quiet' as const }) },
);

function standOf({ port, url }: MarketApi): Stand {
  const headers = { 'content-type': 'application/json' };
  return {
    port,
    async post(path, body) {
      const sent = { method: 'POST', headers, body: JSON.stringify(body) };
      return answerOf(await fetch(url + path, sent));
    },
  };
}

const [ANN, BEN] = [ownerOf(0), ownerOf(1)];

function subscriptionsOf(asset: string): OrderSubscription[] {
  const feed = { topic: 'LiveOrdersFeed', data: { asset }, path: `${FEED}?asset=${asset}` };
  const some = { ...feed, data: { asset, pkhFilter: [ANN, BEN] }, body: [ANN, BEN] };
  const address = keyAddress(BEN);
  const mine = { topic: 'UserHistoryByAddress', data: { address }, path: HISTORY, body: [BEN] };
  const both = {
    topic: 'UserHistoryByAddressAndAsset',
    data: { address, asset },
    path: `${HISTORY}/by/asset?asset=${asset}`,
    body: [BEN],
  };
  return [
    new OrderSubscription({ ...feed, body: null }, false),
    new OrderSubscription({ ...feed, body: null, maxHz: 10 }, true),
    new OrderSubscription(some, true),
    new OrderSubscription({ ...mine, maxHz: 20 }, false),
    new OrderSubscription(both, true),
  ];
}

async function live(acts: readonly Act[], counts: { revised: number; returns: number }) {
  const ends: (() => unknown)[] = [];
  const scope = { after: (end: () => unknown) => void ends.push(end) };
  try {
    const api = await openMarketApi(scope);
    const stand = standOf(api);
    const market = new MempoolMarket(api.world);
    await market.block([
      { do: 'launch', user: 0, buy: 190 },
      { do: 'launch', user: 1, buy: 0 },
    ]);
    const subscriptions = subscriptionsOf([...market.maker.state.pools.keys()][0] ?? '');
    for (const subscription of subscriptions) await subscription.connect(scope, stand);
    const there = new Set(subscriptions);
    const quiet = async () => {
      for (const subscription of there) await subscription.untilSame(stand);
    };
    for (const each of acts) {
      if (each.do === 'quiet') await quiet();
      else if ('subscription' in each) {
        const subscription = subscriptions[each.subscription];
        if (subscription === undefined) continue;
        subscription.close();
        there.delete(subscription);
        if (each.do === 'away') continue;
        counts.returns += 1;
        await subscription.connect(scope, stand);
        there.add(subscription);
      } else if (each.do !== 'restart' && each.do !== 'crash') {
        // The first launch stays: its feed is asked for.
        const { length } = market.facts.blocks;
        const blocks = each.do === 'back' ? Math.min(each.blocks, length - 1) : 0;
        await market.perform(each.do === 'back' ? { do: 'back', blocks } : each);
      }
    }
    for (const subscription of subscriptions) {
      if (!there.has(subscription)) await subscription.connect(scope, stand);
      there.add(subscription);
    }
    await quiet();
    for (const { snapshots, revised } of subscriptions) {
      assert.equal(snapshots, 1, 'since is always enough');
      counts.revised += revised.length;
    }
    assert.deepEqual(api.faults, []);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

test('clients that come and go have what HTTP has, each at its own pace', async () => {
  const counts = { revised: 0, returns: 0 };
  const property = fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 40 }), (acts) =>
    live(acts, counts),
  );
  const numRuns = Number(process.env.RUNS ?? 10);
  await untilSeen(counts, (round) =>
    fc.assert(property, {
      ...seedOf(round),
      numRuns,
      includeErrorInReport: true,
      endOnFailure: true,
    }),
  );
});
