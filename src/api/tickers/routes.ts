/** Tickers over HTTP. */

import type { AssetId } from '../../engine/market/asset.ts';
import { LIST_BODY_BYTES } from '../gateway/bodyLimits.ts';
import { type Answer, type Route, SlicedAnswer } from '../gateway/port.ts';
import { type InputOf, jsonAnswer, route } from '../gateway/route.ts';
import { pageOf } from './rankings.ts';
import { Tickers, TickersBody, TickersQuery } from './schema.ts';
import { daysOf, filterOf, sorted } from './select.ts';
import { type TickerNode, TickerViews } from './views.ts';

const ITEMS_A_READ = 100;

function readsOf(items: number): number {
  return Math.max(1, Math.ceil(items / ITEMS_A_READ));
}

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
      description: `${MARKET_TIME} Costs a read for each ${ITEMS_A_READ} of \`limit\`.`,
      query: TickersQuery,
      cost: ({ query: { limit } }) => readsOf(limit),
      answers: { 200: { description: 'A page, and how many match', schema: Tickers } },
      etag: true,
      handle: ({ query }) => new SlicedAnswer((isOver) => page(views, query, isOver)),
    }),
    route({
      ...COMMON,
      method: 'POST',
      path: '/v1/tickers',
      operationId: 'tickersOfAssets',
      summary: 'Tickers of given tokens',
      description:
        'In the order of the body. An asset id that comes twice keeps its first place, those ' +
        'that are not known here are left out; `count` is how many were found. ' +
        `${MARKET_TIME} Costs a read for each ${ITEMS_A_READ} ids.`,
      body: TickersBody,
      cost: ({ body }) => readsOf(body.length),
      maxBodyBytes: LIST_BODY_BYTES,
      answers: { 200: { description: 'All, and how many they are', schema: Tickers } },
      handle: ({ body }) => {
        const assets = distinct(body);
        return new SlicedAnswer((isOver) => {
          if (!views.render(assets, isOver)) return null;
          const items = views.ofAssets(assets);
          return jsonAnswer({ count: items.length, items });
        });
      },
    }),
  ];
}

/** null: a list that no client asked for before is not made yet, or not all is rendered. */
function page(
  views: TickerViews,
  query: InputOf<typeof TickersQuery>,
  isOver: () => boolean,
): Answer | null {
  const { assets, offset, limit } = query;
  if (assets !== undefined) {
    const wanted = distinct(assets);
    return views.render(wanted, isOver) ? pageOfAssets(views, query, wanted) : null;
  }
  const list = views.list(query, isOver);
  if (list === null) return null;
  const shown = pageOf(list, offset, limit);
  if (!views.render(shown, isOver)) return null;
  return jsonAnswer({ count: list.size, items: views.ofAssets(shown) });
}

function pageOfAssets(
  views: TickerViews,
  query: InputOf<typeof TickersQuery>,
  assets: ReadonlySet<AssetId>,
): Answer {
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
