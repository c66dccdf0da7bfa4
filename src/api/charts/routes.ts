/** Candlesticks over HTTP. */
import Type from 'typebox';
import type { Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import { listOf } from '../schemas/format.ts';
import { bulkRoute } from './bulk.ts';
import { MARKET_CAPS, PRICES } from './chartKind.ts';
import type { ChartNode } from './findChart.ts';
import type { HistoryAnswers } from './historyAnswers.ts';
import { ChartRendering, initialState, lastBar } from './rendering.ts';
import {
  BarSchema,
  HistoryQuery,
  InitialState,
  MCapBarSchema,
  MCapHistoryQuery,
  MCapInitialState,
  MCapStateQuery,
  StateQuery,
} from './schema.ts';

export function chartRoutes(node: ChartNode, histories: HistoryAnswers): Route[] {
  const answers = new ChartRendering(node);
  return [
    route({
      ...COMMON,
      path: '/v1/charts/history',
      operationId: 'chartHistory',
      summary: 'Bars of a span of time, oldest first',
      description: HISTORY_TEXT,
      query: HistoryQuery,
      answers: { 200: { description: 'Bars', schema: Type.Array(BarSchema), headers: NEXT_TO } },
      causes: HISTORY_CAUSES,
      etag: true,
      gzip: true,
      csv: { file: 'bars', row: BarSchema, rows: listOf },
      handle: ({ query }) => histories.one({ query, kind: PRICES }),
    }),
    route({
      ...COMMON,
      path: '/v1/charts/initial-state',
      operationId: 'chartInitialState',
      summary: 'The newest bar, and whether it is the current one',
      description: LAUNCH_TEXT,
      query: StateQuery,
      answers: { 200: { description: 'The newest bar', schema: InitialState } },
      handle: ({ query }) => answers.newest(query, PRICES, initialState),
    }),
    route({
      ...COMMON,
      path: '/v1/charts/last',
      operationId: 'chartLast',
      summary: 'The newest bar alone',
      description: LAUNCH_TEXT,
      query: StateQuery,
      answers: { 200: { description: 'The newest bar', schema: BarSchema } },
      handle: ({ query }) => answers.newest(query, PRICES, lastBar),
    }),
    ...capRoutes(answers, histories),
    bulkRoute(histories),
  ];
}

function capRoutes(answers: ChartRendering, histories: HistoryAnswers): Route[] {
  const schema = Type.Array(MCapBarSchema);
  return [
    route({
      ...COMMON,
      path: '/v1/charts/mcap/history',
      operationId: 'mcapHistory',
      summary: 'Market-cap bars of a span of time, oldest first',
      description: `${CAP_TEXT} ${HISTORY_TEXT}`,
      query: MCapHistoryQuery,
      answers: { 200: { description: 'Bars', schema, headers: NEXT_TO } },
      causes: HISTORY_CAUSES,
      etag: true,
      gzip: true,
      csv: { file: 'market-caps', row: MCapBarSchema, rows: listOf },
      handle: ({ query }) => histories.one({ query, kind: MARKET_CAPS }),
    }),
    route({
      ...COMMON,
      path: '/v1/charts/mcap/initial-state',
      operationId: 'mcapInitialState',
      summary: 'The newest market-cap bar, and whether it is the current one',
      description: `${CAP_TEXT} ${LAUNCH_TEXT}`,
      query: MCapStateQuery,
      answers: { 200: { description: 'The newest bar', schema: MCapInitialState } },
      handle: ({ query }) => answers.newest(query, MARKET_CAPS, initialState),
    }),
  ];
}

const LAUNCH_TEXT =
  'A launched token without trades has a flat bar at its spot, in the interval of ' + 'the launch.';
const CAP_TEXT = '`base` is a token and `quote` the coin; market caps are in ADA.';
const HISTORY_TEXT =
  'Bars whose start is in [from, to). When older ones were cut by `limit`, the header ' +
  '`X-Next-To` names the time of the oldest returned: ask again with it as `to`. ' +
  '`fill=previous` puts flat bars where nothing was traded. With `epoch` an answer whose `to` ' +
  'lies so far back that no fork reaches it is the same for ever (`Cache-Control: immutable`, ' +
  'without position and limits): 2,160 blocks on a chain, a day in a feed; never on a devnet.';
const HISTORY_CAUSES = ['ASSET_NOT_FOUND', 'EPOCH_CHANGED'];
const NEXT_TO = { 'X-Next-To': 'Time of the oldest bar returned; only when older ones were cut.' };

const COMMON = {
  method: 'GET',
  tag: 'Charts',
  causes: ['ASSET_NOT_FOUND'],
  rate: 'read',
  needsSync: true,
  positioned: true,
} as const satisfies Partial<Route>;
