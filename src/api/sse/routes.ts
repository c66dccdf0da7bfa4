/** `/v1/stream`: the topics of the socket as server-sent events. */

import Type from 'typebox';
import { Failure, invalidField } from '../../engine/runtime/errors.ts';
import { LIST_BODY_BYTES } from '../gateway/bodyLimits.ts';
import type { Route } from '../gateway/port.ts';

const MOST = 20;
/** Limit of the texts in the URL together; proxies and the server cut longer ones. */
const MAX_URL_CHARACTERS = 3_072;

const Item = Type.Object(
  {
    topic: Type.String({ description: 'A topic of the socket; AsyncAPI lists them.' }),
    data: Type.Optional(Type.Unknown({ description: 'As the topic takes it.' })),
    requestId: Type.Optional(
      Type.Union([Type.String({ maxLength: 128 }), Type.Integer()], {
        description: 'Names the subscription in its events; its index where it is left out.',
      }),
    ),
    since: Type.Optional(
      Type.Object(
        { epoch: Type.String(), seq: Type.Integer({ minimum: 0 }) },
        {
          description: 'Continue from here; `Last-Event-ID` goes before it.',
        },
      ),
    ),
    snapshot: Type.Optional(Type.Boolean({ description: 'false: changes only.' })),
    maxHz: Type.Optional(
      Type.Number({
        minimum: 1,
        description: 'Events a second, rounded down to 1, 2, 5, 10 or 20.',
      }),
    ),
  },
  { $id: 'StreamSubscription' },
);

const Query = Type.Object({
  sub: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: MOST,
    description:
      `One subscription as JSON, percent-encoded; repeat it for more, up to ${MOST}: ` +
      '`sub={"topic":"KOTH"}`. Where the URL would pass 3 kB, use POST.',
  }),
});

const EVENTS = {
  description:
    'Events: `event` is the name of a frame, `data` the frame as the socket sends it. `id` is a ' +
    'position up to which all subscriptions are complete.',
  type: 'text/event-stream',
};

const COMMON = {
  tag: 'Streams',
  path: '/v1/stream',
  answers: { 200: EVENTS },
  rate: 'read',
  needsSync: false,
  positioned: false,
  etag: false,
  gzip: false,
  handle: () => new Failure('SERVER_ERROR', 'this route is answered as a stream'),
} as const;

const TEXT =
  'For programs and networks without WebSocket: any EventSource. Frames, rules and limits are ' +
  'those of the socket. An EventSource that connects again sends `Last-Event-ID`: nothing is ' +
  'missing, and whole state may repeat. `Ping` comes every 5 s. Well-formed input always gets ' +
  '200: where the node is not ready, or a limit is reached, an `Error` event ' +
  '(`cause`, `message`, `retry`) comes, and the stream ends. ' +
  'Close it for good at `retry: false`. ' +
  'Only an unknown API key gets 401: no other try would succeed, and an EventSource stops.';

export function eventStreamRoutes(): Route[] {
  return [
    {
      ...COMMON,
      method: 'GET',
      operationId: 'stream',
      summary: 'Live updates as server-sent events',
      description: TEXT,
      query: Query,
      stream: {
        place: 'query.sub',
        // trust: the gateway checks a request against the schemas of its route
        subscriptions: ({ query }) => parsed((query as Type.Static<typeof Query>).sub),
      },
    },
    {
      ...COMMON,
      method: 'POST',
      operationId: 'openStream',
      summary: 'The same, with the subscriptions in the body',
      description: TEXT,
      body: Type.Array(Item, { minItems: 1, maxItems: MOST, description: `1 to ${MOST} of them.` }),
      maxBodyBytes: LIST_BODY_BYTES,
      stream: {
        place: 'body',
        // trust: the gateway checks a request against the schemas of its route
        subscriptions: ({ body }) => body as readonly unknown[],
      },
    },
  ];
}

function parsed(texts: readonly string[]): readonly unknown[] | Failure {
  if (texts.reduce((sum, { length }) => sum + length, 0) > MAX_URL_CHARACTERS) {
    return invalidField(
      'query.sub',
      `must have ${MAX_URL_CHARACTERS} characters at most: send more with POST`,
    );
  }
  const items: unknown[] = [];
  for (const [index, text] of texts.entries()) {
    try {
      items.push(JSON.parse(text));
    } catch {
      return invalidField(
        `query.sub.${index}`,
        'must be JSON: {"topic": …, "data": …}, percent-encoded',
      );
    }
  }
  return items;
}
