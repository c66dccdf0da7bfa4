const LAST_DATE_MS = 8_640_000_000_000_000n;

/** A time of a datum, for a person. Whoever made the datum chose it: it need not be a date. */
export function timeText(timeMs: bigint): string {
  const isDate = timeMs <= LAST_DATE_MS && timeMs >= -LAST_DATE_MS;
  return isDate ? new Date(Number(timeMs)).toISOString() : `${timeMs} ms`;
}
