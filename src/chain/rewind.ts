/** The way back of a chain, in the log: as a rollback, or as an epoch where it is deep. */
import { CHAIN_START } from '../engine/actors/chainRows.ts';
import type { Node } from '../engine/actors/node.ts';
import { nextEpoch } from '../engine/actors/recovery.ts';
import type { Log } from '../engine/log/port.ts';
import type { LogWriter } from '../engine/log/writer.ts';
import type { Rng } from '../engine/runtime/rng.ts';
import type { PointRecord } from '../engine/store/records.ts';

export interface RollBackDeps {
  readonly node: Node;
  readonly writer: LogWriter;
  readonly log: Log;
  readonly rng: Rng;
}

/** `known` is a point of the fold; null: before the first block. Resolves when it is applied. */
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

/** Nothing is written that no start could make a state of. */
async function checkReach(toSeq: number, log: Log): Promise<void> {
  const first = await log.first();
  if (toSeq >= first) return;
  throw new Error(
    `the chain went back to what entry ${toSeq} was, and the log begins with entry ${first}: ` +
      'raise HORIZON_BLOCKS, remove state.sqlite and log.sqlite (among several nodes the stream) ' +
      'and start again: the chain is followed from its beginning',
  );
}
