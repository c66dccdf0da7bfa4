import type { Position } from '../types.ts';

/** The answer to a call. Every part of `data` is complete at least up to `position`. */
export interface Answer<T> {
  readonly data: T;
  /** Where a subscription continues; null on answers that no stream continues. */
  readonly position: Position | null;
  /** Slot at that position; null without a chain. */
  readonly slot: number | null;
  readonly blockHash: string | null;
}

/**
 * An answer with part of a chart's history: older bars were cut; ask again with `nextTo` as `to`.
 */
export interface HistoryAnswer<T> extends Answer<T> {
  readonly nextTo: number | null;
}

/**
 * An answer with filtered trades: not all were looked at; ask again with `nextBefore` as `before`.
 */
export interface TradesPage<T> extends Answer<T> {
  readonly nextBefore: string | null;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The answer must include this position, else it is 503. */
  readonly minPosition?: Position;
  /**
   * Parameter of `build.order`, `launch`, `cancel`, `transfer` and `vesting.createLock`: a text of
   * 1 to 64 visible ASCII characters. A repeat with it gets the same transaction, from the same
   * node.
   */
  readonly idempotencyKey?: string;
}

const POSITION = /^(\d{1,15}-[A-Za-z0-9_-]{1,24}):(\d{1,16})$/;

export function readPosition(text: string | null): Position | null {
  const match = text === null ? null : POSITION.exec(text);
  const seq = Number(match?.[2]);
  return match?.[1] === undefined || !Number.isSafeInteger(seq) ? null : { epoch: match[1], seq };
}

/** The number an epoch starts with, by which epochs are ordered. */
function epochNumber(epoch: string): number {
  return Number(/^\d+/.exec(epoch)?.[0] ?? -1);
}

/** Whether state that is complete up to `position` includes everything up to `other`. */
export function includes(position: Position, other: Position): boolean {
  if (position.epoch === other.epoch) return position.seq >= other.seq;
  return epochNumber(position.epoch) > epochNumber(other.epoch);
}
