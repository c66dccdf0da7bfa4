/** Compares a world with the model that followed its log. */
import assert from 'node:assert/strict';
import type { Bar } from '../../src/engine/market/bar.ts';
import { decodeBar } from '../../src/engine/market/barText.ts';
import { RESOLUTIONS, STORED_RESOLUTION_IDS } from '../../src/engine/market/resolution.ts';
import { type PairBars, seriesTag } from '../../src/engine/pools/pairBars.ts';
import type { BarChange } from '../../src/engine/pools/series.ts';
import type { ChangeCause } from '../../src/engine/store/rows.ts';
import { type FoldModel, seriesKey } from './foldModel.ts';
import type { FoldWorld } from './foldWorld.ts';
import type { Interval } from './model.ts';

const FOREVER_MS = Number.MAX_SAFE_INTEGER;
const MANY = 100_000;

/** Lets the model follow the new entries of the log; answers the seqs it had not seen. */
export async function followLog(world: FoldWorld, model: FoldModel): Promise<number[]> {
  const entries = await world.entries(model.seq + 1);
  for (const { entry } of entries) model.follow(entry);
  return entries.map(({ entry }) => entry.seq);
}

/** Bars, changes since every position of the horizon, tags, and what clients rely on. */
export async function checkWorld(world: FoldWorld, model: FoldModel): Promise<void> {
  const told = (await followLog(world, model)).filter((seq) => seq > world.startedAt);
  assert.deepEqual(world.said.foldFailures, []);
  assert.deepEqual(model.faults, []);
  assert.equal(world.seq, model.seq);
  assert.equal(world.fold.marketMs, model.now.marketMs);
  assert.equal(world.fold.store.horizonSeq, model.now.horizon[0] ?? 0, 'the horizon');
  for (const pair of model.pairs()) {
    for (const interval of RESOLUTIONS) {
      checkSeries(world, model, pair, interval);
      checkTags(world, model, told, pair, interval);
    }
  }
  world.said.tags.clear();
}

/** The same state comes out of the log alone. */
export async function checkRebuild(world: FoldWorld): Promise<void> {
  const { stateHash, digest } = await world.rebuilt();
  assert.equal(world.node.stateHash(), stateHash, 'state hash of a rebuild');
  assert.deepEqual(await world.fold.store.digest(), digest, 'rows of a rebuild');
}

function checkSeries(world: FoldWorld, model: FoldModel, pair: string, interval: Interval): void {
  const key = seriesKey(pair, interval);
  const expected = [...model.now.bars].filter(([name]) => name.startsWith(`${key} `));
  const pool = world.fold.pairBars(pair);
  assert.notEqual(pool, 'quarantined', pair);
  if (pool === null || pool === 'quarantined') {
    assert.deepEqual(expected, [], `${pair} is unknown`);
    return;
  }
  const index = STORED_RESOLUTION_IDS[interval];
  const rows = world.fold.store.bars(pool.pair.id, index, 0, FOREVER_MS, MANY);
  const bars = rows.map(({ start, value }) => decodeBar(start, value ?? ''));
  assert.deepEqual(
    new Map(bars.map((bar) => [`${key} ${bar.startMs}`, textOf(bar)])),
    new Map(expected),
    `bars of ${key}`,
  );
  const series = pool.series(interval);
  assert.equal(series.newest?.startMs, bars[0]?.startMs, `newest bar of ${key}`);
  if (series.newest !== null && bars[0] !== undefined) assert.deepEqual(series.newest, bars[0]);
  for (let seq = world.fold.store.horizonSeq; seq <= world.seq; seq += 1) {
    const held = pool.series(interval).changedSince(seq, MANY).changes;
    checkChanges(world, model, { name: pool.name, pair: pool.pair, held }, interval, seq);
  }
}

/** `since` a position within the horizon: from memory, and from the store. */
function checkChanges(
  { fold }: FoldWorld,
  model: FoldModel,
  {
    name,
    pair,
    ...pool
  }: Pick<PairBars, 'name' | 'pair'> & { readonly held: readonly BarChange[] },
  interval: Interval,
  seq: number,
): void {
  const key = seriesKey(name, interval);
  const expected = model.changedSince(name, interval, seq).map((bar) => {
    const changed = model.now.changed.get(bar) ?? 0;
    const undone = model.kinds.get(changed) === 'rollback';
    return `${bar} ${changed} ${undone} ${model.now.bars.get(bar) ?? 'gone'}`;
  });
  const say = (startMs: number, bar: Bar | null, changed: number, cause: ChangeCause) =>
    `${key} ${startMs} ${changed} ${cause === 'rollback'} ${bar === null ? 'gone' : textOf(bar)}`;
  const held = pool.held.map(({ startMs, bar, ...of }) => say(startMs, bar, of.seq, of.cause));
  const stored = fold.store
    .barsChangedSince(pair.id, interval, seq, MANY)
    .map(({ start, value, ...of }) =>
      say(start, value === null ? null : decodeBar(start, value), of.seq, of.cause),
    );
  assert.deepEqual(held.toSorted(), expected.toSorted(), `memory: ${key} since ${seq}`);
  assert.deepEqual(stored.toSorted(), expected.toSorted(), `store: ${key} since ${seq}`);
  const order = pool.held.map((change) => change.seq);
  assert.deepEqual(
    order,
    order.toSorted((one, other) => one - other),
    'changes come oldest first',
  );
}

function checkTags(
  world: FoldWorld,
  model: FoldModel,
  told: readonly number[],
  pair: string,
  interval: Interval,
): void {
  const [first] = told;
  if (first === undefined || world.said.epochChanges > 0) return;
  if (model.changedSince(pair, interval, first - 1).length === 0) return;
  const tag = seriesTag(pair);
  assert.ok(world.said.tags.has(tag), `${tag} was told`);
}

function textOf({ open, high, low, close, ...bar }: Bar): string {
  const ends = [open, high, low, close].map(({ id }) => id).join(' ');
  const { quoteVolume, baseVolume, trades, final } = bar;
  return `${ends} ${quoteVolume} ${baseVolume} ${trades} ${final ? 'final' : 'open'}`;
}
