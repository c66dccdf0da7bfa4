/** Slot and wall clock. One slot length from `zeroTimeMs` on, which is slot `zeroSlot`. */
import { LAST_DATE_MS } from '../../engine/runtime/limits.ts';

export interface SlotConfig {
  readonly zeroTimeMs: number;
  readonly zeroSlot: number;
  readonly slotLengthMs: number;
}

export function slotStartMs(
  { zeroTimeMs, zeroSlot, slotLengthMs }: SlotConfig,
  slot: number,
): number {
  return zeroTimeMs + (slot - zeroSlot) * slotLengthMs;
}

/** The slot that `timeMs` lies in. */
export function slotAt({ zeroTimeMs, zeroSlot, slotLengthMs }: SlotConfig, timeMs: number): number {
  return zeroSlot + Math.floor((timeMs - zeroTimeMs) / slotLengthMs);
}

/** The first slot that begins at or after `timeMs`: lower bounds are rounded up (onchain.md). */
export function slotFrom(
  { zeroTimeMs, zeroSlot, slotLengthMs }: SlotConfig,
  timeMs: number,
): number {
  return zeroSlot + Math.ceil((timeMs - zeroTimeMs) / slotLengthMs);
}

/** Slots of one era of a chain whose eras differ in length; it begins with `zeroSlot`. */
export interface EraSlots extends SlotConfig {
  /** The first slot behind it; for the newest era, the end of the known range. null: no end. */
  readonly endSlot: number | null;
}

/** The era of a slot; null: before the first era, or beyond the known range. */
export function eraOf(eras: readonly EraSlots[], slot: number): EraSlots | null {
  const era = eras.findLast(({ zeroSlot, endSlot }) => zeroSlot <= slot && endSlot !== zeroSlot);
  return era === undefined || (era.endSlot !== null && slot >= era.endSlot) ? null : era;
}

const LAST_DATE = BigInt(LAST_DATE_MS);

/** A datum's time as text. The datum's author chose it: it may be no valid date. */
export function timeText(timeMs: bigint): string {
  const isDate = timeMs <= LAST_DATE && timeMs >= -LAST_DATE;
  return isDate ? new Date(Number(timeMs)).toISOString() : `${timeMs} ms`;
}
