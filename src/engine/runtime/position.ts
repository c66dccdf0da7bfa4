/**
 * A position names how much of the log something includes: everything up to and including entry
 * `seq` of epoch `epoch`. It is the same in a frame, an HTTP header, a checkpoint and an entry.
 */
export interface Position {
  /** `<n>-<random>`; n grows with every epoch of a market. */
  readonly epoch: string;
  readonly seq: number;
}

/** Pattern of `<epoch>:<seq>`, for documents too. */
export const POSITION_PATTERN = '^(([0-9]{1,15})-[A-Za-z0-9_-]{1,24}):([0-9]{1,16})$';
const POSITION = new RegExp(POSITION_PATTERN);
const EPOCH = /^(\d{1,15})-[A-Za-z0-9_-]{1,24}$/;

export function formatPosition(position: Position): string {
  return `${position.epoch}:${position.seq}`;
}

/** Reads `<epoch>:<seq>`; null when the text is not a position. */
export function parsePosition(text: string): Position | null {
  const match = POSITION.exec(text);
  if (match?.[1] === undefined) return null;
  const seq = Number(match[3]);
  return Number.isSafeInteger(seq) ? { epoch: match[1], seq } : null;
}

/** The number an epoch starts with, by which epochs are ordered; -1 when it is no epoch. */
export function epochNumber(epoch: string): number {
  const match = EPOCH.exec(epoch);
  return match === null ? -1 : Number(match[1]);
}

/** Whether state that is complete up to `applied` includes everything up to `asked`. */
export function hasReached(applied: Position, asked: Position): boolean {
  if (asked.epoch === applied.epoch) return asked.seq <= applied.seq;
  return epochNumber(asked.epoch) < epochNumber(applied.epoch);
}
