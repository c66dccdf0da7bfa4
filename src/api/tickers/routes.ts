/** Tickers over HTTP. */

import type { AssetId } from '../../engine/market/asset.ts';
import { LIST_BODY_BYTES } from '../gateway/bodyLimits.ts';
import { AGAIN, type Handled, type Route } from '../gateway/port.ts';
import { type InputOf, jsonAnswer, route } from '../gateway/route.ts';
import { pageOf } from './rankings.ts';
import { Tickers, TickersBody, TickersQuery } from './schema.ts';
import { daysOf, filterOf, sorted } from './select.ts';
import { type TickerNode, TickerViews } from './views.ts';

/** Placed in a list that is being made, and rendered: some 2 ms each. */
const TOKENS_A_TURN = 250;
const RENDERED_A_TURN = 50;

const COMMON = {
  tag: 'Tickers',
  rate: 'read',
  needsSync: true,
  positioned: true,
} as const satisfies Partial<Route>;
const MARKET_TIME =
  'Windows end with market time, cut to the minute: `volume1h` counts trades from an hour before ' +
  'that minute on. Changes compare the spot price now with the one after the last trade before ' +
  'the window.';

export function tickerRoutes(node: TickerNode): Route[] {
  const views = TickerViews.of(node);
  return [
    route({
      ...COMMON,
      method: 'GET',
      path: '/v1/tickers',
      operationId: 'tickers',
      summary: 'Price, changes, volume and traders of tokens, sorted and filtered',
      description: MARKET_TIME,
      query: TickersQuery,
      answers: { 200: { description: 'A page, and how many match', schema: Tickers } },
      etag: true,
      handle: ({ query }) => page(views, query),
    }),
    route({
      ...COMMON,
      method: 'POST',
      path: '/v1/tickers',
      operationId: 'tickersOfAssets',
      summary: 'Tickers of given tokens',
      description:
        'In the order of the body. An asset id that comes twice keeps its first place, those ' +
        `that are not known here are left out; \`count\` is how many were found. ${MARKET_TIME}`,
      body: TickersBody,
      maxBodyBytes: LIST_BODY_BYTES,
      answers: { 200: { description: 'All, and how many they are', schema: Tickers } },
      handle: ({ body }) => {
        const assets = distinct(body);
        if (!views.render(assets, after(RENDERED_A_TURN))) return AGAIN;
        const items = views.ofAssets(assets);
        return jsonAnswer({ count: items.length, items });
      },
    }),
  ];
}

/** AGAIN: a list that no client asked for before is not made yet, or not all is rendered. */
function page(views: TickerViews, query: InputOf<typeof TickersQuery>): Handled {
  const { assets, offset, limit } = query;
  if (assets !== undefined) return pageOfAssets(views, query, distinct(assets));
  const list = views.list({ ...query, end: offset + limit }, after(TOKENS_A_TURN));
  if (list === null) return AGAIN;
  const shown = pageOf(list, offset, limit);
  if (!views.render(shown, after(RENDERED_A_TURN))) return AGAIN;
  return jsonAnswer({ count: list.size, items: views.ofAssets(shown) });
}

/** Answers true once it was asked more often than so many times. */
function after(count: number): () => boolean {
  let left = count;
  return () => {
    left -= 1;
    return left < 0;
  };
}

function pageOfAssets(
  views: TickerViews,
  query: InputOf<typeof TickersQuery>,
  assets: ReadonlySet<AssetId>,
): Handled {
  const { fold } = views;
  const { offset, limit } = query;
  const matches = filterOf(fold, query);
  const days = daysOf(fold, assets);
  const matching = matches === null ? days : days.filter(matches);
  const shown = sorted(matching, query).slice(offset, offset + limit);
  return jsonAnswer({ count: matching.length, items: shown.map((day) => views.of(day)) });
}

function distinct(assets: readonly AssetId[]): ReadonlySet<AssetId> {
  return new Set(assets.map((asset) => asset.toLowerCase()));
}
