/** Blocks of every era, hard forks, and the node's answers about slots, time and parameters. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eraOf, slotAt, slotStartMs } from '../../../src/cardano/codec/slots.ts';
import { readParameters } from '../../../src/cardano/ledger/ogmiosParameters.ts';
import { readEras } from '../../../src/chain/ogmios/eras.ts';
import {
  ERAS,
  type EraConfig,
  eraSummaries,
  oneEra,
} from '../../../src/devnet/ogmios/networkFacts.ts';
import { servedTransaction } from '../../../src/devnet/ogmios/transactionJson.ts';
import { jsonText } from '../../../src/engine/runtime/exactJson.ts';
import { boundaryBlock, byronBlock, emptyBlocks, praosBlock } from '../../support/ogmios/blocks.ts';
import type { FakeBlock } from '../../support/ogmios/chain.ts';
import { MAINNET_ERAS, MAINNET_START } from '../../support/ogmios/mainnetEras.ts';
import { MAINNET_FACTS } from '../../support/ogmios/node.ts';
import { startFakeOgmios } from '../../support/ogmios/scene.ts';
import { PARAMETERS } from '../../support/parameters.ts';
import { until } from '../../support/until.ts';
import { orderOf } from '../recogniseWorld.ts';
import { startOgmios } from './ogmiosWorld.ts';
import { StreamModel } from './streamModel.ts';

const START_MS = Date.parse(MAINNET_START);

/** Two of Byron with the block between epochs, then the first two of each era. */
function blocksOfAllEras(): FakeBlock[] {
  const blocks: FakeBlock[] = [boundaryBlock(null, 0)];
  const add = (make: (parent: FakeBlock | null) => FakeBlock) => {
    blocks.push(make(blocks.at(-1) ?? null));
  };
  add((parent) => byronBlock(parent, { slot: 1, height: 1n }));
  add((parent) => byronBlock(parent, { slot: 21_599 }));
  add((parent) => boundaryBlock(parent, 21_600));
  add((parent) => byronBlock(parent, { slot: 21_601 }));
  const transactions = [servedTransaction(orderOf('.', 'buy').tx)];
  for (const { era, startSlot } of MAINNET_ERAS) {
    if (era === 'byron') continue;
    add((parent) => praosBlock(parent, { era, slot: startSlot }));
    add((parent) => praosBlock(parent, { era, slot: startSlot + 20, transactions }));
  }
  return blocks;
}

test('blocks of every era come with their times; blocks between epochs are not reported', {
  timeout: 120_000,
}, async (t) => {
  const fake = await startFakeOgmios(t);
  const all = blocksOfAllEras();
  fake.chain.extend(...all);
  const chain = await startOgmios(t, fake.url);
  const model = await StreamModel.open(t, chain);
  await model.same(fake.chain);
  assert.equal(model.blocks.length, all.length - 2);
  for (const { point, timeMs } of model.blocks) {
    const { startSlot, startSeconds, slotLengthMs } =
      MAINNET_ERAS.findLast((era) => era.startSlot <= point.slot) ?? assert.fail('no era');
    assert.equal(timeMs, START_MS + startSeconds * 1000 + (point.slot - startSlot) * slotLengthMs);
  }
  // Known from elsewhere: mainnet's first block of Shelley, and of Conway.
  const at = (slot: number) => model.blocks.find(({ point }) => point.slot === slot)?.timeMs;
  assert.equal(at(4_492_800), Date.parse('2020-07-29T21:44:51Z'));
  assert.equal(at(133_660_800), Date.parse('2024-09-01T21:44:51Z'));
  assert.equal(chain.eras().length, ERAS.length);
  assert.equal(chain.slots().slotLengthMs, 1000);
  assert.equal(slotAt(chain.slots(), Date.parse('2024-09-01T21:44:51Z')), 133_660_800);
});

test('a step back to a block between epochs is one to the block before it', {
  timeout: 120_000,
}, async (t) => {
  const fake = await startFakeOgmios(t);
  const [first, second] = [byronBlock(null, { slot: 10 }), null];
  assert.equal(second, null);
  const boundary = boundaryBlock(first, 21_600);
  const after = byronBlock(boundary, { slot: 21_601 });
  fake.chain.extend(first, boundary, after);
  const chain = await startOgmios(t, fake.url);
  const model = await StreamModel.open(t, chain);
  await model.same(fake.chain);
  fake.chain.fork(1, [byronBlock(boundary, { slot: 21_700 })]);
  await model.same(fake.chain);
  fake.dropAll();
  fake.chain.fork(2, [byronBlock(first, { slot: 21_800 })]);
  await model.same(fake.chain);
  assert.equal(model.backs, 2);
});

