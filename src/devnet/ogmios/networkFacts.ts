/**
 * The devnet's answers about its eras. Times are relative to its start, in whole seconds. Source:
 * the consensus layer's hard-fork history.
 */

import type { JsonValue } from '../../engine/runtime/exactJson.ts';

export const ERAS = ['byron', 'shelley', 'allegra', 'mary', 'alonzo', 'babbage', 'conway'] as const;
export type Era = (typeof ERAS)[number];

export interface EraPlan {
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
export function oneEra(slotLengthMs: number, startSlot = 0): readonly EraPlan[] {
  const start = { era: 'conway', startSlot, startEpoch: 0, startSeconds: 0 } as const;
  return [{ ...start, ...SHELLEY, slotLengthMs }];
}

/** The era that a slot lies in. */
export function eraAt(plans: readonly EraPlan[], slot: number): EraPlan {
  const plan = plans.findLast(({ startSlot }) => startSlot <= slot) ?? plans[0];
  if (plan === undefined) throw new Error('a chain has at least one era');
  return plan;
}

export function epochAt(plans: readonly EraPlan[], slot: number): number {
  const { startEpoch, startSlot, epochSlots } = eraAt(plans, slot);
  return startEpoch + Math.floor((slot - startSlot) / epochSlots);
}

export function boundOf({ startSeconds, startSlot, startEpoch }: EraPlan): JsonValue {
  return { time: { seconds: startSeconds }, slot: startSlot, epoch: startEpoch };
}

/**
 * The eras that are known when the tip is at `slot`. The present era is known up to the end of the
 * epoch that the safe zone reaches.
 */
export function eraSummaries(plans: readonly EraPlan[], slot: number): JsonValue {
  const current = eraAt(plans, slot);
  const reached = plans.slice(0, plans.indexOf(current) + 1);
  return reached.map((plan, at) => {
    const following = reached[at + 1];
    return {
      start: boundOf(plan),
      end: following === undefined ? horizonOf(plan, slot) : boundOf(following),
      parameters: {
        epochLength: plan.epochSlots,
        slotLength: { milliseconds: plan.slotLengthMs },
        safeZone: plan.safeZoneSlots,
      },
    };
  });
}

function horizonOf(plan: EraPlan, slot: number): JsonValue {
  const known = slot + plan.safeZoneSlots - plan.startSlot;
  const epochs = Math.ceil((known + 1) / plan.epochSlots);
  const slots = epochs * plan.epochSlots;
  return {
    time: { seconds: plan.startSeconds + Math.floor((slots * plan.slotLengthMs) / 1000) },
    slot: plan.startSlot + slots,
    epoch: plan.startEpoch + epochs,
  };
}
