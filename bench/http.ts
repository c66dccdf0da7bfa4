/**
 * Requests a second, and what one costs the server: our routes against a bare route of the same
 * library that sends the same headers and the same bytes.
 * The question, the method and the numbers are in RESULTS.md.
 */
import type { Market } from './processes/market.ts';
import type { RawRoute } from './processes/rawRoute.ts';
import { COLUMNS, compare, NOTES, type Work } from './support/againstRaw.ts';
import type { Bench } from './support/bench.ts';
import { Process } from './support/processes.ts';
import { assetOf, QUOTE, START_MS } from './support/trades.ts';

const MINUTE_S = 60;
const BARS = 500;
/** Spans at different minutes: their answers together are far more than the cache keeps. */
const SPANS = 1_500;
const TRADES_PER_BAR = 4;

const PAIR = `base=${assetOf(0)}&quote=${QUOTE}&resolution=min1`;
const SPAN_PATHS = Array.from({ length: SPANS }, (_, at) => {
  const from = Math.ceil(START_MS / 1000 / MINUTE_S + 1 + at) * MINUTE_S;
  return `/v1/charts/history?${PAIR}&from=${from}&to=${from + BARS * MINUTE_S}`;
});
const ONE_SPAN = SPAN_PATHS.slice(0, 1);
const GZIP = { 'Accept-Encoding': 'gzip' };
const ASK = { method: 'GET', headers: {} } as const;
const HISTORY = { ...ASK, isInSlices: true } as const;

const WORKS: readonly Work[] = [
  { name: 'initial-state', ...ASK, paths: [`/v1/charts/initial-state?${PAIR}`] },
  { name: 'history, 500 bars', ...HISTORY, paths: ONE_SPAN },
  { name: 'history, 500 bars, gzip', ...HISTORY, paths: ONE_SPAN, headers: GZIP },
  { name: 'history, 500 bars, cold', ...HISTORY, paths: SPAN_PATHS },
];

export const http: Bench = {
  name: 'http',
  async measure(scale, progress) {
    const ours = await Process.start<Market>('market.ts', 'server');
    const raw = await Process.start<RawRoute>('rawRoute.ts', 'server');
    const entries = (SPANS + BARS + 1) * TRADES_PER_BAR;
    await ours.ask('fill', { pairs: 1, everyMs: (MINUTE_S * 1000) / TRADES_PER_BAR, entries });
    const rows: string[][] = [];
    for (const work of WORKS) rows.push(...(await compare(ours, raw, work, scale, progress)));
    await Promise.all([ours.end(), raw.end()]);
    return { columns: COLUMNS, rows, notes: NOTES };
  },
};
