/**
 * Rolling back to a moment. Within the horizon this appends a rollback entry. Beyond the horizon it
 * starts a new epoch whose base is the log up to that moment, and every client receives a Resync.
 */

import type { FeedCursor, SealedEntry } from '../log/entry.ts';
import type { Log } from '../log/port.ts';
import type { LogWriter } from '../log/writer.ts';
import type { Node } from '../node/node.ts';
import { nextEpoch } from '../recovery/recovery.ts';
import { type Clock, nextTurn } from '../runtime/clock.ts';
import type { Rng } from '../runtime/rng.ts';

type RollbackOutcome = 'rolled back' | 'nothing to undo' | 'unknown';

export interface RollbackDeps {
  readonly clock: Clock;
  readonly node: Node;
  readonly log: Log;
  readonly writer: LogWriter;
  readonly rng: Rng;
}

interface Block {
  readonly seq: number;
  readonly atMs: number;
  readonly marketMs: number;
}

const READ = 512;
const BEFORE_ALL_MS = -1;

/** Undoes every entry after the last one at or before `toMs`. All entries must be applied. */
export async function rollBackTo(
  toMs: number,
  cursor: FeedCursor | undefined,
  deps: RollbackDeps,
): Promise<RollbackOutcome> {
  const { node, log, writer, rng, clock } = deps;
  const { store } = node.fold;
  // The state before the first block stands at -1: no moment is before it.
  const near = store.pointAtOrBefore(Math.max(toMs, BEFORE_ALL_MS));
  const more = cursor === undefined ? {} : { cursor };
  if (near !== null && near.seq === store.points.newest?.seq) {
    // Said in the log, so that the same file never says it again when there is something to undo.
    const payload = { kind: 'block', atMs: near.atMs, trades: [], ...more } as const;
    const timeMs = node.fold.marketMs;
    if (cursor !== undefined) await node.reached(await writer.append([{ timeMs, payload }]));
    return 'nothing to undo';
  }
  if (near !== null) {
    const payload = { kind: 'rollback', toSeq: near.seq, ...more } as const;
    await node.reached(await writer.append([{ timeMs: near.marketMs, payload }]));
    return 'rolled back';
  }
  const far = await findBlock(toMs, log, clock);
  if (far === null) return 'unknown';
  const payload = {
    kind: 'epoch',
    reason: 'rollback',
    base: { seq: far.seq },
    ...more,
  } as const;
  const epoch = nextEpoch(node.applied().epoch, rng);
  await node.reached(await writer.append([{ timeMs: far.marketMs, payload }], epoch));
  return 'rolled back';
}

/** The last block at or before `toMs` that no later entry has undone, from the whole log. */
async function findBlock(toMs: number, log: Log, clock: Clock): Promise<Block | null> {
  const blocks: Block[] = [];
  for (let next = await log.first(); ; ) {
    const entries = await log.read(next, READ);
    const last = entries[entries.length - 1];
    if (last === undefined) break;
    for (const sealed of entries) follow(sealed, blocks);
    next = last.entry.seq + 1;
    await nextTurn(clock);
  }
  return blocks.findLast((block) => block.atMs <= toMs) ?? null;
}

function follow({ entry: { seq, timeMs, payload } }: SealedEntry, blocks: Block[]): void {
  if (payload.kind === 'block') blocks.push({ seq, atMs: payload.atMs, marketMs: timeMs });
  if (payload.kind === 'rollback') drop(payload.toSeq, blocks);
  if (payload.kind !== 'epoch') return;
  if (payload.base !== undefined) drop(payload.base.seq, blocks);
  else blocks.push({ seq, atMs: Number.NEGATIVE_INFINITY, marketMs: timeMs });
}

function drop(afterSeq: number, blocks: Block[]): void {
  while ((blocks[blocks.length - 1]?.seq ?? 0) > afterSeq) blocks.pop();
}
