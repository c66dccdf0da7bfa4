/**
 * Where a chart has few bars they fill its width: with empty places of the time between them, so
 * that a bar is never broad. A place is a time at which no series has a value.
 */

/** Pixels for a bar, at most. */
const MOST_SPACING = 48;
/** Places are whole seconds: more do not fit around a bar of a minute. */
const MOST_PLACES = 60;

interface Timed {
  /** Unix seconds. */
  readonly time: number;
}

interface Places {
  /** How many each bar has, its own among them. */
  readonly each: number;
  /** Times of the empty ones, ascending. */
  readonly places: readonly number[];
}

/** `width` in pixels; no bar is closer to the next one than `seconds`. */
export function placesAmong(bars: readonly Timed[], width: number, seconds: number): Places {
  const each = Math.min(MOST_PLACES, Math.ceil(width / MOST_SPACING / bars.length));
  const first = -Math.floor(each / 2);
  const offsets = Array.from({ length: each }, (_, index) => first + index)
    .filter((place) => place !== 0)
    .map((place) => Math.round((place * seconds) / each));
  return { each, places: bars.flatMap(({ time }) => offsets.map((offset) => time + offset)) };
}

/** The bar at a time, or beside an empty place; null: none is pointed at, or there is none. */
export function nearest<B extends Timed>(bars: readonly B[], time: number | null): B | null {
  if (time === null) return null;
  const away = (bar: B) => Math.abs(bar.time - time);
  return bars.reduce<B | null>(
    (best, bar) => (best === null || away(bar) < away(best) ? bar : best),
    null,
  );
}
