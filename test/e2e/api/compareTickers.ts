/** Tickers against the model: every ticker recounted from all trades, lists sorted again. */
import { recount } from '../../support/tickerRecount.ts';
import type { Asker } from './asker.ts';
import { halfUp } from './exact.ts';
import type { NaiveMarket } from './model.ts';
import { compareTexts } from './modelPools.ts';
import { capOf } from './modelVenue.ts';

const UNKNOWN = `${'ab'.repeat(28)}.00`;
export type Ticker = ReturnType<typeof recount>;

export async function compareTickers(asker: Asker, market: NaiveMarket): Promise<void> {
  const tickers = market.tokens.map((token) => tickerOf(market, token));
  const count = tickers.length;
  const route = 'GET /v1/tickers';
  const volume = ({ volume24h }: Ticker) => Number(volume24h);
  await asker.expect({ route }, { count, items: sorted(tickers, volume, -1).slice(0, 100) });
  for (const [sort, value] of [
    ['marketCap', ({ marketCap }: Ticker) => Number(marketCap)],
    ['change1h', ({ change1h }: Ticker) => (change1h === null ? null : Number(change1h))],
    ['lastTrade', ({ lastTradeTime }: Ticker) => lastTradeTime],
    ['traders24h', ({ traders24h }: Ticker) => traders24h],
    ['holders', ({ holders }: Ticker) => holders],
    ['top10Percent', ({ top10Percent }: Ticker) => Number(top10Percent)],
  ] as const) {
    for (const [order, side] of [
      ['asc', 1],
      ['desc', -1],
    ] as const) {
      const items = sorted(tickers, value, side).slice(1, 4);
      const query = { sort, order, offset: 1, limit: 3 };
      await asker.expect({ route, query }, { count, items });
    }
  }
  for (const graduated of [true, false]) {
    const found = tickers.filter((ticker) => ticker.graduated === graduated);
    const items = sorted(found, volume, -1).slice(0, 100);
    const query = { graduated: String(graduated) };
    await asker.expect({ route, query }, { count: found.length, items });
  }
  await compareGiven(asker, tickers);
}

async function compareGiven(asker: Asker, tickers: readonly Ticker[]): Promise<void> {
  const route = 'POST /v1/tickers';
  const given = tickers.toReversed();
  const body = [UNKNOWN, ...given.map(({ asset }) => asset.toUpperCase())];
  await asker.expect({ route, body }, { count: given.length, items: given });
  await asker.refused({ route, body: [] }, 400, 'INVALID_PARAMS');
}

export function tickerOf(market: NaiveMarket, asset: string): Ticker {
  const { pools, marketMs } = market;
  const { trades, launch, spot } = market.tape(asset);
  const { name, ticker, logoCID } = pools.info(asset);
  const { x, venue } = pools.now(asset);
  const counted = trades.map((trade) => {
    return {
      atMs: trade.at.timeMs,
      isBuy: trade.isBuy,
      lovelace: trade.lovelace,
      pkh: trade.pkh,
      before: trade.spotBefore,
      after: trade.spotAfter,
    };
  });
  const token = {
    asset,
    name,
    ticker,
    logoCID,
    createdMs: launch.made.timeMs,
    isGraduated: venue === 'AMM',
    spot,
    marketCapLovelace: halfUp(capOf(spot)),
    reserveLovelace: x,
    progress: pools.progress(asset).percent,
    trust: market.people.insights(asset, pools.now(asset).y),
    trades: counted,
  };
  return recount(token, marketMs);
}

/** Tokens by volume in 24 hours, then by market cap, then by asset id; graduated ones included. */
export function trending(market: NaiveMarket): string[] {
  const tickers = market.tokens.map((token) => tickerOf(market, token));
  const byCap = sorted(tickers, ({ marketCap }) => Number(marketCap), -1);
  return byCap.sort((a, b) => Number(b.volume24h) - Number(a.volume24h)).map(({ asset }) => asset);
}

/** null last both ways, ties by asset id. */
export function sorted(
  tickers: readonly Ticker[],
  value: (ticker: Ticker) => number | null,
  side: 1 | -1,
): Ticker[] {
  return tickers.toSorted((a, b) => {
    const [left, right] = [value(a), value(b)];
    if (left === right) return compareTexts(a.asset, b.asset);
    if (left === null || right === null) return left === null ? 1 : -1;
    return side * (left - right);
  });
}
