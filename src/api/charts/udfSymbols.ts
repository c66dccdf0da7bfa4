/**
 * Symbols of the UDF datafeed: a token against ADA under its asset id, any other pair as
 * `base_quote`. What a person types (a ticker, `UPCURVE:RKT/ADA`) finds the token with the highest
 * market cap that has it. Source: TradingView's UDF page, api.md section 8.
 */
import Type from 'typebox';
import type { ListedPool } from '../../engine/actors/directory.ts';
import type { Fold } from '../../engine/actors/fold.ts';
import { COIN, parseAsset } from '../../engine/market/asset.ts';
import {
  RESOLUTIONS,
  TRADING_VIEW_MINUTES,
  TRADING_VIEW_RESOLUTIONS,
} from '../../engine/market/resolution.ts';
import { findChart, pricePairs } from './market.ts';

export interface UdfSymbol {
  readonly base: string;
  readonly quote: string;
  /** As a chart shows it. */
  readonly name: string;
  readonly description: string;
}

export const EXCHANGE = 'UPCURVE';
export const SYMBOL_TYPE = 'crypto';

export const Config = Type.Object({
  supported_resolutions: Type.Array(Type.String()),
  supports_search: Type.Boolean(),
  supports_group_request: Type.Boolean(),
  supports_marks: Type.Boolean(),
  supports_timescale_marks: Type.Boolean(),
  supports_time: Type.Boolean(),
  exchanges: Type.Array(
    Type.Object({ value: Type.String(), name: Type.String(), desc: Type.String() }),
  ),
  symbols_types: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
});

export const CONFIG: Type.Static<typeof Config> = {
  supported_resolutions: TRADING_VIEW_RESOLUTIONS,
  supports_search: true,
  supports_group_request: false,
  supports_marks: false,
  supports_timescale_marks: false,
  supports_time: true,
  exchanges: [{ value: EXCHANGE, name: 'upcurve', desc: 'Launched tokens against ADA' }],
  symbols_types: [{ name: 'Tokens', value: SYMBOL_TYPE }],
};

export const SymbolInfo = Type.Object({
  name: Type.String(),
  ticker: Type.String({ description: 'Ask with this for the symbol and its history.' }),
  description: Type.String(),
  type: Type.Literal(SYMBOL_TYPE),
  session: Type.Literal('24x7'),
  timezone: Type.Literal('Etc/UTC'),
  exchange: Type.String(),
  listed_exchange: Type.String(),
  format: Type.Literal('price'),
  minmov: Type.Integer(),
  pricescale: Type.Integer(),
  has_intraday: Type.Boolean(),
  intraday_multipliers: Type.Array(Type.String()),
  has_daily: Type.Boolean(),
  has_weekly_and_monthly: Type.Boolean(),
  supported_resolutions: Type.Array(Type.String()),
  volume_precision: Type.Integer({ description: 'Volumes are in the quote asset.' }),
  data_status: Type.Literal('streaming'),
});

export const Found = Type.Array(
  Type.Object({
    symbol: Type.String(),
    full_name: Type.String(),
    description: Type.String(),
    exchange: Type.String(),
    ticker: Type.String(),
    type: Type.Literal(SYMBOL_TYPE),
  }),
);

/** Fractional digits that a chart shows of a price. */
const PRICE_SCALE = 1_000_000_000_000;

/** null: nothing of that name is traded. */
export function findSymbol(fold: Fold, text: string): UdfSymbol | null {
  const asked = text.trim().replace(new RegExp(`^${EXCHANGE}:`, 'i'), '');
  const [baseText = '', quoteText = COIN, ...more] = asked.split('_');
  const [base, quote] = [parseAsset(baseText), parseAsset(quoteText)];
  if (more.length > 0) return null;
  if (base !== null && quote !== null) return symbolOf(fold, base, quote);
  const ticker = asked.replace(/\/ADA$/i, '').toLowerCase();
  if (ticker === '') return null;
  const { items } = fold.directory.search(ticker, 0, 1);
  const pool = items[0]?.pool;
  const has = (name: string) => name.toLowerCase() === ticker;
  if (pool === undefined || !(has(pool.ticker) || has(pool.name))) return null;
  return symbolOf(fold, pool.token, COIN);
}

function symbolOf(fold: Fold, base: string, quote: string): UdfSymbol | null {
  const names = pricePairs({ base, quote, resolution: RESOLUTIONS[0] });
  if (findChart(fold, names, RESOLUTIONS[0]) === null) return null;
  const pool = quote === COIN ? fold.directory.find(base)?.pool : undefined;
  if (pool !== undefined) return launched(pool);
  const ticker = tickerOf({ base, quote });
  return { base, quote, name: ticker, description: ticker };
}

/** Of a token that was launched here: it has bars, and nothing needs to be loaded to know it. */
function launched({ token, ticker, name }: ListedPool['pool']): UdfSymbol {
  const short = ticker === '' ? name : ticker;
  return { base: token, quote: COIN, name: `${short}/ADA`, description: `${name} / ADA` };
}

export function tickerOf({ base, quote }: Pick<UdfSymbol, 'base' | 'quote'>): string {
  return quote === COIN ? base : `${base}_${quote}`;
}

export function symbolInfo(symbol: UdfSymbol): Type.Static<typeof SymbolInfo> {
  return {
    name: symbol.name,
    ticker: tickerOf(symbol),
    description: symbol.description,
    type: SYMBOL_TYPE,
    session: '24x7',
    timezone: 'Etc/UTC',
    exchange: EXCHANGE,
    listed_exchange: EXCHANGE,
    format: 'price',
    minmov: 1,
    pricescale: PRICE_SCALE,
    has_intraday: true,
    intraday_multipliers: TRADING_VIEW_MINUTES,
    has_daily: true,
    has_weekly_and_monthly: true,
    supported_resolutions: TRADING_VIEW_RESOLUTIONS,
    volume_precision: 6,
    data_status: 'streaming',
  };
}

/** Best first; without a pattern the highest market caps. */
export function searchSymbols(
  fold: Fold,
  pattern: string,
  limit: number,
): Type.Static<typeof Found> {
  const text = pattern.trim();
  const pools =
    text === ''
      ? fold.directory.page('MCapDesc', limit)
      : fold.directory.search(text, 0, limit).items;
  return pools.map(({ pool }) => {
    const { base: ticker, name, description } = launched(pool);
    const full = `${EXCHANGE}:${name}`;
    const about = { description, exchange: EXCHANGE, ticker, type: SYMBOL_TYPE } as const;
    return { symbol: name, full_name: full, ...about };
  });
}
