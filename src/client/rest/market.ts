/** Reading the market: charts, pools, orders, trades, holders. */
import type * as api from '../types.ts';
import type { Answer, CallOptions, HistoryAnswer } from './answer.ts';
import type { Http } from './http.ts';

export function chartsRoutes(http: Http) {
  return {
    /** Bars whose start is in [from, to), Unix seconds, oldest first. */
    history(
      query: api.ChartHistoryQuery,
      options?: CallOptions,
    ): Promise<HistoryAnswer<readonly api.Bar[]>> {
      return http.history({ method: 'GET', path: '/v1/charts/history', query, options });
    },

    initialState(query: api.ChartInitialStateQuery, options?: CallOptions) {
      const path = '/v1/charts/initial-state';
      return http.call<api.ChartInitialStateAnswer>({ method: 'GET', path, query, options });
    },

    last(query: api.ChartLastQuery, options?: CallOptions) {
      return http.call<api.Bar>({ method: 'GET', path: '/v1/charts/last', query, options });
    },

    mcapHistory(
      query: api.McapHistoryQuery,
      options?: CallOptions,
    ): Promise<HistoryAnswer<readonly api.MCapBar[]>> {
      return http.history({ method: 'GET', path: '/v1/charts/mcap/history', query, options });
    },

    /** Bars of up to 50 spans, all at one position; in the order asked. */
    bulk(spans: api.ChartBulkBody, options?: CallOptions) {
      const call = { path: '/v1/charts/bulk', body: spans, options };
      return http.call<api.ChartBulkAnswer>({ method: 'POST', ...call });
    },

    mcapInitialState(query: api.McapInitialStateQuery, options?: CallOptions) {
      const path = '/v1/charts/mcap/initial-state';
      return http.call<api.McapInitialStateAnswer>({ method: 'GET', path, query, options });
    },
  };
}

export function poolsRoutes(http: Http) {
  return {
    /** The first 100 of a list. */
    list(filter: api.PoolListName, options?: CallOptions) {
      const path = '/v1/pools-main-page/initial/state';
      const query = { filter };
      return http.call<api.PoolListAnswer>({ method: 'GET', path, query, options });
    },

    /** The pool with the highest market cap; `ApiError` with status 404 while there is none. */
    top(options?: CallOptions) {
      const path = '/v1/pools-main-page/koth';
      return http.call<api.LiquidityPoolInfo>({ method: 'GET', path, options });
    },

    search(query: api.SearchPoolsQuery, options?: CallOptions) {
      const path = '/v1/pools-main-page/search';
      return http.call<api.SearchPoolsAnswer>({ method: 'GET', path, query, options });
    },

    /** Pages of the pools of some tokens, in the order of `assets`. */
    following(assets: api.FollowingBody, query?: api.FollowingQuery, options?: CallOptions) {
      const call = { path: '/v1/following', query, body: assets, options };
      return http.call<api.FollowingAnswer>({ method: 'POST', ...call });
    },

    followingList(assets: api.FollowingListBody, options?: CallOptions) {
      const call = { path: '/v1/following/list', body: assets, options };
      return http.call<api.FollowingListAnswer>({ method: 'POST', ...call });
    },

    one(asset: string, options?: CallOptions) {
      const path = '/v1/pools-feed/initial/state';
      return http.call<api.LiquidityPoolInfo>({ method: 'GET', path, query: { asset }, options });
    },

    curveProgress(asset: string, options?: CallOptions) {
      const call = { path: '/v1/pools-feed/curve/progress', query: { asset }, options };
      return http.call<api.CurveProgressAnswer>({ method: 'GET', ...call });
    },

    assetInfo(asset: string, options?: CallOptions) {
      const call = { path: '/v1/asset-info', query: { asset }, options };
      return http.call<api.AssetInfo>({ method: 'GET', ...call });
    },
  };
}

export function tradesRoutes(http: Http) {
  return {
    /** Newest first; `before` a trade's id. */
    list(query: api.TradesQuery, options?: CallOptions) {
      return http.trades<api.TradesAnswer>({ method: 'GET', path: '/v1/trades', query, options });
    },
  };
}

export function tickersRoutes(http: Http) {
  return {
    /** A page, sorted and filtered; by volume of 24 hours unless `sort` says otherwise. */
    list(query?: api.TickersQuery, options?: CallOptions) {
      return http.call<api.TickersAnswer>({ method: 'GET', path: '/v1/tickers', query, options });
    },

    /** Tickers of the given tokens, in the order of `assets`. */
    ofAssets(assets: api.TickersOfAssetsBody, options?: CallOptions) {
      const call = { path: '/v1/tickers', body: assets, options };
      return http.call<api.TickersOfAssetsAnswer>({ method: 'POST', ...call });
    },
  };
}

