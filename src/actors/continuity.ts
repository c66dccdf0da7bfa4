/** Whether an entry that was read goes on from what this node has. */
import type { SealedEntry } from '../log/entry.ts';
import type { Position } from '../runtime/position.ts';
import type { Checkpoint } from '../store/state.ts';

export function goesOn(
  sealed: SealedEntry | undefined,
  { seq = 0, entryHash, term = 0 }: Partial<Checkpoint>,
): boolean {
  if (sealed === undefined || sealed.entry.payload.kind === 'epoch') return true;
  const { entry } = sealed;
  return entry.seq === seq + 1 && entry.prevEntryHash === entryHash && entry.term >= term;
}

/** Its first entry, where another epoch was before. */
export function isNewEpoch({ entry }: SealedEntry, applied: Position): boolean {
  return entry.payload.kind === 'epoch' && applied.seq > 0 && entry.epoch !== applied.epoch;
}
