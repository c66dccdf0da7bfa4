/**
 * The OpenAPI document: every route of the API, from the schemas that check its requests, and links
 * to tokens. The page at `/` and its files are left out: clients do not call them, and their URLs
 * change with each version.
 */
import Type from 'typebox';
import type { Json } from '../../engine/runtime/json.ts';
import type { Route } from '../gateway/port.ts';
import { Definitions, type JsonObject } from './definitions.ts';
import { type Examples, NO_EXAMPLES } from './examples.ts';
import { GUIDE } from './guide.ts';
import { HEADERS, parametersOf, requestBodyOf, responsesOf } from './operation.ts';

/** The server does not know who runs it. */
export const CONTACT: JsonObject = { name: 'The operator of this server' };

export interface About {
  readonly title: string;
  readonly version: string;
}

const ERROR_MORE = {
  details: Type.Optional(
    Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
      description: 'On 400: each fault of the input, with its place.',
    }),
  ),
  reason: Type.Optional(
    Type.String({ description: 'For a machine: the exact reason why a transaction was refused.' }),
  ),
  retry: Type.Optional(
    Type.Literal(false, {
      description: 'On a 500 that is no fault of the server: a repeat would be refused again.',
    }),
  ),
};

const Cause = Type.String({ description: 'For a machine; see the list of causes.' });
const MESSAGE = 'For a person: what happened and what to do.';

const ErrorBody = Type.Object(
  { cause: Cause, message: Type.String({ description: MESSAGE }), ...ERROR_MORE },
  { $id: 'Error' },
);

const Problem = Type.Object(
  {
    type: Type.String({ format: 'uri-reference', description: 'Names the kind of problem.' }),
    title: Type.String({ description: 'The same for each problem of that kind.' }),
    status: Type.Integer({ description: 'As of the answer.' }),
    detail: Type.String({ description: MESSAGE }),
    cause: Cause,
    ...ERROR_MORE,
    'violated-policies': Type.Optional(
      Type.Array(Type.String(), { description: 'On 429: the names of `RateLimit-Policy`.' }),
    ),
  },
  { $id: 'Problem', description: 'RFC 9457, to clients that name it in Accept.' },
);

/** `routes` are all routes of the API, including the documents' own. */
export function openapi(
  about: About,
  routes: readonly Route[],
  examples: Examples = NO_EXAMPLES,
): JsonObject {
  const definitions = new Definitions('2020-12');
  for (const body of [ErrorBody, Problem]) definitions.add(body);
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:([A-Za-z0-9_]+)/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operation(route, definitions, examples),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      ...about,
      description: GUIDE,
      contact: CONTACT,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    // Nothing needs a key: wallets sign transactions themselves. A key changes limits.
    security: [{}, { apiKey: [] }],
    tags: tagsOf(routes),
    paths,
    components: {
      schemas: definitions.all(),
      headers: HEADERS,
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `upc_…`.' },
      },
    },
  };
}

function operation(route: Route, definitions: Definitions, examples: Examples): JsonObject {
  const { operationId, summary, description, tag } = route;
  const example = examples.routes[`${route.method} ${route.path}`];
  const requestBody = requestBodyOf(route, definitions, example);
  return {
    operationId,
    summary,
    // Linters ask for one, and generators write it above the call.
    description: description ?? `${summary}.`,
    tags: [tag],
    ...(route.needsKey === true ? { security: [{ apiKey: [] }] } : {}),
    parameters: parametersOf(route, definitions, example),
    ...(requestBody === null ? {} : { requestBody }),
    responses: responsesOf(route, definitions, examples),
  };
}

/** In the order in which a reader wants them. */
const TAG_DESCRIPTIONS: Readonly<Record<string, string>> = {
  Charts: 'Candlesticks of price and of market cap.',
  TradingView: 'The same bars as a UDF datafeed.',
  Pools: 'Launched tokens: sorted lists, search, one pool, its progress on the curve.',
  Tickers: 'Price, changes, volume and traders of tokens over 5 minutes to 24 hours.',
  Orders: 'Orders of a token and of a wallet, with their states.',
  Trades: 'The trade tape.',
  Holders: 'Balances, holders and profits of wallets.',
  Streams: 'Live updates as server-sent events; the socket has the same, and AsyncAPI says more.',
  Webhooks: 'Frames sent to your own server, with an API key.',
  Builder: 'Transactions built for a wallet to sign: quotes, orders, launches, cancels, transfers.',
  Vesting: 'Locks: tokens that their owner can take back in stages.',
  'UTxO monitor': 'Unspent outputs of a wallet.',
  Images: 'Logos by content id.',
  Page: 'Links to tokens, for people and for chats that show what is behind a link.',
  Operations: 'Health, readiness, metrics and the time.',
  Documents: 'This reference, for people and for programs.',
  Devnet: 'Faucet, blocks and forks; on a devnet only.',
};

/** The tags in use, the known ones first. The linter asks for a description of each. */
function tagsOf(routes: readonly Route[]): JsonObject[] {
  const used = new Set(routes.map(({ tag }) => tag));
  const names = [...Object.keys(TAG_DESCRIPTIONS).filter((name) => used.has(name)), ...used];
  return [...new Set(names)].map((name) => {
    const description = TAG_DESCRIPTIONS[name];
    return description === undefined ? { name } : { name, description };
  });
}
