/** Checks of a market that end-to-end tests share: bars over HTTP, streams, positions. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { type Bar, readHealth, readHistory } from '../support/chart.ts';
import { type FeedTrade, type PairIds, XRP_ETH, xrpCandles } from '../support/feeds.ts';
import { barsOf, INTERVALS, type Interval, startOf } from '../support/model.ts';
import { type Environment, runProgram, type Server } from '../support/server.ts';
import type { StrictSubscription } from '../support/subscription.ts';
import { untilAsked } from '../support/until.ts';

/** A bar without what depends on how far market time has got. */
function traded({ final: _, ...bar }: Bar): Omit<Bar, 'final'> {
  return bar;
}

/** The bars are the exchange's: how many; all five fields, nothing extra, nothing missing. */
export function assertCandles(bars: readonly Bar[], interval: '1m' | '5m'): number {
  const ours = bars.map(({ time, open, high, low, close, baseVolume }) => {
    return { time, open, high, low, close, baseVolume };
  });
  const theirs = xrpCandles(interval);
  assert.deepEqual(ours, theirs);
  return theirs.length;
}

/** The server's bars over HTTP at every resolution are the plain model's, `final` included. */
export async function assertBarsOverHttp(
  url: string,
  pair: PairIds,
  trades: readonly FeedTrade[],
  marketMs: number,
  limit = 5000,
): Promise<void> {
  for (const interval of INTERVALS) {
    const history = await readHistory(url, { ...pair, interval, limit });
    assert(history !== null, 'the pair is known');
    const expected = barsOf(trades, interval);
    assert.equal(history.pages, Math.max(1, Math.ceil(expected.length / limit)), interval);
    assert.deepEqual(history.bars.map(traded), expected, interval);
    for (const bar of history.bars) {
      assert.equal(bar.final, endOf(interval, bar.time) <= marketMs / 1000, `final ${interval}`);
    }
  }
}

export function endOf(interval: Interval, time: number): number {
  // 32 days after a month's start lie in the next month; less than two of anything shorter.
  const steps = { min1: 60, min5: 300, hour1: 3600, day1: 86_400, week1: 604_800, month1: 0 };
  if (interval !== 'month1') return time + steps[interval];
  return startOf('month1', (time + 32 * 86_400) * 1000);
}

/** XRP/ETH over HTTP: the exchange's candles, and roll-ups at the other resolutions. */
export async function assertXrp(url: string, trades: readonly FeedTrade[]): Promise<void> {
  const params = { ...XRP_ETH, limit: 1000 };
  for (const [interval, candles] of [
    ['min1', '1m'],
    ['min5', '5m'],
  ] as const) {
    const history = await readHistory(url, { ...params, interval });
    assertCandles(history?.bars ?? [], candles);
  }
  await assertBarsOverHttp(url, XRP_ETH, trades, marketAfter(trades));
}

/** Market time at the end of a feed file: the end of the last trade's minute. */
export function marketAfter(trades: readonly FeedTrade[]): number {
  const lastMs = trades.reduce((last, { timeMs }) => Math.max(last, timeMs), 0);
  return (Math.floor(lastMs / 60_000) + 1) * 60_000;
}

/** The difference between the bars of a subscription and the bars of HTTP; null: nothing. */
export async function difference(
  url: string,
  subscription: StrictSubscription,
): Promise<string | null> {
  const { maxHz: _, ...params } = subscription.params;
  const bars = (await readHistory(url, params))?.bars ?? [];
  const newest = bars.at(-1);
  const known = subscription.sorted;
  const expected = subscription.whole
    ? bars
    : bars.filter(({ time }) => subscription.bars.has(time));
  if (known.at(-1)?.time !== newest?.time) {
    return `newest ${JSON.stringify(known.at(-1))}, should be ${JSON.stringify(newest)}`;
  }
  if (known.length !== expected.length) return `${known.length} bars of ${expected.length}`;
  const at = expected.findIndex((bar, index) => !isDeepStrictEqual(bar, known[index]));
  if (at < 0) return null;
  return `${JSON.stringify(known[at])}, should be ${JSON.stringify(expected[at])}`;
}

/** The subscription holds exactly the bars of HTTP, those since its snapshot where it was told. */
export async function assertSame(url: string, subscription: StrictSubscription): Promise<void> {
  assert.equal(await difference(url, subscription), null, JSON.stringify(subscription.params));
}

/** As `assertSame`, once the client has caught up: nothing is fed meanwhile. */
export async function untilSame(
  url: string,
  subscription: StrictSubscription,
  limitMs = 60_000,
): Promise<void> {
  const { requestId, params, recent } = subscription;
  await untilAsked(
    () => `the bars of HTTP in ${requestId} ${JSON.stringify(params)} after ${recent.join(', ')}`,
    () => difference(url, subscription),
    (found) => found === null,
    limitMs,
  );
}

export interface Mark {
  readonly position: string;
  readonly stateHash: string;
}

export async function markOf(server: Server): Promise<Mark> {
  const { position, stateHash } = await readHealth(server.url);
  return { position, stateHash };
}

/** `--verify`: the state equals a replay of the log. */
export async function assertVerified(env: Environment): Promise<void> {
  const { exit, program } = await runProgram(['--verify'], env);
  assert.equal(exit.code, 0, program.text);
  assert.match(program.text, /The state is what the log says/);
}
