/** Following that begins in the middle: pools are taken over, and no trade is made up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { asValue } from '../../src/cardano/codec/value.ts';
import { ammData } from '../../src/cardano/datums/datums.ts';
import { dataHex } from '../../src/cardano/transactions/plan.ts';
import { recogniseBlock } from '../../src/chain/recognise/block.ts';
import type { MarketEvent } from '../../src/engine/market/events.ts';
import { MiddleMarket, NOTHING, REAL, recognised, type Step } from './middleMarket.ts';
import {
  ADA,
  ALICE,
  aliceText,
  atScript,
  deployment,
  eventOf,
  launchOf,
  RULES,
  someRef,
  transaction,
} from './recogniseWorld.ts';

function marketOf(...steps: Step[]): MiddleMarket {
  const market = new MiddleMarket();
  for (const step of steps) market.perform(step);
  return market;
}

const BUY: Step = { do: 'order', pool: 0, side: 'buy', size: 20 };
const EXECUTE: Step = { do: 'execute', pool: 0, most: 9 };
const BLOCK: Step = { do: 'block' };

test('a pool that was never seen is taken over where it lies, without a trade', () => {
  const market = marketOf({ do: 'launch' }, BUY, BLOCK, EXECUTE, BLOCK, BUY, BLOCK, EXECUTE);
  const whole = recognised(market.blocks, 0);
  const events = recognised(market.blocks, 1);
  const { pool } = eventOf(events, 'adopted');
  const launched = eventOf(whole, 'launched').pool;
  assert.deepEqual(
    { ...pool, seed: null, author: null, ticker: null, description: null, logoCID: null },
    {
      ...{ ...launched, seed: null, author: null, ticker: null, description: null, logoCID: null },
      metadataRef: null,
    },
  );
  const ofFirst = events.filter(({ tx }) => tx === events[0]?.tx).map(({ kind }) => kind);
  assert.deepEqual(ofFirst, ['adopted', 'moved', 'made', 'made']);
  assert.deepEqual(eventOf(events, 'moved'), whole.filter(({ kind }) => kind === 'moved')[1]);
  const later = (all: MarketEvent[]) => all.filter(({ kind }) => kind === 'filled').at(-1);
  assert.deepEqual(later(events), later(whole));
});

test('a pool that trades on the AMM is taken over with its creator', () => {
  const { token, nft } = launchOf('Graduated');
  const data = ammData({
    ...{ nft, token, lpFeePer10k: 15n, executor: deployment.executorKeyHash },
    creatorPkh: ALICE.payment.hash,
    creatorSkh: ALICE.stake.hash,
    owedLovelace: 2n * ADA,
    settings: deployment.settings.policyId,
  });
  const value = asValue(18_000n * ADA, [
    [nft, 1n],
    [token, 260_000_000n],
  ]);
  const output = { address: atScript('ammPool'), value, datum: dataHex(data) };
  const tx = transaction({ inputs: [someRef()], outputs: [output] });
  const events = recogniseBlock(7, [tx], NOTHING, REAL);
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['adopted', 'graduated', 'moved', 'made'],
  );
  assert.equal(eventOf(events, 'adopted').pool.author.address, aliceText);
  const { to } = eventOf(events, 'moved');
  assert.deepEqual(to, { venue: 'AMM', x: '17995000000', y: '260000000', owed: '2000000' });
});

test('a look-alike is not taken over, and nothing is on a chain of our own', () => {
  const bad = [
    { datum: { witness2: '5c'.repeat(28) } },
    { datum: { capLovelace: 5n } },
    { tokenPolicy: '5c'.repeat(28) },
    { nftPolicy: '5c'.repeat(28) },
    { nftInPool: 2n },
    { address: atScript('curvePool', ALICE.stake) },
    { address: atScript('order') },
    { data: null },
  ];
  const movedOn = (launch: ReturnType<typeof launchOf>) =>
    transaction({ inputs: [launch.pool], outputs: launch.tx.outputs.slice(0, 1).map(asPlan) });
  for (const change of bad) {
    assert.deepEqual(recogniseBlock(7, [movedOn(launchOf('Bad', change))], NOTHING, REAL), []);
  }
  const honest = movedOn(launchOf('Good'));
  assert.equal(recogniseBlock(7, [honest], NOTHING, REAL)[0]?.kind, 'adopted');
  assert.deepEqual(recogniseBlock(7, [honest], NOTHING, RULES), []);
  const refused = launchOf('Refused', { supply: 999n });
  assert.deepEqual(recogniseBlock(7, [refused.tx], NOTHING, REAL), []);
});

function asPlan({
  address,
  value,
  datum,
}: {
  address: string;
  value: ReturnType<typeof asValue>;
  datum: string | null;
}) {
  return { address, value, ...(datum === null ? {} : { datum }) };
}

const place = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'launch' }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('order' as const),
      pool: place,
      side: fc.constantFrom('buy' as const, 'sell' as const),
      size: fc.integer({ min: 1, max: 90 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('execute' as const),
      pool: place,
      most: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('foreign' as const),
      pool: place,
      size: fc.integer({ min: 1, max: 50 }),
    }),
  },
  { weight: 4, arbitrary: fc.constant<Step>(BLOCK) },
);

function groups(events: readonly MarketEvent[]): Map<string, MarketEvent[]> {
  return Map.groupBy(events, ({ tx }) => tx);
}

const ofPools = ({ kind }: MarketEvent) => kind === 'filled' || kind === 'moved';

test('from the middle on, every fill is the one that is seen from the beginning', () => {
  const counts = { same: 0, adopted: 0, merged: 0 };
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), fc.nat(), (steps, at) => {
      const { blocks } = marketOf({ do: 'launch' }, BUY, ...steps);
      const first = at % blocks.length;
      const whole = groups(recognised(blocks, 0));
      const known = new Set<string>();
      for (const [tx, events] of groups(recognised(blocks, first))) {
        const truth = whole.get(tx) ?? [];
        const adopted = events.filter(({ kind }) => kind === 'adopted');
        for (const event of events) if (event.kind === 'placed') known.add(event.order.ref);
        if (adopted.length > 0) {
          counts.adopted += adopted.length;
          assert.ok(!events.some(({ kind }) => kind === 'filled'), 'no trade is made up');
          assert.deepEqual(movesOf(events), movesOf(truth));
          continue;
        }
        const fills = truth.filter((event) => event.kind === 'filled');
        const isKnown = fills.every(({ order }) => order === null || known.has(order));
        if (isKnown) {
          assert.deepEqual(events.filter(ofPools), truth.filter(ofPools));
          counts.same += fills.length;
        } else {
          // Orders from before are not known: then the pool's own movement is the trade.
          assert.deepEqual(movesOf(events), movesOf(truth));
          assert.equal(netOf(events), netOf(truth));
          for (const event of events) {
            // No order is credited with what others moved with it.
            if (event.kind === 'filled' && event.order !== null) {
              assert.ok(
                fills.some((fill) => isDeepStrictEqual(fill, event)),
                event.order,
              );
            }
          }
          counts.merged += 1;
        }
      }
    }),
    { numRuns: 150 },
  );
  for (const [what, count] of Object.entries(counts)) assert.ok(count > 0, `${what} happened`);
});

function movesOf(events: readonly MarketEvent[]): MarketEvent[] {
  return events.filter(({ kind }) => kind === 'moved');
}

function netOf(events: readonly MarketEvent[]): bigint {
  let sum = 0n;
  for (const event of events) {
    if (event.kind === 'filled') sum += BigInt(event.tokens) * (event.side === 'buy' ? 1n : -1n);
  }
  return sum;
}
