/**
 * The six chart resolutions, from the finest to the coarsest, and their intervals, in UTC: weeks
 * start Monday 00:00, months on the 1st. An interval is [start, end) in Unix milliseconds.
 * Source: api.md section 1.
 */
export const RESOLUTIONS = ['min1', 'min5', 'hour1', 'day1', 'week1', 'month1'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/**
 * The number under which the bars of a resolution are stored. Rows keep it for good: a new
 * resolution takes a new number, whatever its place in the list, and no number is used again. Its
 * bars start with the next trade unless `STATE_VERSION` (store/schema.ts) is raised with it.
 */
export const STORED_RESOLUTION_IDS = {
  min1: 0,
  min5: 1,
  hour1: 2,
  day1: 3,
  week1: 4,
  month1: 5,
} as const satisfies Readonly<Record<Resolution, number>>;

/** null: no resolution is stored under this number. */
export function storedResolution(id: number): Resolution | null {
  return RESOLUTIONS.find((name) => STORED_RESOLUTION_IDS[name] === id) ?? null;
}

/** What TradingView calls each: minutes, or a count of days, weeks or months. */
const TRADING_VIEW_NAMES: Readonly<Record<Resolution, string>> = {
  min1: '1',
  min5: '5',
  hour1: '60',
  day1: '1D',
  week1: '1W',
  month1: '1M',
};
export const TRADING_VIEW_RESOLUTIONS = RESOLUTIONS.map((name) => TRADING_VIEW_NAMES[name]);
/** Those below a day. */
export const TRADING_VIEW_MINUTES = TRADING_VIEW_RESOLUTIONS.filter((name) => /^\d+$/.test(name));

/** Takes `D` for `1D` too, as TradingView writes it; null for a resolution without bars here. */
export function readTradingViewResolution(text: string): Resolution | null {
  const wanted = /^[DWM]$/.test(text) ? `1${text}` : text;
  return RESOLUTIONS.find((name) => TRADING_VIEW_NAMES[name] === wanted) ?? null;
}

export const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** 1970-01-05, the first Monday of Unix time. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

const FIXED_MS: Readonly<Record<Resolution, number>> = {
  min1: MINUTE_MS,
  min5: 5 * MINUTE_MS,
  hour1: 60 * MINUTE_MS,
  day1: DAY_MS,
  week1: WEEK_MS,
  month1: 0,
};

/** The earliest start of any interval we take: the week of 1970-01-01 began on Monday before. */
export const EARLIEST_START_MS = FIRST_MONDAY_MS - WEEK_MS;

/** The last moment we take: the end of year 9999. */
export const MAX_TIME_MS = 253_402_300_799_999;

/** Start of the interval that contains `timeMs`. */
export function intervalStart(resolution: Resolution, timeMs: number): number {
  if (resolution === 'month1') {
    const date = new Date(timeMs);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  }
  const offsetMs = resolution === 'week1' ? FIRST_MONDAY_MS : 0;
  const lengthMs = FIXED_MS[resolution];
  return Math.floor((timeMs - offsetMs) / lengthMs) * lengthMs + offsetMs;
}

/** End (exclusive) of the interval that starts at `startMs`; also the next interval's start. */
export function intervalEnd(resolution: Resolution, startMs: number): number {
  if (resolution === 'month1') {
    const date = new Date(startMs);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  }
  return startMs + FIXED_MS[resolution];
}
