/** Bars as charts draw them. The only place where a price becomes floating point: for pixels. */
import type { Candle } from '../mirrors/barList.ts';

/** As `UTCTimestamp` of lightweight-charts: Unix seconds. */
export type ChartTime = number & { [Symbol.species]: 'UTCTimestamp' };

export interface CandlePoint {
  time: ChartTime;
  open: number;
  high: number;
  low: number;
  close: number;
}

export interface VolumePoint {
  time: ChartTime;
  value: number;
  color?: string;
}

/** The largest number that lightweight-charts accepts: 2^53 / 100. */
const MAX_DRAWABLE = 90_071_992_547_409;

/** An exact decimal as a number that can be drawn. */
export function drawable(decimal: string): number {
  return Math.min(Number(decimal), MAX_DRAWABLE);
}

export function chartTime(seconds: number): ChartTime {
  // trust: a name for Unix seconds, which they are
  return seconds as ChartTime;
}

export function candlePoint({ time, open, high, low, close }: Candle): CandlePoint {
  return {
    time: chartTime(time),
    open: drawable(open),
    high: drawable(high),
    low: drawable(low),
    close: drawable(close),
  };
}
