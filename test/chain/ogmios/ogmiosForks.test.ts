/** Random chains with forks, faults and lost connections, through the fake: one stream. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { emptyBlocks } from '../../support/ogmios/blocks.ts';
import { startFakeOgmios } from '../../support/ogmios/scene.ts';
import type { FakeOgmios } from '../../support/ogmios/server.ts';
import { untilSeen } from '../../support/untilSeen.ts';
import { remembering, startOgmios } from './ogmiosWorld.ts';
import { StreamModel } from './streamModel.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000);

const step = fc.oneof(
  fc.record({ do: fc.constant('extend' as const), blocks: fc.integer({ min: 1, max: 40 }) }),
  fc.record({
    do: fc.constant('fork' as const),
    depth: fc.integer({ min: 1, max: 60 }),
    blocks: fc.integer({ min: 0, max: 60 }),
  }),
  fc.record({ do: fc.constant('drop' as const) }),
  fc.record({ do: fc.constant('cut' as const), after: fc.nat(20) }),
  fc.record({ do: fc.constant('garbage' as const), after: fc.nat(20) }),
  fc.record({ do: fc.constant('away' as const), depth: fc.nat(30), blocks: fc.nat(30) }),
  fc.record({ do: fc.constant('check' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

let salt = 0;

function fork({ chain }: FakeOgmios, depth: number, blocks: number): void {
  salt += 1;
  const left = Math.max(0, chain.length - depth);
  const fresh = emptyBlocks(chain.blockAt(left) ?? null, blocks, `fork ${salt}`);
  chain.fork(chain.length - left, fresh);
}

async function perform(each: Step, fake: FakeOgmios, model: StreamModel): Promise<void> {
  const { chain, faults } = fake;
  if (each.do === 'extend') chain.extend(...emptyBlocks(chain.tip, each.blocks, `${salt}`));
  else if (each.do === 'fork') fork(fake, each.depth, each.blocks);
  else if (each.do === 'drop') fake.dropAll();
  else if (each.do === 'cut') faults.nextBlock({ kind: 'cut' }, each.after);
  else if (each.do === 'garbage') {
    faults.nextBlock({ kind: 'garbage', text: '{"jsonrpc":' }, each.after);
  } else if (each.do === 'away') {
    faults.refuse();
    fake.dropAll();
    fork(fake, each.depth, each.blocks);
    faults.accept();
  } else await model.same(chain);
}

test('whatever the chain and the network do, the stream is the chain', {
  timeout: 180_000,
}, async (t) => {
  t.diagnostic(`seed ${SEED}; again: SEED=${SEED} node --test ${import.meta.filename}`);
  const fake = await startFakeOgmios(t);
  const observer = remembering();
  const chain = await startOgmios(t, fake.url, { observer });
  const model = await StreamModel.open(t, chain);
  const seen = { backs: 0, lost: 0 };
  const steps = fc.array(step, { minLength: 5, maxLength: 25 });
  await untilSeen(seen, (round) =>
    fc.assert(
      fc.asyncProperty(steps, async (list) => {
        for (const each of list) await perform(each, fake, model);
        await model.same(fake.chain);
        seen.backs = model.backs;
        seen.lost = observer.lost.length;
      }),
      { seed: SEED + round, numRuns: 12, endOnFailure: true, includeErrorInReport: true },
    ),
  );
  assert.ok(model.wholes > 0, 'the mempool is reported again after forks');
});

test('a fork of 2160 blocks, read and unread, and one while the connection is lost', {
  timeout: 120_000,
}, async (t) => {
  const fake = await startFakeOgmios(t);
  fake.chain.extend(...emptyBlocks(null, 2_600));
  const chain = await startOgmios(t, fake.url);
  const model = await StreamModel.open(t, chain);
  await model.same(fake.chain);
  fork(fake, 2_160, 2_200);
  await model.same(fake.chain);
  assert.equal(model.backs, 1);
  fake.faults.refuse();
  fake.dropAll();
  fork(fake, 1_937, 1_940);
  fake.faults.accept();
  await model.same(fake.chain);
  assert.equal(model.backs, 2, 'no further back than it must');
});

test('further back than is remembered: it says so, and what is looked for is asked again', {
  timeout: 120_000,
}, async (t) => {
  const fake = await startFakeOgmios(t);
  fake.chain.extend(...emptyBlocks(null, 50));
  let asked = 0;
  const chain = await startOgmios(t, fake.url, {
    watched() {
      asked += 1;
      return { tokens: [], watched: [] };
    },
  });
  const points = fake.chain.blocks.map(({ id, slot }) => ({ hash: id, slot: Number(slot) }));
  const all = await StreamModel.open(t, chain);
  await all.same(fake.chain);
  const model = await StreamModel.open(t, chain, points.toReversed());
  model.blocks.push(...all.blocks);
  await model.until('it was told of the mempool', () => model.wholes > 0);
  assert.equal(asked, 2);
  fork(fake, 20, 25);
  await model.same(fake.chain);
  await all.same(fake.chain);
  assert.deepEqual([model.backs, all.backs, asked], [1, 1, 3]);
});
