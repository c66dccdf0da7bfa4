/** Which entries of a log made a state: an epoch may begin at an earlier entry than the last. */
import type { Log } from '../engine/log/port.ts';

/** Both ends included. */
export interface EntryRange {
  readonly from: number;
  readonly to: number;
}

/** The ledger here is too far behind, or of another market: it needs a copy of another node's. */
export class SnapshotNeeded extends Error {}

/** What leads from the state at entry `after` to the state at entry `to`, in order. */
export async function rangesBetween(after: number, to: number, log: Log): Promise<EntryRange[]> {
  const ranges: EntryRange[] = [];
  let end = to;
  for (const seq of [...(await log.epochs())].reverse()) {
    // An epoch above `end` was itself taken back.
    if (seq > end) continue;
    if (seq <= after) break;
    const [sealed] = await log.read(seq, 1);
    ranges.unshift({ from: seq, to: end });
    const payload = sealed?.entry.payload;
    end = payload?.kind === 'epoch' ? (payload.base?.seq ?? 0) : seq - 1;
  }
  if (end > after) ranges.unshift({ from: after + 1, to: end });
  const first = await log.first();
  const missing = ranges.find(({ from }) => from < first);
  if (missing === undefined) return ranges;
  throw new SnapshotNeeded(
    `the ledger lacks the blocks after entry ${after}, and the log begins with entry ${first}: ` +
      'replace ledger.sqlite by a snapshot of a node that has them',
  );
}