test('a block beyond what was known of its era: the node is asked again', {
  timeout: 120_000,
}, async (t) => {
  const eras: EraConfig[] = [
    { ...(oneEra(20_000)[0] ?? assert.fail()), era: 'babbage', epochSlots: 100, safeZoneSlots: 50 },
  ];
  const fake = await startFakeOgmios(t, {
    facts: { ...MAINNET_FACTS, startTime: '2026-01-01T00:00:00Z', eras },
  });
  const startMs = Date.parse('2026-01-01T00:00:00Z');
  fake.chain.extend(praosBlock(null, { slot: 10, era: 'babbage' }));
  const chain = await startOgmios(t, fake.url);
  const model = await StreamModel.open(t, chain);
  await model.same(fake.chain);
  assert.equal(chain.slots().slotLengthMs, 20_000);
  // A hard fork at slot 200, after which slots have a fifth of a second.
  const [babbage] = eras;
  assert.ok(babbage);
  const conway: EraConfig = {
    ...babbage,
    era: 'conway',
    startSlot: 200,
    startEpoch: 2,
    startSeconds: 4_000,
    slotLengthMs: 200,
  };
  fake.facts = { ...fake.facts, eras: [babbage, conway] };
  const { tip } = fake.chain;
  const late = praosBlock(tip, { slot: 199, era: 'babbage' });
  const more = emptyBlocks(praosBlock(late, { slot: 205 }), 20);
  fake.chain.extend(late, praosBlock(late, { slot: 205 }), ...more);
  await model.same(fake.chain);
  const times = model.blocks.slice(1, 4).map(({ timeMs }) => timeMs - startMs);
  assert.deepEqual(times, [199 * 20_000, 4_000_000 + 5 * 200, 4_000_000 + 25 * 200]);
  await until('the new era is known', () => chain.slots().slotLengthMs === 200);
});

test('eras of no length, without end, and slots that lie in none', () => {
  const summaries = [
    era(0, 0, 0, 20_000, 0),
    era(0, 0, 0, 1_000, 100),
    era(100, 100, 0, 500, null),
  ];
  const eras = readEras(summaries, 1_000_000);
  const at = (slot: number) => {
    const found = eraOf(eras, slot);
    return found === null ? null : slotStartMs(found, slot);
  };
  assert.deepEqual([0, 99, 100, 103].map(at), [1_000_000, 1_099_000, 1_100_000, 1_101_500]);
  const known = readEras([era(50, 0, 0, 1_000, 60)], 0);
  assert.deepEqual([eraOf(known, 49), eraOf(known, 60)], [null, null]);
  assert.throws(() => readEras([], 0), /no era/);
  assert.throws(() => readEras([{ start: {} }], 0), /era 0/);
  const ours = readEras(JSON.parse(jsonText(eraSummaries(MAINNET_ERAS, 140_000_000))), START_MS);
  assert.equal(eraOf(ours, 140_000_000)?.zeroSlot, 133_660_800);
});

function era(
  slot: number,
  seconds: number,
  epoch: number,
  milliseconds: number,
  end: number | null,
) {
  const parameters = { epochLength: 100, slotLength: { milliseconds }, safeZone: 10 };
  const start = { time: { seconds }, slot, epoch };
  return end === null ? { start, parameters } : { start, end: { ...start, slot: end }, parameters };
}

test('protocol parameters are those that the node has', { timeout: 120_000 }, async (t) => {
  const fake = await startFakeOgmios(t);
  const chain = await startOgmios(t, fake.url);
  assert.deepEqual(await chain.parameters(), PARAMETERS);
  const { parameters } = MAINNET_FACTS;
  assert.ok(typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters));
  const changed = {
    ...parameters,
    minFeeCoefficient: 45,
    plutusCostModels: { 'plutus:v2': [1, 9_223_372_036_854_775_807n] },
  };
  fake.facts = { ...fake.facts, parameters: changed };
  const now = await chain.parameters();
  assert.equal(now.feePerByteLovelace, 45n);
  assert.deepEqual(now.costModels[1], [1, 9_223_372_036_854_775_807n]);
});

test('parameters that cannot be used say which', () => {
  const whole = JSON.parse(jsonText(MAINNET_FACTS.parameters));
  for (const [name, value] of [
    ['scriptExecutionPrices', { memory: '1/0', cpu: '1/2' }],
    ['minFeeReferenceScripts', { range: 1, base: 15, multiplier: 2 }],
    ['maxTransactionSize', undefined],
  ] as const) {
    assert.throws(() => readParameters({ ...whole, [name]: value }), /memory|reference|maxTrans/);
  }
});
