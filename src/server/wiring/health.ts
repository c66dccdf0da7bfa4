/**
 * Events that mean that something is wrong for a while: readiness lists them until they are over,
 * and a row that cannot be read makes the node build its state again.
 */
import type { Events } from '../../engine/runtime/events.ts';
import { Troubles } from '../../engine/runtime/troubles.ts';
import { isDamage } from '../../engine/store/damage.ts';

const ROOM = 'make room on the disk of DATA_DIR, or raise DATA_MAX_MB; it continues by itself';

/** What the node does about rows that cannot be read, or written because the file is damaged. */
export interface Repairs {
  repair(error: unknown): void;
  repairAtNextStart(error: unknown): void;
}

export interface TroubleTracking {
  readonly events: Events;
  readonly troubles: Troubles;
  /** From now on `node` repairs itself. */
  attach(node: Repairs): void;
}

export function trackTroubles(events: Events): TroubleTracking {
  const troubles = new Troubles();
  let node: Repairs | null = null;
  return {
    events: { ...events, ...notes(events, troubles, () => node) },
    troubles,
    attach: (opened) => {
      node = opened;
    },
  };
}

function notes(events: Events, troubles: Troubles, node: () => Repairs | null): Partial<Events> {
  return {
    appendFailed(error, attempt, retryInMs) {
      events.appendFailed(error, attempt, retryInMs);
      troubles.set('LOG_NOT_WRITTEN', `the log takes no entries: ${messageOf(error)}: ${ROOM}`);
    },
    appendSettled() {
      events.appendSettled();
      troubles.clear('LOG_NOT_WRITTEN');
    },
    commitFailed(error, attempt, retryInMs) {
      events.commitFailed(error, attempt, retryInMs);
      const what = 'state.sqlite cannot be written, nothing new is shown';
      const isBroken = isDamage(error);
      if (isBroken) node()?.repairAtNextStart(error);
      const remedy = isBroken ? 'restart: it is made again from the log' : ROOM;
      troubles.set('STATE_NOT_WRITTEN', `${what}: ${messageOf(error)}: ${remedy}`);
    },
    committed(rows, seconds) {
      events.committed(rows, seconds);
      troubles.clear('STATE_NOT_WRITTEN');
    },
    actorQuarantined(pool, error) {
      events.actorQuarantined(pool, error);
      node()?.repair(error);
    },
    handlerFailed(where, error) {
      events.handlerFailed(where, error);
      if (isDamage(error)) node()?.repair(error);
    },
    stateRebuilding(error) {
      events.stateRebuilding(error);
      const why = `state.sqlite has rows that cannot be read (${messageOf(error)})`;
      troubles.set('STATE_DAMAGED', `${why}: it is being made again from the log`);
    },
    stateRebuilt(seconds) {
      events.stateRebuilt(seconds);
      troubles.clear('STATE_DAMAGED');
    },
    stateNotRebuilt(error) {
      events.stateNotRebuilt(error);
      const what = 'state.sqlite has rows that cannot be read, and was not made again';
      troubles.set('STATE_DAMAGED', `${what}: ${messageOf(error)}`);
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
