/**
 * Slots and times by the node's eras, whose slots differ in length. The node knows the newest era
 * up to the slot before which no hard fork can happen; a block after that slot refreshes the eras.
 */

import { countOf, listOf, objectOf } from '../../cardano/codec/json.ts';
import { type EraSlots, eraOf, slotStartMs } from '../../cardano/codec/slots.ts';
import type { NodeConnection } from './connection.ts';
import { NodeFault } from './fault.ts';

export class Eras {
  readonly #changed: (eras: readonly EraSlots[]) => void;
  #eras: readonly EraSlots[] = [];

  constructor(changed: (eras: readonly EraSlots[]) => void) {
    this.#changed = changed;
  }

  get all(): readonly EraSlots[] {
    return this.#eras;
  }

  async refresh(connection: NodeConnection): Promise<void> {
    const zeroMs = await connection.startTimeMs();
    if (!Number.isSafeInteger(zeroMs)) {
      throw new NodeFault('unreadable', 'the network has no start time');
    }
    const eras = readEras(await connection.eraSummaries(), zeroMs);
    if (JSON.stringify(eras) === JSON.stringify(this.#eras)) return;
    this.#eras = eras;
    this.#changed(eras);
  }

  /** Start of a slot; null: it is beyond the known eras. */
  timeMs(slot: number): number | null {
    const era = eraOf(this.#eras, slot);
    return era === null ? null : slotStartMs(era, slot);
  }
}

/** Throws `unreadableMessage`. */
export function readEras(summaries: unknown, zeroMs: number): EraSlots[] {
  const eras = listOf(summaries, 'era summaries').map((value, at) => {
    const what = `era ${at}`;
    const { start, end, parameters } = objectOf(value, what);
    const { slotLength } = objectOf(parameters, `${what}: parameters`);
    const { milliseconds } = objectOf(slotLength, `${what}: slot length`);
    const { time, slot } = objectOf(start, `${what}: start`);
    const { seconds } = objectOf(time, `${what}: start time`);
    return {
      zeroTimeMs: zeroMs + countOf(seconds, `${what}: seconds`) * 1000,
      zeroSlot: countOf(slot, `${what}: first slot`),
      slotLengthMs: countOf(milliseconds, `${what}: slot length`),
      endSlot:
        end === undefined || end === null
          ? null
          : countOf(objectOf(end, `${what}: end`).slot, `${what}: end slot`),
    };
  });
  if (eras.length === 0) throw new NodeFault('unreadable', 'the node knows no era');
  return eras;
}
