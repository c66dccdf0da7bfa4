/**
 * Holders of a token, and the balances and profits of wallets, over HTTP. A wallet is a payment
 * key. The fold keeps holders in order, so a page is read, not sorted.
 */

import type { Fold } from '../../engine/fold/fold.ts';
import { balanceKey, holderAddress, holdersOf } from '../../engine/fold/holderRows.ts';
import { traderKey } from '../../engine/fold/traderRows.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { formatFixed, formatUnits } from '../../engine/market/decimal.ts';
import { spotOf } from '../../engine/market/pool.ts';
import {
  averagePrice,
  percentOf,
  unrealizedLovelace,
  worthLovelace,
} from '../../engine/market/profit.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import {
  type PoolRecord,
  poolState,
  positionOf,
  readRecord,
  type TraderRecord,
} from '../../engine/store/records.ts';
import { LIST_BODY_BYTES } from '../gateway/bodyLimits.ts';
import type { Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import {
  type AssetBalance,
  AssetBalanceOrNull,
  type HolderPage,
  Holders,
  HoldersQuery,
  Keys,
  type PnlCard,
  PnlCardOrNull,
  TokenQuery,
  TraderQuery,
  type TradingMetrics,
  TradingMetricsOrNull,
} from './schema.ts';

const COMMON = {
  tag: 'Holders',
  rate: 'read',
  needsSync: true,
  positioned: true,
} as const satisfies Partial<Route>;

export const COUNTED =
  'Addresses of the deployment’s scripts are left out: tokens in pools, open orders and locks ' +
  'do not count.';
export const AVERAGE_COST =
  'Average cost over fills, a launch’s initial buy included; transfers are ignored. A buy costs ' +
  'what its order offered (with the percent fee) and the executor’s fee, but not the deposit; an ' +
  'initial buy what entered the pool. A sell brings what was paid beyond the deposit. ' +
  'A sell takes open cost × sold / open tokens from the open cost; tokens sold beyond the open ' +
  'ones came by transfer: they have no cost, and their share of what the sell brought is not ' +
  'realized. Realized: matched proceeds − their cost, over all sells. Unrealized: open tokens × ' +
  'spot price − open cost. Everything is exact to the lovelace, a half rounded to the even one.';

/** Read `fold` each time: a new epoch replaces it. */
export function holderRoutes(node: { readonly fold: Fold }): Route[] {
  return [
    route({
      ...COMMON,
      method: 'GET',
      path: '/balances/v1/pool/holders',
      operationId: 'holders',
      summary: 'Holders of a token, the largest balance first',
      description:
        `One row for each address with confirmed tokens; ties are ordered by address. ${COUNTED} ` +
        '`dev` is the author: all addresses with the payment key of the launch.',
      query: HoldersQuery,
      answers: { 200: { description: 'A page', schema: Holders } },
      causes: ['ASSET_NOT_FOUND'],
      etag: true,
      handle: ({ query }) => {
        const asset = query.assetId.toLowerCase();
        const pool = poolOf(node.fold, asset);
        if (pool === null) {
          return new Failure('ASSET_NOT_FOUND', `No token ${asset} was launched here.`);
        }
        return jsonAnswer(holderPage(node.fold, pool, query));
      },
    }),
    route({
      ...COMMON,
      method: 'GET',
      path: '/v1/orders-feed/metrics',
      operationId: 'tradingMetrics',
      summary: 'Buys, sells and profit of a wallet with a token',
      description: `${AVERAGE_COST} null where the key has no fill of the token.`,
      query: TraderQuery,
      answers: { 200: { description: 'Metrics, or null', schema: TradingMetricsOrNull } },
      handle: ({ query }) =>
        jsonAnswer(metricsOf(node.fold, query.asset.toLowerCase(), query.pkh.toLowerCase())),
    }),
    ...walletRoutes(node),
  ];
}

function walletRoutes(node: { readonly fold: Fold }): Route[] {
  const ofKeys = {
    ...COMMON,
    method: 'POST',
    query: TokenQuery,
    body: Keys,
    maxBodyBytes: LIST_BODY_BYTES,
  } as const;
  return [
    route({
      ...ofKeys,
      path: '/balances/v1/user/pnl-card',
      operationId: 'pnlCard',
      summary: 'Profit of a user’s wallets with a token, in ADA and in percent',
      description: `Sums over all keys. ${AVERAGE_COST} null if no key bought.`,
      answers: { 200: { description: 'The card, or null', schema: PnlCardOrNull } },
      handle: ({ query, body }) =>
        jsonAnswer(pnlCardOf(node.fold, query.assetId.toLowerCase(), distinct(body))),
    }),
    route({
      ...ofKeys,
      path: '/balances/v1/asset/asset-balance',
      operationId: 'assetBalance',
      summary: 'Value of the tokens in a user’s wallets at the spot price',
      description:
        'Confirmed tokens at all addresses with these payment keys, however they came. ' +
        `${COUNTED} null if there are no tokens.`,
      answers: { 200: { description: 'The balance, or null', schema: AssetBalanceOrNull } },
      handle: ({ query, body }) =>
        jsonAnswer(worthOf(node.fold, query.assetId.toLowerCase(), distinct(body))),
    }),
  ];
}

export function distinct(keys: readonly string[]): Set<string> {
  return new Set(keys.map((pkh) => pkh.toLowerCase()));
}

const ADA_DECIMALS = 6;

/** null: the key has no fill. */
export function metricsOf(fold: Fold, asset: AssetId, pkh: string): TradingMetrics | null {
  const found = positionIn(fold, asset, pkh);
  if (found === null) return null;
  const { trader, position, unrealized } = found;
  const { boughtTokens, soldTokens, spentLovelace, receivedLovelace } = position;
  return {
    asset,
    pkh,
    buyCount: position.buyCount,
    sellCount: position.sellCount,
    boughtTokens: String(boughtTokens),
    soldTokens: String(soldTokens),
    spentAda: ada(spentLovelace),
    receivedAda: ada(receivedLovelace),
    balance: String(balanceOf(fold, pkh, asset)),
    averageBuyPrice: averagePrice(spentLovelace, boughtTokens),
    averageSellPrice: averagePrice(receivedLovelace, soldTokens),
    realizedPnlAda: ada(position.realizedLovelace),
    unrealizedPnlAda: ada(unrealized),
    firstTradeTime: seconds(trader.firstMs),
    lastTradeTime: seconds(trader.lastMs),
  };
}

/** Sums over all keys; null if no key bought. */
function pnlCardOf(fold: Fold, asset: AssetId, keys: ReadonlySet<string>): PnlCard | null {
  let [invested, gain] = [0n, 0n];
  for (const pkh of keys) {
    const found = positionIn(fold, asset, pkh);
    if (found === null) continue;
    invested += found.position.spentLovelace;
    gain += found.position.realizedLovelace + found.unrealized;
  }
  if (invested === 0n) return null;
  const pnlPercent = percentOf(gain, invested);
  return { asset, pnlPercent, investedAda: ada(invested), currentAdaGain: ada(gain) };
}

/** Sums over all keys; null if no key holds any. */
function worthOf(fold: Fold, asset: AssetId, keys: ReadonlySet<string>): AssetBalance | null {
  const pool = poolOf(fold, asset);
  if (pool === null) return null;
  let tokens = 0n;
  for (const pkh of keys) tokens += balanceOf(fold, pkh, asset);
  if (tokens === 0n) return null;
  const lovelace = worthLovelace(tokens, spotOf(poolState(pool)));
  return { balance: Number(formatUnits(lovelace, ADA_DECIMALS)) };
}

/** null: the key has no fill of the token. */
function positionIn(fold: Fold, asset: AssetId, pkh: string) {
  const text = fold.store.get('traders', traderKey(pkh, asset));
  if (text === null) return null;
  const pool = poolOf(fold, asset);
  if (pool === null) return null;
  const trader = readRecord<TraderRecord>(text);
  const position = positionOf(trader);
  const unrealized = unrealizedLovelace(position, spotOf(poolState(pool)));
  return { trader, position, unrealized };
}

export function ada(lovelace: bigint): string {
  return formatFixed(lovelace, ADA_DECIMALS);
}

export function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

interface Paging {
  readonly offset: number;
  readonly limit: number;
}

/** null for a token that was not launched here. */
export function poolOf({ store }: Fold, token: AssetId): PoolRecord | null {
  const text = store.get('pools', token);
  return text === null ? null : readRecord<PoolRecord>(text);
}

export function balanceOf({ store }: Fold, pkh: string, token: AssetId): bigint {
  return BigInt(store.get('balances', balanceKey(pkh, token)) ?? 0);
}

export function holderPage(fold: Fold, { token, author }: PoolRecord, paging: Paging): HolderPage {
  const { store } = fold;
  const rows = store.page('holders', `${token}/`, { order: 'ascending', ...paging });
  return {
    holders: rows.map(({ key, value }) => ({ address: holderAddress(key), quantity: value })),
    dev: { address: author.address, quantity: String(balanceOf(fold, author.pkh, token)) },
    count: Number(store.get('counts', holdersOf(token)) ?? 0),
  };
}
