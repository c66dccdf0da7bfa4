/** Random lives of a market with a mempool. */
import { join } from 'node:path';
import fc from 'fast-check';
import { FoldWorld, type FoldWorldOptions, NEVER_MS } from '../support/foldWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import type { Action } from './foldMarket.ts';
import { MempoolMarket, type Step } from './mempoolMarket.ts';

const user = fc.nat(3);
const pool = fc.nat(3);
const index = fc.nat(20);

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constant('launch' as const), user, buy: fc.nat(60) }),
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('place' as const),
      user,
      pool,
      side: fc.constantFrom('buy' as const, 'buy', 'sell'),
      amount: fc.constantFrom(10, 20, 100),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('execute' as const), pool }) },
  fc.record({ do: fc.constantFrom('refund' as const, 'cancel'), index }),
);

export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('plan' as const),
      actions: fc.array(action, { maxLength: 6 }),
      afterMs: fc.constantFrom(1_000, 61_000),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('announce' as const), count: fc.nat(4) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('confirm' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('false' as const), user, pool, ends: fc.nat(40) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('remove' as const, 'replace'), index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('whole' as const), keeps: fc.nat(255) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('back' as const), blocks: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('pass' as const, 'restart', 'crash') }) },
);

export const anyOptions: fc.Arbitrary<Partial<FoldWorldOptions>> = fc.record({
  horizonBlocks: fc.constantFrom(3, 2160, 2160),
  commitEveryMs: fc.constantFrom(0, NEVER_MS),
});

/** Sets up two pools, the second about to graduate; then takes the steps. */
export async function inMarket(
  options: Partial<FoldWorldOptions>,
  steps: readonly Step[],
  look: (market: MempoolMarket) => void | Promise<void>,
  seen: Map<string, number> = new Map(),
): Promise<void> {
  const ends: (() => unknown)[] = [];
  const scope = { after: (end: () => unknown) => void ends.push(end) };
  const directory = join(temporaryDirectory(), 'data');
  const market = new MempoolMarket(await FoldWorld.open(scope, directory, options));
  try {
    await look(market);
    await market.block([
      { do: 'launch', user: 0, buy: 190 },
      { do: 'launch', user: 1, buy: 0 },
      { do: 'place', user: 1, pool: 0, side: 'buy', amount: 13 },
    ]);
    await market.block([{ do: 'execute', pool: 0 }]);
    await look(market);
    for (const step of steps) {
      await market.perform(step);
      await look(market);
    }
    for (const [what, count] of market.counts) seen.set(what, (seen.get(what) ?? 0) + count);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
