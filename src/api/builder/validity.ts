/** Until when a transaction that is built may enter a block (protocol.md section 9.0). */
import Type from 'typebox';
import { type SlotConfig, slotAt, slotStartMs } from '../../cardano/codec/slots.ts';
import type { TransactionPlan } from '../../cardano/transactions/plan.ts';
import { type Failure, invalid } from '../../engine/runtime/errors.ts';

export const DEFAULT_TTL_SECONDS = 7_200;
const MIN_SECONDS = 60;
const MAX_SECONDS = 86_400;
/** A block takes an order so long before it may be refunded. */
const ORDER_MARGIN_MS = 120_000;

export const Ttl = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: MAX_SECONDS,
    description:
      `Seconds for which the transaction may enter a block: ${MIN_SECONDS} to ${MAX_SECONDS}, ` +
      `or 0 for no end. Absent: ${DEFAULT_TTL_SECONDS}. An order’s end lies at least two minutes ` +
      'before it may be refunded, also with 0.',
  }),
);
export const ValidUntil = Type.Union([Type.Integer(), Type.Null()], {
  description: 'Unix ms from which no block takes the transaction; null: it has no end.',
});

export interface Validity {
  /** The first slot in which it is not valid any more; null: there is none. */
  readonly validToSlot: number | null;
  /** The start of that slot. */
  readonly validUntil: number | null;
}

/** The schema lets 1 to 59 through. */
export function refuseTtl(ttl: number | undefined, place: string): Failure | null {
  if (ttl === undefined || ttl === 0 || ttl >= MIN_SECONDS) return null;
  const wanted = `${MIN_SECONDS} to ${MAX_SECONDS} seconds, or 0 for no end`;
  return invalid(`${place}.ttl`, `A transaction is valid for ${wanted}.`);
}

export function validityOf(slots: SlotConfig, nowMs: number, ttl = DEFAULT_TTL_SECONDS): Validity {
  return ttl === 0 ? NO_END : endingAt(slots, nowMs, nowMs + ttl * 1000);
}

/**
 * `refundAfterMs` after now the order may be refunded; a short-lived order gets half of that time.
 */
export function orderValidity(
  slots: SlotConfig,
  nowMs: number,
  refundAfterMs: number,
  ttl = DEFAULT_TTL_SECONDS,
): Validity {
  const latestMs = nowMs + Math.max(refundAfterMs - ORDER_MARGIN_MS, refundAfterMs / 2);
  const wantedMs = ttl === 0 ? latestMs : nowMs + ttl * 1000;
  return endingAt(slots, nowMs, Math.min(wantedMs, latestMs));
}

export function within(plan: TransactionPlan, { validToSlot }: Validity): TransactionPlan {
  return { ...plan, validToSlot };
}

const NO_END: Validity = { validToSlot: null, validUntil: null };

/** At a border of slots, not later than asked, but the next block can have it. */
function endingAt(slots: SlotConfig, nowMs: number, endMs: number): Validity {
  const validToSlot = Math.max(slotAt(slots, endMs), slotAt(slots, nowMs) + 2);
  return { validToSlot, validUntil: slotStartMs(slots, validToSlot) };
}
