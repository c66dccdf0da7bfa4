/**
 * Holdings and profits of payment keys, over all tokens. A token counts where a key holds it or has
 * traded it. Per token, the sums equal `pnl-card` and `asset-balance`.
 */
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
import type { Ratio } from '../../engine/market/ratio.ts';
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
import { eachUnder, type HeldState, type Steps } from '../schemas/slicedReads.ts';
import type { Portfolio, PortfolioToken } from './portfolioSchema.ts';
import { ada, seconds } from './routes.ts';

/** Rows of wallets and tokens that one answer reads: about a tenth of a second, in slices. */
const MAX_ROWS = 5_000;

interface Holding {
  readonly shown: Pick<PoolRecord, 'name' | 'ticker' | 'logoCID'>;
  readonly spot: Ratio;
  balance: bigint;
  position: Position;
  unrealizedLovelace: bigint;
  firstMs: number | null;
  lastMs: number | null;
}

type Totals = Omit<Portfolio, 'openOrders' | 'locks'>;
type Rows = HeldState['rows'];

export function* portfolioOf(
  rows: Rows,
  keys: ReadonlySet<string>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Steps<Totals | Failure> {
  const holdings = yield* holdingsOf(rows, keys);
  if (holdings instanceof Failure) return holdings;
  const valued = [];
  let [value, unrealized, position] = [0n, 0n, NO_POSITION];
  for (const [asset, holding] of holdings) {
    const worth = worthLovelace(holding.balance, holding.spot);
    valued.push({ asset, holding, worth });
    value += worth;
    unrealized += holding.unrealizedLovelace;
    position = addPositions(position, holding.position);
    yield;
  }
  valued.sort((a, b) => Number(b.worth > a.worth) - Number(b.worth < a.worth) || by(a, b));
  const tokens: PortfolioToken[] = [];
  for (const { asset, holding, worth } of valued.slice(offset, offset + limit)) {
    tokens.push(tokenView(asset, holding, worth));
    yield;
  }
  const profit = profitOf(position, unrealized);
  return { valueAda: ada(value), ...profit, count: valued.length, tokens };
}

function by(a: { readonly asset: AssetId }, b: { readonly asset: AssetId }): number {
  return a.asset < b.asset ? -1 : 1;
}

/** By token. */
function* holdingsOf(
  rows: Rows,
  keys: ReadonlySet<string>,
): Steps<Map<AssetId, Holding> | Failure> {
  const holdings = new Map<AssetId, Holding>();
  const holdingOf = (token: AssetId): Holding | null => {
    const known = holdings.get(token);
    if (known !== undefined) return known;
    const pool = rows.record<PoolRecord>('pools', token);
    if (pool === null) return null;
    const made = newHolding(pool);
    holdings.set(token, made);
    return made;
  };
  const traded = yield* eachOfKeys(rows, { table: 'traders', keys, most: MAX_ROWS }, (row) => {
    const holding = holdingOf(tokenOf(row.key));
    if (holding === null) return;
    const trader = readRecord<TraderRecord>(row.value);
    const position = positionOf(trader);
    holding.position = addPositions(holding.position, position);
    holding.unrealizedLovelace += unrealizedLovelace(position, holding.spot);
    holding.firstMs = Math.min(holding.firstMs ?? trader.firstMs, trader.firstMs);
    holding.lastMs = Math.max(holding.lastMs ?? trader.lastMs, trader.lastMs);
  });
  const held = yield* eachOfKeys(rows, { table: 'balances', keys, most: MAX_ROWS }, (row) => {
    const holding = holdingOf(tokenOf(row.key));
    if (holding !== null) holding.balance += BigInt(row.value);
  });
  return traded && held ? holdings : tooMany(`${MAX_ROWS} tokens`);
}

function newHolding(pool: PoolRecord): Holding {
  const { name, ticker, logoCID } = pool;
  const nothing = { balance: 0n, position: NO_POSITION, unrealizedLovelace: 0n };
  const times = { firstMs: null, lastMs: null };
  return { shown: { name, ticker, logoCID }, spot: spotOf(poolState(pool)), ...nothing, ...times };
}

interface RowsOfKeys {
  readonly table: Extract<KeyedTable, 'traders' | 'balances'>;
  readonly keys: ReadonlySet<string>;
  readonly most: number;
}

/** Rows `<key>/<token>`; false: they are more than `most`. */
export function* eachOfKeys(
  rows: Rows,
  { table, keys, most }: RowsOfKeys,
  take: (row: KeyedRow) => void,
): Steps<boolean> {
  let left = most + 1;
  for (const pkh of keys) {
    yield* eachUnder(rows, table, { prefix: `${pkh}/`, most: left }, (row) => {
      left -= 1;
      if (left > 0) take(row);
    });
    if (left === 0) return false;
    yield;
  }
  return true;
}

export function tokenOf(key: string): AssetId {
  return key.slice(key.indexOf('/') + 1);
}

export function tooMany(what: string): Failure {
  return invalid('body', `These keys have more than ${what}: ask for some of them at a time.`);
}

function tokenView(asset: AssetId, holding: Holding, worth: bigint): PortfolioToken {
  const { shown, balance, position, firstMs, lastMs } = holding;
  const { numerator, denominator } = holding.spot;
  const { boughtTokens, soldTokens, spentLovelace, receivedLovelace } = position;
  return {
    asset,
    ...shown,
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
