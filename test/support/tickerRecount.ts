/** A ticker counted again from all trades of its token, by code that is slow and plain. */
import { adaPrice, compareRatios, decimal, fixed, type Ratio } from '../e2e/api/exact.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LENGTHS_MS = {
  '5m': 5 * MINUTE_MS,
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '24h': 24 * HOUR_MS,
};

export interface CountedTrade {
  readonly atMs: number;
  readonly isBuy: boolean;
  readonly lovelace: bigint;
  readonly pkh: string;
  /** Spot, lovelace per token. */
  readonly before: Ratio;
  readonly after: Ratio;
}

/** Trust data of protocol.md 10.2. */
interface CountedTrust {
  readonly top10Percent: string;
  readonly author: { readonly percent: string };
  readonly snipers: { readonly percent: string };
  readonly holders: number;
}

interface CountedToken {
  readonly asset: string;
  readonly name: string;
  readonly ticker: string;
  readonly logoCID: string;
  readonly createdMs: number;
  readonly isGraduated: boolean;
  /** Now. */
  readonly spot: Ratio;
  /** Rounded to the lovelace. */
  readonly marketCapLovelace: bigint;
  readonly reserveLovelace: bigint;
  readonly progress: string;
  readonly trust: CountedTrust;
  /** Oldest first. */
  readonly trades: readonly CountedTrade[];
}

export function recount(token: CountedToken, marketMs: number) {
  const nowMs = Math.floor(marketMs / MINUTE_MS) * MINUTE_MS;
  const since = (fromMs: number) => token.trades.filter(({ atMs }) => atMs >= fromMs);
  const launchSpot = token.trades[0]?.before ?? token.spot;
  const windowOf = (name: keyof typeof LENGTHS_MS) => {
    const fromMs = nowMs - LENGTHS_MS[name];
    const inside = since(fromMs);
    const buys = inside.filter(({ isBuy }) => isBuy).length;
    const last = token.trades.findLast(({ atMs }) => atMs < fromMs);
    const isYoung = token.createdMs > fromMs;
    return {
      basis: isYoung ? { [name]: { since: 'launch' } } : {},
      volume: ada(inside.reduce((sum, { lovelace }) => sum + lovelace, 0n)),
      buys,
      sells: inside.length - buys,
      change: percent(token.spot, last?.after ?? launchSpot),
    };
  };
  const [m5, h1, h6, h24] = [windowOf('5m'), windowOf('1h'), windowOf('6h'), windowOf('24h')];
  const day = since(nowMs - LENGTHS_MS['24h']);
  const ends = day.flatMap(({ before, after }) => [before, after]);
  const byPrice = (ends.length === 0 ? [token.spot] : ends).toSorted(compareRatios);
  const last = token.trades.at(-1);
  return {
    asset: token.asset,
    name: token.name,
    ticker: token.ticker,
    logoCID: token.logoCID,
    price: adaPrice(token.spot),
    marketCap: ada(token.marketCapLovelace),
    change5m: m5.change,
    change1h: h1.change,
    change6h: h6.change,
    change24h: h24.change,
    changeBasis: { ...m5.basis, ...h1.basis, ...h6.basis, ...h24.basis },
    high24h: adaPrice(byPrice.at(-1) ?? token.spot),
    low24h: adaPrice(byPrice[0] ?? token.spot),
    volume5m: m5.volume,
    volume1h: h1.volume,
    volume6h: h6.volume,
    volume24h: h24.volume,
    buys5m: m5.buys,
    sells5m: m5.sells,
    buys1h: h1.buys,
    sells1h: h1.sells,
    buys6h: h6.buys,
    sells6h: h6.sells,
    buys24h: h24.buys,
    sells24h: h24.sells,
    traders24h: new Set(day.map(({ pkh }) => pkh)).size,
    liquidity: ada(2n * token.reserveLovelace),
    progress: token.progress,
    createdOn: Math.floor(token.createdMs / 1000),
    lastTradeTime: last === undefined ? null : Math.floor(last.atMs / 1000),
    graduated: token.isGraduated,
    top10Percent: token.trust.top10Percent,
    authorPercent: token.trust.author.percent,
    snipersPercent: token.trust.snipers.percent,
    holders: token.trust.holders,
    spark: sparkOf(token, nowMs, launchSpot),
  };
}

/** Minutes of a step, tried one after the other: each point is counted on its own. */
function sparkOf(token: CountedToken, nowMs: number, launchSpot: Ratio) {
  const sinceMs = Math.max(token.createdMs, nowMs - LENGTHS_MS['24h']);
  const startsIn = (minutes: number) => {
    const stepMs = minutes * MINUTE_MS;
    const starts: number[] = [];
    for (let at = Math.floor(nowMs / stepMs) * stepMs; at + stepMs > sinceMs; at -= stepMs) {
      starts.unshift(at);
    }
    // Market time of a launch is cut to its minute.
    return starts.length === 0 ? [Math.floor(nowMs / stepMs) * stepMs] : starts;
  };
  const steps = [1, 2, 3, 5, 10, 15, 20, 30];
  const step = steps.find((minutes) => startsIn(minutes).length <= 48) ?? 30;
  const starts = startsIn(step).slice(-48);
  const closes = starts.map((startMs, index) => {
    if (index === starts.length - 1) return adaPrice(token.spot);
    const endMs = startMs + step * MINUTE_MS;
    return adaPrice(token.trades.findLast(({ atMs }) => atMs < endMs)?.after ?? launchSpot);
  });
  return { from: (starts[0] ?? 0) / 1000, step: step * 60, closes };
}

function percent(now: Ratio, then: Ratio): string {
  return fixed({ n: (now.n * then.d - then.n * now.d) * 100n, d: now.d * then.n }, 2);
}

function ada(lovelace: bigint): string {
  return decimal({ n: lovelace, d: 1_000_000n });
}