export function holdersRoutes(http: Http) {
  return {
    list(query: api.HoldersQuery, options?: CallOptions) {
      const path = '/balances/v1/pool/holders';
      return http.call<api.HoldersAnswer>({ method: 'GET', path, query, options });
    },

    /** Profit and loss of one key in one token; null without a trade. */
    metrics(asset: string, pkh: string, options?: CallOptions) {
      const call = { path: '/v1/orders-feed/metrics', query: { asset, pkh }, options };
      return http.call<api.TradingMetricsAnswer>({ method: 'GET', ...call });
    },

    pnlCard(assetId: string, pkhs: api.PnlCardBody, options?: CallOptions) {
      const call = { path: '/balances/v1/user/pnl-card', query: { assetId }, body: pkhs, options };
      return http.call<api.PnlCardAnswer>({ method: 'POST', ...call });
    },

    /** How a token is spread, what its author did, who bought with the launch. */
    insights(asset: string, options?: CallOptions): Promise<Answer<api.TokenInsightsAnswer>> {
      return http.call({ method: 'GET', path: '/v1/tokens/insights', query: { asset }, options });
    },

    /** The keys with the largest profit or volume in a token, at most 100. */
    traders(
      query: api.TokenTradersQuery,
      options?: CallOptions,
    ): Promise<Answer<api.TokenTradersAnswer>> {
      return http.call({ method: 'GET', path: '/v1/tokens/traders', query, options });
    },

    /** Holdings, profit, open orders and locks of the keys in all tokens. */
    portfolio(
      pkhs: api.PortfolioBody,
      query?: api.PortfolioQuery,
      options?: CallOptions,
    ): Promise<Answer<api.PortfolioAnswer>> {
      return http.call({ method: 'POST', path: '/v1/portfolio', query, body: pkhs, options });
    },

    /** Profit of the keys over time, oldest first; `nextTo` where older points were cut. */
    portfolioHistory(
      pkhs: api.PortfolioHistoryBody,
      query: api.PortfolioHistoryQuery,
      options?: CallOptions,
    ): Promise<HistoryAnswer<api.PortfolioHistoryAnswer>> {
      const path = '/v1/portfolio/history';
      return http.history({ method: 'POST', path, query, body: pkhs, options });
    },

    /** Holdings of the keys in one token, and their value in ADA at the spot price. */
    assetBalance(assetId: string, pkhs: api.AssetBalanceBody, options?: CallOptions) {
      const path = '/balances/v1/asset/asset-balance';
      const call = { path, query: { assetId }, body: pkhs, options };
      return http.call<api.AssetBalanceAnswer>({ method: 'POST', ...call });
    },
  };
}

export function ordersRoutes(http: Http) {
  return {
    /** The amounts that the pool trades at each price, and the open orders beside it. */
    book(
      asset: string,
      query: Omit<api.OrderBookQuery, 'asset'> = {},
      options?: CallOptions,
    ): Promise<Answer<api.OrderBookAnswer>> {
      const call = { path: '/v1/order-book', query: { asset, ...query }, options };
      return http.call({ method: 'GET', ...call });
    },

    /** Orders of a token; of some payment keys only where `pkhs` names any. */
    feed(query: api.OrderFeedQuery, pkhs?: api.OrderFeedBody, options?: CallOptions) {
      const call = { path: '/v1/orders-feed/initial/state', query, body: pkhs ?? null, options };
      return http.call<api.OrderPage>({ method: 'POST', ...call });
    },

    /** Orders of keys over all tokens. */
    ofKeys(pkhs: api.UserHistoryBody, query?: api.UserHistoryQuery, options?: CallOptions) {
      const call = { path: '/v1/user-history-feed/initial/state', query, body: pkhs, options };
      return http.call<api.OrderPage>({ method: 'POST', ...call });
    },

    ofKeysByAsset(
      pkhs: api.UserHistoryByAssetBody,
      query: api.UserHistoryByAssetQuery,
      options?: CallOptions,
    ) {
      const path = '/v1/user-history-feed/initial/state/by/asset';
      return http.call<api.OrderPage>({ method: 'POST', path, query, body: pkhs, options });
    },

    /** Locks that have not ended. */
    openOfKeys(
      pkhs: api.UserOpenOrdersBody,
      query?: api.UserOpenOrdersQuery,
      options?: CallOptions,
    ) {
      const path = '/v1/user-history-feed/initial/state/open';
      return http.call<api.OrderPage>({ method: 'POST', path, query, body: pkhs, options });
    },

    byBeacon(beacon: string, options?: CallOptions): Promise<Answer<api.OrderTrades>> {
      const path = '/v1/user-history-feed/order/trades';
      return http.call({ method: 'GET', path, query: { beacon }, options });
    },
  };
}
