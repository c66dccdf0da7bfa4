/**
 * The devnet's answers about its eras. Times are relative to its start, in whole seconds. Source:
 * the consensus layer's hard-fork history.
 */

import type { JsonValue } from '../../engine/runtime/exactJson.ts';

export const ERAS = ['byron', 'shelley', 'allegra', 'mary', 'alonzo', 'babbage', 'conway'] as const;
export type Era = (typeof ERAS)[number];

export interface EraConfig {
  readonly era: Era;
  readonly startSlot: number;
  readonly startEpoch: number;
  readonly startSeconds: number;
  readonly epochSlots: number;
  readonly slotLengthMs: number;
  readonly safeZoneSlots: number;
}

const SHELLEY = { epochSlots: 432_000, slotLengthMs: 1_000, safeZoneSlots: 129_600 };

/** One era from the first slot on, as a network of today begins. */
export function oneEra(slotLengthMs: number, startSlot = 0): readonly EraConfig[] {
  const start = { era: 'conway', startSlot, startEpoch: 0, startSeconds: 0 } as const;
  return [{ ...start, ...SHELLEY, slotLengthMs }];
}

/** The era that a slot lies in. */
export function eraAt(eras: readonly EraConfig[], slot: number): EraConfig {
  const era = eras.findLast(({ startSlot }) => startSlot <= slot) ?? eras[0];
  if (era === undefined) throw new Error('a chain has at least one era');
  return era;
}

export function epochAt(eras: readonly EraConfig[], slot: number): number {
  const { startEpoch, startSlot, epochSlots } = eraAt(eras, slot);
  return startEpoch + Math.floor((slot - startSlot) / epochSlots);
}

export function boundOf({ startSeconds, startSlot, startEpoch }: EraConfig): JsonValue {
  return { time: { seconds: startSeconds }, slot: startSlot, epoch: startEpoch };
}

/**
 * The eras that are known when the tip is at `slot`. The present era is known up to the end of the
 * epoch that the safe zone reaches.
 */
export function eraSummaries(eras: readonly EraConfig[], slot: number): JsonValue {
  const current = eraAt(eras, slot);
  const reached = eras.slice(0, eras.indexOf(current) + 1);
  return reached.map((era, at) => {
    const following = reached[at + 1];
    return {
      start: boundOf(era),
      end: following === undefined ? horizonOf(era, slot) : boundOf(following),
      parameters: {
        epochLength: era.epochSlots,
        slotLength: { milliseconds: era.slotLengthMs },
        safeZone: era.safeZoneSlots,
      },
    };
  });
}

function horizonOf(era: EraConfig, slot: number): JsonValue {
  const known = slot + era.safeZoneSlots - era.startSlot;
  const epochs = Math.ceil((known + 1) / era.epochSlots);
  const slots = epochs * era.epochSlots;
  return {
    time: { seconds: era.startSeconds + Math.floor((slots * era.slotLengthMs) / 1000) },
    slot: era.startSlot + slots,
    epoch: era.startEpoch + epochs,
  };
}
