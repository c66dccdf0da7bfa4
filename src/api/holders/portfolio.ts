/**
 * What payment keys hold and made, over all tokens. A token counts where a key holds it or has
 * traded it. Sums are those of `pnl-card` and `asset-balance`, token by token.
 */
import type { Fold } from '../../engine/actors/fold.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import { spotOf } from '../../engine/market/pool.ts';
import {
  addPositions,
  averagePrice,
  NO_POSITION,
  type Position,
  percentOf,
  unrealizedLovelace,
  worthLovelace,
} from '../../engine/market/profit.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import type { KeyedRow } from '../../engine/store/keyedRows.ts';
import {
  type PoolRecord,
  poolState,
  positionOf,
  readRecord,
  type TraderRecord,
} from '../../engine/store/records.ts';
import type { KeyedTable } from '../../engine/store/rows.ts';
import type { StateStore } from '../../engine/store/state.ts';
import type { Portfolio, PortfolioToken } from './portfolioSchema.ts';
import { ada, poolOf, seconds } from './routes.ts';

/** Rows of wallets and tokens that one answer reads: some tens of milliseconds. */
const MOST_ROWS = 5_000;

interface Holding {
  readonly pool: PoolRecord;
  balance: bigint;
  position: Position;
  unrealizedLovelace: bigint;
  firstMs: number | null;
  lastMs: number | null;
}

type Totals = Omit<Portfolio, 'openOrders' | 'locks'>;

export function portfolioOf(
  fold: Fold,
  keys: ReadonlySet<string>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Totals | Failure {
  const holdings = holdingsOf(fold, keys);
  if (holdings instanceof Failure) return holdings;
  const valued = Array.from(holdings, ([asset, holding]) => {
    const worth = worthLovelace(holding.balance, spotOf(poolState(holding.pool)));
    return { asset, holding, worth };
  });
  valued.sort((a, b) => Number(b.worth > a.worth) - Number(b.worth < a.worth) || by(a, b));
  let [value, unrealized, position] = [0n, 0n, NO_POSITION];
  for (const { worth, holding } of valued) {
    value += worth;
    unrealized += holding.unrealizedLovelace;
    position = addPositions(position, holding.position);
  }
  const shown = valued.slice(offset, offset + limit);
  return {
    valueAda: ada(value),
    ...profitOf(position, unrealized),
    count: valued.length,
    tokens: shown.map(({ asset, holding, worth }) => tokenView(asset, holding, worth)),
  };
}

function by(a: { readonly asset: AssetId }, b: { readonly asset: AssetId }): number {
  return a.asset < b.asset ? -1 : 1;
}

/** By token. */
function holdingsOf(fold: Fold, keys: ReadonlySet<string>): Map<AssetId, Holding> | Failure {
  const { store } = fold;
  const traded = rowsOfKeys(store, 'traders', keys, MOST_ROWS);
  const held = rowsOfKeys(store, 'balances', keys, MOST_ROWS);
  if (traded === null || held === null) return tooMany(`${MOST_ROWS} tokens`);
  const holdings = new Map<AssetId, Holding>();
  const holdingOf = (token: AssetId): Holding | null => {
    const known = holdings.get(token);
    if (known !== undefined) return known;
    const pool = poolOf(fold, token);
    if (pool === null) return null;
    const times = { firstMs: null, lastMs: null };
    const made = { pool, balance: 0n, position: NO_POSITION, unrealizedLovelace: 0n, ...times };
    holdings.set(token, made);
    return made;
  };
  for (const { key, value } of traded) {
    const holding = holdingOf(tokenOf(key));
    if (holding === null) continue;
    const trader = readRecord<TraderRecord>(value);
    const position = positionOf(trader);
    holding.position = addPositions(holding.position, position);
    holding.unrealizedLovelace += unrealizedLovelace(position, spotOf(poolState(holding.pool)));
    holding.firstMs = Math.min(holding.firstMs ?? trader.firstMs, trader.firstMs);
    holding.lastMs = Math.max(holding.lastMs ?? trader.lastMs, trader.lastMs);
  }
  for (const { key, value } of held) {
    const holding = holdingOf(tokenOf(key));
    if (holding !== null) holding.balance += BigInt(value);
  }
  return holdings;
}

/** Rows `<key>/<token>`; null: they are more than `most`. */
export function rowsOfKeys(
  store: StateStore,
  table: Extract<KeyedTable, 'traders' | 'balances'>,
  keys: ReadonlySet<string>,
  most: number,
): KeyedRow[] | null {
  const rows: KeyedRow[] = [];
  for (const pkh of keys) {
    rows.push(...store.withPrefix(table, `${pkh}/`, most + 1 - rows.length));
    if (rows.length > most) return null;
  }
  return rows;
}

export function tokenOf(key: string): AssetId {
  return key.slice(key.indexOf('/') + 1);
}

export function tooMany(what: string): Failure {
  return invalid('body', `These keys have more than ${what}: ask for some of them at a time.`);
}

function tokenView(asset: AssetId, holding: Holding, worth: bigint): PortfolioToken {
  const { pool, balance, position, firstMs, lastMs } = holding;
  const { numerator, denominator } = spotOf(poolState(pool));
  const { boughtTokens, soldTokens, spentLovelace, receivedLovelace } = position;
  return {
    asset,
    name: pool.name,
    ticker: pool.ticker,
    logoCID: pool.logoCID,
    price: formatPrice(numerator, denominator),
    balance: String(balance),
    valueAda: ada(worth),
    buyCount: position.buyCount,
    sellCount: position.sellCount,
    boughtTokens: String(boughtTokens),
    soldTokens: String(soldTokens),
    averageBuyPrice: averagePrice(spentLovelace, boughtTokens),
    averageSellPrice: averagePrice(receivedLovelace, soldTokens),
    ...profitOf(position, holding.unrealizedLovelace),
    firstTradeTime: firstMs === null ? null : seconds(firstMs),
    lastTradeTime: lastMs === null ? null : seconds(lastMs),
  };
}

function profitOf(position: Position, unrealized: bigint) {
  const { spentLovelace, receivedLovelace, realizedLovelace } = position;
  const gain = realizedLovelace + unrealized;
  return {
    spentAda: ada(spentLovelace),
    receivedAda: ada(receivedLovelace),
    realizedPnlAda: ada(realizedLovelace),
    unrealizedPnlAda: ada(unrealized),
    pnlPercent: spentLovelace === 0n ? null : percentOf(gain, spentLovelace),
  };
}
