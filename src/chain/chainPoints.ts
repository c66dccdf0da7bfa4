/** The fold's position on the chain, earlier blocks it can return to, and the return itself. */
import { CHAIN_START, KEPT_POINTS, TIP } from '../engine/fold/chainRows.ts';
import type { Log } from '../engine/log/port.ts';
import type { LogWriter } from '../engine/log/writer.ts';
import type { Node } from '../engine/node/node.ts';
import { nextEpoch } from '../engine/recovery/recovery.ts';
import type { Rng } from '../engine/runtime/rng.ts';
import { type PointRecord, readRecord } from '../engine/store/records.ts';
import type { Checkpoint, StateStore } from '../engine/store/state.ts';
import type { Point } from './port.ts';

interface KnownTip {
  readonly at: Checkpoint | null;
  readonly tip: PointRecord | null;
}

/** Read once for each checkpoint: every request and several timers ask for it. */
const knownTips = new WeakMap<StateStore, KnownTip>();

/** The newest applied block; null before the first. */
export function chainTip(store: StateStore): PointRecord | null {
  const { checkpoint: at } = store;
  const known = knownTips.get(store);
  if (known !== undefined && known.at === at) return known.tip;
  const tip = store.record<PointRecord>('market', TIP);
  knownTips.set(store, { at, tip });
  return tip;
}

/** Newest first. */
export function chainPoints(store: StateStore): PointRecord[] {
  const rows = store.withPrefix('points', '', KEPT_POINTS + 1);
  return rows.map(({ value }) => readRecord<PointRecord>(value)).reverse();
}

export function findPoint(store: StateStore, { hash }: Point): PointRecord | null {
  return chainPoints(store).find((point) => point.hash === hash) ?? null;
}

export interface RollBackDeps {
  readonly node: Node;
  readonly writer: LogWriter;
  readonly log: Log;
  readonly rng: Rng;
}

/**
 * Writes the roll-back to `known` (a point of the fold; null: before the first block) into the log:
 * as a `rollback` entry, or as a new epoch where it is deep. Resolves when it is applied.
 */
export async function rollBackTo(
  known: PointRecord | null,
  { node, writer, log, rng }: RollBackDeps,
): Promise<void> {
  const { store } = node.fold;
  const toSeq = known?.seq ?? Number(store.get('market', CHAIN_START) ?? 1);
  const timeMs = known?.timeMs ?? 0;
  if (toSeq >= store.horizonSeq) {
    await node.reached(await writer.append([{ timeMs, payload: { kind: 'rollback', toSeq } }]));
    return;
  }
  await checkReach(toSeq, log);
  const { market } = store.checkpoint ?? {};
  const payload = {
    kind: 'epoch',
    reason: 'rollback',
    base: { seq: toSeq },
    ...(market === undefined ? {} : { market }),
  } as const;
  const epoch = nextEpoch(node.applied().epoch, rng);
  await node.reached(await writer.append([{ timeMs, payload }], epoch));
}

/** Refuses a roll-back to before the log's first entry: no start could rebuild that state. */
async function checkReach(toSeq: number, log: Log): Promise<void> {
  const first = await log.first();
  if (toSeq >= first) return;
  throw new Error(
    `the chain went back to what entry ${toSeq} was, and the log begins with entry ${first}: ` +
      'raise HORIZON_BLOCKS, remove state.sqlite and log.sqlite (among several nodes the stream) ' +
      'and start again: the chain is followed from its beginning',
  );
}
