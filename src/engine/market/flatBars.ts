/**
 * The fill rule, here and nowhere else: between traded bars stand flat ones at the previous close.
 * Filled bars are made for an answer and never enter the fold or a coarser bar.
 * Source: protocol.md section 1, `fill=previous`.
 */
import type { BarView } from './barView.ts';
import { type ChartResolution, intervalEnd, intervalStart } from './resolution.ts';

export interface FillSpan {
  readonly resolution: ChartResolution;
  /** Flat bars start in [fromMs, toMs) ... */
  readonly fromMs: number;
  readonly toMs: number;
  /** ... and nowhere at or after market time. */
  readonly marketMs: number;
  /** Close of the last traded bar before `fromMs`; null when the pair had not traded by then. */
  readonly previousClose: string | null;
  /** At most this many bars, the newest ones. */
  readonly limit: number;
}

/** A bar of an interval without trades. */
export function flatBar(
  resolution: ChartResolution,
  startMs: number,
  close: string,
  marketMs: number,
): BarView {
  return {
    time: startMs / 1000,
    low: close,
    high: close,
    open: close,
    close,
    volume: '0',
    baseVolume: '0',
    trades: 0,
    final: intervalEnd(resolution, startMs) <= marketMs,
  };
}

/**
 * Weaves flat bars between `traded` (ascending, all inside the span). Walks from the newest end, so
 * that a span of years costs no more than `limit` steps. Returns ascending bars; `cut` says that
 * older ones were left out.
 */
export function fillPrevious(
  traded: readonly BarView[],
  span: FillSpan,
): { bars: BarView[]; cut: boolean } {
  const { resolution, limit } = span;
  const newestFirst: BarView[] = [];
  const oldest = traded[0];
  const floorMs = span.previousClose === null ? (oldest?.time ?? Infinity) * 1000 : span.fromMs;
  const lastFlatMs = intervalStart(resolution, Math.min(span.toMs, span.marketMs) - 1);
  let next = traded.length - 1;
  // Trades may run ahead of market time; flat bars may not.
  const atOrBefore = (startMs: number) =>
    startMs <= lastFlatMs ? startMs : Math.max(lastFlatMs, (traded[next]?.time ?? 0) * 1000);
  let cursorMs = atOrBefore(Infinity);
  while (cursorMs >= floorMs && newestFirst.length < limit) {
    const bar = traded[next];
    if (bar !== undefined && bar.time * 1000 === cursorMs) {
      newestFirst.push(bar);
      next -= 1;
    } else {
      const close = bar?.close ?? span.previousClose;
      if (close === null) break;
      newestFirst.push(flatBar(resolution, cursorMs, close, span.marketMs));
    }
    cursorMs = atOrBefore(intervalStart(resolution, cursorMs - 1));
  }
  return { bars: newestFirst.reverse(), cut: cursorMs >= floorMs };
}
