/**
 * The chart resolutions and their intervals, in UTC: weeks start Monday 00:00, months on the 1st,
 * all others are aligned to 00:00. An interval is [start, end) in Unix milliseconds.
 * Source: protocol.md sections 1 and 9.2.
 */

/** Resolutions whose bars are stored, from the finest to the coarsest. */
export const RESOLUTIONS = ['min1', 'min5', 'hour1', 'day1', 'week1', 'month1'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/**
 * The coarsest stored resolution whose intervals lie whole in intervals of this one. If a trade did
 * not change the high or low there, it cannot change it here. null: it is the finest.
 */
export const INNER_RESOLUTIONS: Readonly<Record<Resolution, Resolution | null>> = {
  min1: null,
  min5: 'min1',
  hour1: 'min5',
  day1: 'hour1',
  week1: 'day1',
  month1: 'day1',
};

/**
 * Resolutions whose bars are made from stored bars when they are read, with the stored resolution.
 */
export const PART_RESOLUTIONS = {
  min3: 'min1',
  min15: 'min5',
  min30: 'min5',
  hour2: 'hour1',
  hour4: 'hour1',
  hour12: 'hour1',
} as const satisfies Readonly<Record<string, Resolution>>;
export type DerivedResolution = keyof typeof PART_RESOLUTIONS;

/** All resolutions of a chart, from the finest to the coarsest. */
export const CHART_RESOLUTIONS = [
  'min1',
  'min3',
  'min5',
  'min15',
  'min30',
  'hour1',
  'hour2',
  'hour4',
  'hour12',
  'day1',
  'week1',
  'month1',
] as const satisfies readonly (Resolution | DerivedResolution)[];
export type ChartResolution = (typeof CHART_RESOLUTIONS)[number];

export function isDerived(resolution: ChartResolution): resolution is DerivedResolution {
  return resolution in PART_RESOLUTIONS;
}

/** The resolution itself if it is stored, else the resolution from which its bars are made. */
export function storedPart(resolution: ChartResolution): Resolution {
  return isDerived(resolution) ? PART_RESOLUTIONS[resolution] : resolution;
}

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

/** Name of each resolution in TradingView: minutes, or a count of days, weeks or months. */
const TRADING_VIEW_NAMES: Readonly<Record<ChartResolution, string>> = {
  min1: '1',
  min3: '3',
  min5: '5',
  min15: '15',
  min30: '30',
  hour1: '60',
  hour2: '120',
  hour4: '240',
  hour12: '720',
  day1: '1D',
  week1: '1W',
  month1: '1M',
};
export const TRADING_VIEW_RESOLUTIONS = CHART_RESOLUTIONS.map((name) => TRADING_VIEW_NAMES[name]);
/** TradingView's names of the resolutions below a day. */
export const TRADING_VIEW_MINUTES = TRADING_VIEW_RESOLUTIONS.filter((name) => /^\d+$/.test(name));

/** Takes `D` for `1D` too, as TradingView writes it; null for a resolution without bars here. */
export function readTradingViewResolution(text: string): ChartResolution | null {
  const wanted = /^[DWM]$/.test(text) ? `1${text}` : text;
  return CHART_RESOLUTIONS.find((name) => TRADING_VIEW_NAMES[name] === wanted) ?? null;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
/** Later than any bar starts. */
export const FOREVER_MS = Number.MAX_SAFE_INTEGER;
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** 1970-01-05, the first Monday of Unix time. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

const FIXED_MS: Readonly<Record<ChartResolution, number>> = {
  min1: MINUTE_MS,
  min3: 3 * MINUTE_MS,
  min5: 5 * MINUTE_MS,
  min15: 15 * MINUTE_MS,
  min30: 30 * MINUTE_MS,
  hour1: HOUR_MS,
  hour2: 2 * HOUR_MS,
  hour4: 4 * HOUR_MS,
  hour12: 12 * HOUR_MS,
  day1: DAY_MS,
  week1: WEEK_MS,
  month1: 0,
};

/** No interval of the resolution is shorter. */
export function shortestInterval(resolution: ChartResolution): number {
  return resolution === 'month1' ? 28 * DAY_MS : FIXED_MS[resolution];
}

/** The earliest start of any interval we take: the week of 1970-01-01 began on Monday before. */
export const EARLIEST_START_MS = FIRST_MONDAY_MS - WEEK_MS;

/** The last moment we take: the end of year 9999. */
export const MAX_TIME_MS = 253_402_300_799_999;

/** Start of the interval that contains `timeMs`. */
export function intervalStart(resolution: ChartResolution, timeMs: number): number {
  if (resolution === 'month1') {
    const date = new Date(timeMs);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  }
  const offsetMs = resolution === 'week1' ? FIRST_MONDAY_MS : 0;
  const lengthMs = FIXED_MS[resolution];
  return Math.floor((timeMs - offsetMs) / lengthMs) * lengthMs + offsetMs;
}

/** End (exclusive) of the interval that starts at `startMs`; also the next interval's start. */
export function intervalEnd(resolution: ChartResolution, startMs: number): number {
  if (resolution === 'month1') {
    const date = new Date(startMs);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  }
  return startMs + FIXED_MS[resolution];
}
