/** Tickers for tests of lists. */
import type { Ticker } from '../../src/client/types.ts';

/** At which they were launched, Unix seconds. */
export const NOW = 1_700_000_000;

const NO_TRADES = {
  ...{ change5m: null, change1h: null, change6h: null, change24h: null },
  changeBasis: {},
  ...{ volume5m: '0', volume1h: '0', volume6h: '0', volume24h: '0' },
  ...{ buys5m: 0, sells5m: 0, buys1h: 0, sells1h: 0 },
  ...{ buys6h: 0, sells6h: 0, buys24h: 0, sells24h: 0 },
} as const;

export function ticker(asset: string, change: Partial<Ticker> = {}): Ticker {
  return {
    ...NO_TRADES,
    ...{ asset, name: asset, ticker: asset, logoCID: '', price: '0.001' },
    ...{ marketCap: '1000', high24h: '0.001', low24h: '0.001', traders24h: 0, liquidity: '10' },
    ...{ top10Percent: '0.00', authorPercent: '0.00', snipersPercent: '0.00', holders: 0 },
    ...{ progress: '1', createdOn: NOW, lastTradeTime: null, graduated: false },
    spark: { from: NOW, step: 60, closes: ['0.001'] },
    ...change,
  };
}
