/** Slot and wall clock. One slot length from `zeroTimeMs` on, which is slot `zeroSlot`. */
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
