/**
 * Launches as they happen: pending ones first, then by time, newest first. Begins with the newest
 * 50 that match.
 */
import type { Connection } from '../socket/connection.ts';
import type { Subscription } from '../socket/subscription.ts';
import type { Launch, NewLaunchesData, NewLaunchesInput, Position } from '../types.ts';
import { BaseMirror } from './base.ts';
import type { Change, Reason } from './mirror.ts';

export interface LaunchesChange extends Change {
  /** New launches, and pending launches that are in a block now. */
  readonly added: readonly Launch[];
  /** Asset ids of launches that are neither in the mempool nor in a block any more. */
  readonly removed: readonly string[];
}

/** Beyond it the oldest are dropped. */
const MAX_ROWS = 500;

export class LaunchesMirror extends BaseMirror<readonly Launch[], LaunchesChange> {
  readonly #subscription: Subscription;

  constructor(connection: Connection, data: NewLaunchesInput) {
    super([]);
    this.#subscription = connection.subscribe(
      { topic: 'NewLaunches', data },
      {
        snapshot: (frame, position) => this.#apply(frame, position, 'snapshot'),
        update: (_event, frame, position) => this.#apply(frame, position, 'update'),
        idle: (position) => this.advance(position),
        ended: (error) => this.fail(error),
      },
    );
  }

  protected override stop(): void {
    this.#subscription.close();
  }

  #apply(frame: unknown, position: Position, reason: Reason): void {
    // trust: the type comes from the schema by which the server documents this topic
    const data = frame as NewLaunchesData;
    const rows = new Map<string, Launch>();
    if (reason !== 'snapshot') for (const row of this.state) rows.set(row.asset, row);
    const added: Launch[] = [];
    const removed: string[] = [];
    for (const row of data) {
      if ('removed' in row) {
        if (rows.delete(row.asset)) removed.push(row.asset);
      } else {
        rows.set(row.asset, row);
        added.push(row);
      }
    }
    const launches = [...rows.values()].sort(newestFirst).slice(0, MAX_ROWS);
    const why = removed.length > 0 ? 'revised' : reason;
    this.setState(launches, position, { reason: why, added, removed });
  }
}

function newestFirst(a: Launch, b: Launch): number {
  return Number(b.pending) - Number(a.pending) || b.time - a.time || (a.asset < b.asset ? -1 : 1);
}
