/**
 * Times of a chart: its axis, its crosshair and its legend in one zone, the reader's own or UTC. A
 * bar of a day or more is a day of UTC everywhere, so its date is, too.
 */
import { locale } from '../language.ts';
import { t } from '../messages.ts';

export const ZONES = ['local', 'utc'] as const;
export type Zone = (typeof ZONES)[number];

/**
 * The period that begins at a mark on the axis, as the chart library numbers it: a year, a month, a
 * day.
 */
const MARKS: readonly Intl.DateTimeFormatOptions[] = [
  { year: 'numeric' },
  { month: 'short' },
  { day: 'numeric' },
];
const DAY_MARK: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' };
const TIME_MARK: Intl.DateTimeFormatOptions = {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
};

const SECOND_MARK: Intl.DateTimeFormatOptions = { ...TIME_MARK, second: '2-digit' };

/** The smallest distance between two points: trades of one minute differ by their seconds. */
export type Step = 'trade' | 'minute' | 'day';

export interface ChartTimes {
  /** Formats Unix seconds. */
  readonly moment: (seconds: number) => string;
  /** Short, for a mark on the axis. */
  readonly mark: (seconds: number, kind: number) => string;
}

const MOMENTS: Readonly<Record<Step, Intl.DateTimeFormatOptions>> = {
  trade: { timeStyle: 'medium' },
  minute: { timeStyle: 'short' },
  day: {},
};

export function timesOf(zone: Zone, step: Step): ChartTimes {
  const isDays = step === 'day';
  const writer = (options: Intl.DateTimeFormatOptions) => {
    const inUtc = isDays || zone === 'utc' ? { timeZone: 'UTC' } : {};
    const format = new Intl.DateTimeFormat(locale, { ...options, ...inUtc });
    return (seconds: number) => format.format(seconds * 1000);
  };
  const time = writer(step === 'trade' ? SECOND_MARK : TIME_MARK);
  const day = writer(DAY_MARK);
  const marks = MARKS.map(writer);
  return {
    moment: writer({ dateStyle: 'medium', ...MOMENTS[step] }),
    mark(seconds, kind) {
      if (isDays) return (marks[kind] ?? day)(seconds);
      // Marks of days stand where a day of UTC begins, which elsewhere is any hour.
      return kind < marks.length ? day(seconds) : time(seconds);
    },
  };
}

/** `UTC+2`: of the reader's own zone, at this time. */
export function zoneName(zone: Zone, seconds: number): string {
  if (zone === 'utc') return t.chart.utc({ offset: '' });
  const format = new Intl.DateTimeFormat('en', { timeZoneName: 'shortOffset' });
  const parts = format.formatToParts(seconds * 1000);
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return t.chart.utc({ offset: offset.replace(/^GMT(\+0)?$|^GMT/, '') });
}
