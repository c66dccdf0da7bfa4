/**
 * The span of a ticker's spark, and its steps: a pure function of the launch and of market time.
 * Source: protocol.md section 10.0.
 */
import { HOUR_MS, MINUTE_MS } from './resolution.ts';

export interface SparkSpan {
  /** Start of the first step, aligned to 00:00 UTC. */
  readonly fromMs: number;
  readonly stepMs: number;
  /** Number of steps, including the step that contains market time. */
  readonly points: number;
}

const MAX_POINTS = 48;
const STEPS_MS = [1, 2, 3, 5, 10, 15, 20, 30].map((minutes) => minutes * MINUTE_MS);
const LONGEST_MS = (24 * HOUR_MS) / MAX_POINTS;

/**
 * The life of a token at market time `atMs`, at most 24 hours: in the smallest steps that give at
 * most 48 points. `createdMs` null: not known, so 24 hours.
 */
export function sparkSpan(createdMs: number | null, atMs: number): SparkSpan {
  const firstMs = Math.min(createdMs ?? 0, atMs);
  const pointsOf = (stepMs: number) => Math.floor(atMs / stepMs) - Math.floor(firstMs / stepMs) + 1;
  const stepMs = STEPS_MS.find((each) => pointsOf(each) <= MAX_POINTS) ?? LONGEST_MS;
  const points = Math.min(pointsOf(stepMs), MAX_POINTS);
  return { fromMs: (Math.floor(atMs / stepMs) - points + 1) * stepMs, stepMs, points };
}

export function isSameSpan(a: SparkSpan, b: SparkSpan): boolean {
  return a.fromMs === b.fromMs && a.stepMs === b.stepMs && a.points === b.points;
}

/** The fields of a ticker, as clients have it. */
interface Line {
  readonly price: string;
  readonly change24h: string | null;
  readonly spark: { readonly closes: readonly (string | null)[] };
}

/**
 * The points of its line, for pixels: at least two where a price is known. It begins with the price
 * that the change of 24 hours counts from, so that line and change say the same.
 */
export function sparkLine({ spark, price, change24h }: Line): number[] {
  const closes = spark.closes.flatMap((close) => (close === null ? [] : [Number(close)]));
  const first = change24h === null ? null : Number(price) / (1 + Number(change24h) / 100);
  if (first !== null && Number.isFinite(first)) return [first, ...closes];
  return closes.length === 1 ? [...closes, ...closes] : closes;
}
