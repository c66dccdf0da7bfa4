/** Routes for HTTP tests; each shows one thing that the wrapper does. */
import Type from 'typebox';
import type { Answer, Route, RouteRequest } from '../../../src/api/gateway/port.ts';
import { Failure, invalid, Unavailable } from '../../../src/engine/runtime/errors.ts';

export const plain = {
  operationId: 'test',
  summary: 'test',
  tag: 'test',
  answers: {},
  rate: 'read',
  needsSync: false,
  positioned: false,
  etag: false,
  gzip: false,
} as const;

const echo = ({ query, params, body }: RouteRequest): Answer => ({
  body: JSON.stringify({ query, params, body: body === undefined ? 'absent' : body }),
});

export const LONG = JSON.stringify({ text: 'lorem ipsum '.repeat(400) });

/** More than a connection takes at once. */
export const BIG = 'x'.repeat(1_048_575).concat('!');

const QUERY = Type.Object({
  asset: Type.String({ pattern: '^[a-z]+$' }),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  fill: Type.Optional(Type.Union([Type.Literal('none'), Type.Literal('previous')])),
});

const PAGE = Type.Object({ limit: Type.Optional({ ...Type.Integer(), default: 10 }) });
const START = Type.Object({ from: Type.Optional({ ...Type.Integer(), default: 5 }) });

const BODY = Type.Object({
  pkh: Type.String({ minLength: 2 }),
  note: Type.Optional(Type.String()),
  inner: Type.Optional(Type.Object({ size: Type.Integer(), tag: Type.Optional(Type.String()) })),
});

const COST = Type.Object({ cost: Type.Integer() });
const costOf = ({ query, body }: RouteRequest) =>
  Number(Reflect.get(Object(body ?? query), 'cost'));

/** Handlers that answer when the test lets them. */
export class Gate {
  readonly waiting: ((answer: Answer | Failure) => void)[] = [];
  readonly hold = () => new Promise<Answer | Failure>((resolve) => this.waiting.push(resolve));
}

export function testRoutes(gate = new Gate(), buildAnswers: (Answer | Failure)[] = []): Route[] {
  const get = (path: string, more: Partial<Route>): Route => {
    return { ...plain, method: 'GET', path, handle: echo, ...more };
  };
  const post = (path: string, more: Partial<Route>): Route => {
    return { ...plain, method: 'POST', path, handle: echo, ...more };
  };
  return [
    get('/echo', { query: QUERY }),
    get('/items/:item/of/:owner', {}),
    get('/small', { handle: () => ({ body: '{"a":1}' }), etag: true, positioned: true }),
    get('/long', { handle: () => ({ body: LONG }), etag: true, gzip: true }),
    get('/big', { rate: 'free', handle: () => ({ body: BIG }) }),
    get('/bigger', { rate: 'free', handle: () => ({ body: BIG.repeat(8) }) }),
    get('/costly', { query: COST, cost: costOf }),
    get('/large', {
      query: COST,
      cost: costOf,
      etag: true,
      gzip: true,
      handle: () => ({ body: BIG }),
    }),
    get('/bytes', { handle: () => ({ body: Buffer.from('åb'), type: 'text/plain' }) }),
    get('/held', { handle: gate.hold }),
    post('/held', { handle: gate.hold }),
    get('/named', { handle: () => ({ body: '{}', tag: 'a,b' }), etag: true }),
    get('/throws', {
      handle: () => {
        throw new Error('thrown on purpose');
      },
    }),
    get('/rejects', { handle: () => Promise.reject(new Error('rejected on purpose')) }),
    get('/unavailable', {
      handle: () =>
        Promise.reject(
          new Unavailable(new Failure('NOT_READY', 'behind', { retryAfterSeconds: 3 })),
        ),
    }),
    get('/breaks', { handle: () => ({ body: '', headers: { 'X-A': 'b\r\nX-C: d' } }) }),
    get('/missing', { handle: () => new Failure('ASSET_NOT_FOUND', 'no such asset') }),
    get('/invalid', { handle: () => invalid('query.base', 'must be traded') }),
    get('/overloaded', {
      handle: () => new Failure('OVERLOADED', 'full', { retryAfterSeconds: 7 }),
    }),
    get('/extra', { handle: () => ({ body: '[]', status: 201, headers: { 'X-Next-To': '5' } }) }),
    get('/synced', { needsSync: true }),
    get('/positioned', { positioned: true }),
    get('/free', { rate: 'free' }),
    post('/echo', { body: BODY, query: Type.Object({}) }),
    post('/page', { query: PAGE, body: START }),
    post('/filter', { body: Type.Union([Type.Null(), Type.Array(Type.String())]) }),
    post('/nothing', {}),
    post('/long', { maxBodyBytes: 1_048_576 }),
    post('/build', { rate: 'build', handle: () => buildAnswers.shift() ?? { body: '{}' } }),
    post('/many', { body: COST, cost: costOf }),
    post('/manyBuilds', {
      rate: 'build',
      body: COST,
      cost: costOf,
      handle: () => buildAnswers.shift() ?? { body: '{}' },
    }),
    post('/launch', { rate: 'launch' }),
  ];
}
