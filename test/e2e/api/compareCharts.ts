/** Section 1 of protocol.md against the model: bars of price and market cap at every resolution. */
import assert from 'node:assert/strict';
import { INTERVALS } from '../../support/model.ts';
import type { Asker } from './asker.ts';
import type { NaiveMarket } from './model.ts';
import { type BarsSpec, barsOf, capBarsOf, isRelevant, lastBar, lastCapBar } from './modelBars.ts';

/** A resolution whose filled bars are few. */
const COARSE = new Set(['hour1', 'day1', 'week1', 'month1']);
const UNKNOWN = `${'ab'.repeat(28)}.00`;

export async function compareCharts(asker: Asker, market: NaiveMarket): Promise<void> {
  for (const token of market.tokens) {
    for (const interval of INTERVALS) {
      await compareHistory(asker, market, { token, interval });
      await compareLast(asker, market, { token, interval });
    }
    await compareBulk(asker, market, token);
  }
  const query = { base: UNKNOWN, quote: '.', resolution: 'min1' };
  const span = { from: 0, to: 1 };
  for (const kind of ['', '/mcap']) {
    const history = { route: `GET /v1/charts${kind}/history`, query: { ...query, ...span } };
    await asker.refused(history, 404, 'ASSET_NOT_FOUND');
    const route = `GET /v1/charts${kind}/initial-state`;
    await asker.refused({ route, query }, 404, 'ASSET_NOT_FOUND');
    const [token = ''] = market.tokens;
    const swapped = { base: '.', quote: token, resolution: 'min1' };
    if (kind === '/mcap') await asker.refused({ route, query: swapped }, 400, 'INVALID_PARAMS');
    const empty = { ...query, base: token, from: 5, to: 5 };
    await asker.refused({ ...history, query: empty }, 400, 'INVALID_PARAMS');
  }
  await asker.refused({ route: 'GET /v1/charts/last', query }, 404, 'ASSET_NOT_FOUND');
}

function queryOf({ token, interval, isReversed = false }: BarsSpec) {
  const pair = isReversed ? { base: '.', quote: token } : { base: token, quote: '.' };
  return { ...pair, resolution: interval };
}

async function compareHistory(asker: Asker, market: NaiveMarket, spec: BarsSpec): Promise<void> {
  const tape = market.tape(spec.token);
  const now = Math.floor(market.marketMs / 1000);
  const first = Math.floor((tape.trades[0]?.at.timeMs ?? market.marketMs) / 1000);
  const windows = [
    { from: first - 7_200, to: now + 7_200 },
    { from: Math.floor((first + now) / 2), to: now + 1 },
    { from: first - 40 * 86_400, to: first + 1 },
  ];
  for (const { from, to } of windows) {
    for (const fill of ['none', 'previous'] as const) {
      const query = { ...queryOf(spec), from, to, fill };
      const route = 'GET /v1/charts/history';
      await asker.expect({ route, query }, barsOf(tape, { ...spec, from, to, fill }));
      const caps = capBarsOf(tape, { ...spec, from, to, fill });
      await asker.expect({ route: 'GET /v1/charts/mcap/history', query }, caps);
    }
  }
  const { from = 0, to = 0 } = windows[0] ?? {};
  const reversed = { ...spec, isReversed: true };
  const query = { ...queryOf(reversed), from, to };
  await asker.expect(
    { route: 'GET /v1/charts/history', query },
    barsOf(tape, { ...reversed, from, to }),
  );
  await compareCut(asker, market, spec, from, to);
}

/** A page of two: the newest two, and a header that says where to go on. */
async function compareCut(
  asker: Asker,
  market: NaiveMarket,
  spec: BarsSpec,
  from: number,
  to: number,
): Promise<void> {
  const fill = COARSE.has(spec.interval) ? 'none' : 'previous';
  const all = barsOf(market.tape(spec.token), { ...spec, from, to, fill });
  const query = { ...queryOf(spec), from, to, fill, limit: 2 };
  const question = { route: 'GET /v1/charts/history', query };
  const answer = await asker.expect(question, all.slice(-2));
  asker.judge(question.route, JSON.stringify(question), () => {
    const next = answer?.headers.get('X-Next-To') ?? null;
    assert.equal(next, all.length > 2 ? String(all.at(-2)?.time) : null, 'X-Next-To');
  });
}

/** All resolutions of both kinds in one call. */
async function compareBulk(asker: Asker, market: NaiveMarket, token: string): Promise<void> {
  const tape = market.tape(token);
  const span = { from: 0, to: Math.floor(market.marketMs / 1000) + 1, fill: 'none' } as const;
  const limit = 500;
  const items = INTERVALS.flatMap((interval) =>
    (['price', 'mcap'] as const).map((kind) => ({ ...span, kind, interval })),
  );
  const body = items.map(({ interval, ...item }) => ({
    ...queryOf({ token, interval }),
    ...item,
    limit,
  }));
  const expected = items.map(({ interval, kind }) => {
    const all = (kind === 'mcap' ? capBarsOf : barsOf)(tape, { token, interval, ...span });
    const bars = all.slice(-limit);
    return bars.length < all.length ? { bars, nextTo: bars[0]?.time } : { bars };
  });
  await asker.expect({ route: 'POST /v1/charts/bulk', body }, expected);
}

async function compareLast(asker: Asker, market: NaiveMarket, spec: BarsSpec): Promise<void> {
  const tape = market.tape(spec.token);
  for (const isReversed of [false, true]) {
    const bar = lastBar(tape, { ...spec, isReversed });
    const query = queryOf({ ...spec, isReversed });
    await asker.expect({ route: 'GET /v1/charts/last', query }, bar);
    const relevant = isRelevant(tape, spec.interval, bar);
    const route = 'GET /v1/charts/initial-state';
    await asker.expect({ route, query }, { bar, isRelevant: relevant });
  }
  const bar = lastCapBar(tape, spec);
  const route = 'GET /v1/charts/mcap/initial-state';
  await asker.expect({ route, query: queryOf(spec) }, { bar, isRelevant: bar.isRelevant });
}
