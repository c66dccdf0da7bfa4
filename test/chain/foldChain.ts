/** A world whose log follows a chain: blocks and roll-backs written as the follower writes them. */
import assert from 'node:assert/strict';
import { CHAIN_START, pointKey } from '../../src/engine/fold/chainRows.ts';
import type { ChainBlock, MempoolPayload } from '../../src/engine/log/entry.ts';
import type { EntryDraft } from '../../src/engine/log/writer.ts';
import { MarketTimeDrafter } from '../../src/engine/node/marketTimeDrafter.ts';
import { nextEpoch } from '../../src/engine/recovery/recovery.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { type PointRecord, readRecord } from '../../src/engine/store/records.ts';
import type { KeyedTable } from '../../src/engine/store/rows.ts';
import type { FoldWorld } from '../support/foldWorld.ts';
import type { MadeBlock } from './foldMarket.ts';

const MANY = 1_000_000;
const rng = seededRng(7);

interface AppendedBlock extends Partial<Pick<ChainBlock, 'settled' | 'dropped'>> {
  readonly isDeep?: boolean;
}

export async function appendBlock(
  world: FoldWorld,
  made: MadeBlock,
  { settled = [], dropped = [], isDeep = false }: AppendedBlock = {},
): Promise<void> {
  const { slot, hash, height, atMs, events } = made;
  const marketTime = new MarketTimeDrafter(world.fold);
  const drafts = marketTime.endsUpTo(atMs);
  const timeMs = Math.max(marketTime.marketMs, atMs);
  drafts.push(...marketTime.startAt(timeMs));
  const deep = isDeep ? ({ isDeep } as const) : {};
  const chain = { slot, hash, height, events, settled, dropped, ...deep };
  drafts.push({ timeMs, payload: { kind: 'block', atMs, trades: [], chain } });
  await write(world, drafts);
}

export async function appendMempool(
  world: FoldWorld,
  payload: Omit<MempoolPayload, 'kind'>,
): Promise<void> {
  await write(world, [{ timeMs: world.fold.marketMs, payload: { kind: 'mempool', ...payload } }]);
}

/** The chain goes back to the block at this height; 0: before the first. */
export async function rollBackTo(world: FoldWorld, height: number): Promise<void> {
  const { store } = world.fold;
  const text = store.get('points', pointKey(height));
  if (store.get('market', CHAIN_START) === null) return;
  assert.equal(text === null, height === 0, `block ${height} is known`);
  const point = text === null ? null : readRecord<PointRecord>(text);
  const toSeq = point?.seq ?? Number(store.get('market', CHAIN_START));
  const timeMs = point?.timeMs ?? 0;
  if (toSeq >= store.horizonSeq) {
    return write(world, [{ timeMs, payload: { kind: 'rollback', toSeq } }]);
  }
  const payload = { kind: 'epoch', reason: 'rollback', base: { seq: toSeq } } as const;
  await write(world, [{ timeMs, payload }], nextEpoch(world.node.applied().epoch, rng));
}

/** Only time passes. */
export async function passTo(world: FoldWorld, timeMs: number): Promise<void> {
  const marketTime = new MarketTimeDrafter(world.fold);
  await write(world, [...marketTime.endsUpTo(timeMs), ...marketTime.startAt(timeMs)]);
}

async function write(world: FoldWorld, drafts: readonly EntryDraft[], epoch?: string) {
  const seq = await world.writer.append(drafts, epoch);
  await world.node.reached(seq);
}

export function rowsOf({ fold }: FoldWorld, table: KeyedTable): Map<string, string> {
  const rows = fold.store.withPrefix(table, '', MANY);
  return new Map(rows.map(({ key, value }) => [key, value]));
}
