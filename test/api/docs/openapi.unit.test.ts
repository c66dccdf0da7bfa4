import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { parse } from 'yaml';
import { Definitions } from '../../../src/api/docs/definitions.ts';
import { openapi } from '../../../src/api/docs/openapi.ts';
import { docsRoutes } from '../../../src/api/docs/routes.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { askRoute } from '../../support/askRoute.ts';
import { at, faultsIn, keysAt, RICH_ROUTE, ROUTES, TOPICS } from './sample.ts';

const ABOUT = { title: 'upcurve', version: '0.1.0' };
const document = openapi(ABOUT, ROUTES);
const SAMPLE = 'paths /v1/sample/{asset} post';

test('every route given is in the document, and nothing else', () => {
  assert.deepEqual(keysAt(document, 'paths').sort(), [
    '/health/live',
    '/health/ready',
    '/metrics',
    '/v1/limits',
    '/v1/sample/{asset}',
    '/v1/utility/server/time',
  ]);
  assert.deepEqual(keysAt(document, 'paths /v1/sample/{asset}'), ['post']);
});

test('references resolve and schemas are sound; a broken document is noticed', () => {
  assert.deepEqual(faultsIn(document), []);
  assert.equal(faultsIn({ a: { $ref: '#/b' }, c: { required: ['d'], type: 'map' } }).length, 3);
});

test('parameters say where they are, whether they are required and what they take', () => {
  assert.deepEqual(at(document, `${SAMPLE} parameters`), [
    { name: 'asset', in: 'path', required: true, schema: { type: 'string' } },
    {
      name: 'from',
      in: 'query',
      required: true,
      description: 'Unix seconds.',
      schema: { type: 'integer', minimum: 0, description: 'Unix seconds.' },
    },
    { name: 'fill', in: 'query', required: false, schema: { enum: ['none', 'previous'] } },
    at(document, `${SAMPLE} parameters 3`),
    at(document, `${SAMPLE} parameters 4`),
  ]);
  assert.equal(at(document, `${SAMPLE} parameters 3 name`), 'X-Min-Position');
  assert.equal(at(document, `${SAMPLE} parameters 4 name`), 'If-None-Match');
  assert.deepEqual(keysAt(document, `${SAMPLE} requestBody content`), ['application/json']);
});

test('answers carry the headers that the route has, and errors the causes it can have', () => {
  assert.deepEqual(keysAt(document, `${SAMPLE} responses`), [
    '200',
    '304',
    '400',
    '401',
    '404',
    '413',
    '415',
    '429',
    '500',
    '503',
  ]);
  const headers = keysAt(document, `${SAMPLE} responses 200 headers`);
  for (const name of ['X-Position', 'ETag', 'RateLimit-Limit']) assert.ok(headers.includes(name));
  assert.ok(keysAt(document, `${SAMPLE} responses 429 headers`).includes('Retry-After'));
  assert.equal(at(document, `${SAMPLE} responses 404 description`), 'ASSET_NOT_FOUND');
  assert.deepEqual(keysAt(document, 'paths /health/live get responses'), ['200', '401', '500']);
  assert.deepEqual(keysAt(document, 'paths /health/live get responses 200 headers'), [
    'RateLimit-Policy',
    'RateLimit',
    'RateLimit-Limit',
    'RateLimit-Remaining',
    'RateLimit-Reset',
  ]);
});

test('an answer may document headers of its own', () => {
  const answer = { description: 'Bars.', headers: { 'X-Next-To': 'Time of the oldest bar.' } };
  const own = openapi(ABOUT, [{ ...RICH_ROUTE, answers: { 200: answer } }]);
  assert.ok(keysAt(own, `${SAMPLE} responses 200 headers`).includes('X-Next-To'));
});

test('a form says which parts are files, which are JSON, and what must be there', () => {
  const { body: _none, ...rest } = RICH_ROUTE;
  const Info = Type.Object({ name: Type.String() }, { $id: 'Info' });
  const image = { description: 'Logo.', required: true, mediaTypes: ['image/png', 'image/gif'] };
  const form = {
    maxBodyBytes: 6_291_456,
    fields: Type.Object({ info: Info, more: Type.Optional(Type.Object({})) }),
    files: { image, extra: { ...image, required: false } },
  };
  const own = openapi(ABOUT, [{ ...rest, form }]);
  assert.deepEqual(faultsIn(own), []);
  const content = `${SAMPLE} requestBody content`;
  assert.deepEqual(keysAt(own, content), ['multipart/form-data']);
  assert.deepEqual(at(own, `${content} multipart/form-data schema`), {
    type: 'object',
    properties: {
      image: { type: 'string', format: 'binary', description: 'Logo.' },
      extra: { type: 'string', format: 'binary', description: 'Logo.' },
      info: { $ref: '#/components/schemas/Info' },
      more: { type: 'object', properties: {} },
    },
    required: ['image', 'info'],
  });
  assert.deepEqual(at(own, `${content} multipart/form-data encoding image`), {
    contentType: 'image/png, image/gif',
  });
  assert.equal(at(own, `${SAMPLE} requestBody required`), true);
});

test('a path parameter lists its valid values, and a cause may set the status', () => {
  const params = Type.Object({ asset: Type.String({ pattern: '^a', description: 'Asset id.' }) });
  const causes = [{ cause: 'ASSET_NOT_FOUND', status: 500 }, 'MIN_TRADE_AMOUNT', 'NOT_OWNER'];
  const own = openapi(ABOUT, [{ ...RICH_ROUTE, params, causes }]);
  assert.deepEqual(at(own, `${SAMPLE} parameters 0`), {
    name: 'asset',
    in: 'path',
    required: true,
    description: 'Asset id.',
    schema: { type: 'string', pattern: '^a', description: 'Asset id.' },
  });
  const described = (status: number) => at(own, `${SAMPLE} responses ${status} description`);
  assert.equal(
    described(500),
    'SERVER_ERROR, ASSET_NOT_FOUND, MIN_TRADE_AMOUNT. No fault of the server, and 500 because ' +
      'the original contract says so: ASSET_NOT_FOUND, MIN_TRADE_AMOUNT; ' +
      'the body has `retry: false`',
  );
  assert.deepEqual([described(403), described(404)], ['NOT_OWNER', undefined]);
});

test('a body is required where an empty one is refused, and says where it takes null', () => {
  const bodies = [
    [Type.Object({ a: Type.String() }), true],
    [Type.Object({ a: Type.Optional(Type.String()) }), false],
    [Type.Union([Type.Null(), Type.Array(Type.String())]), false],
  ] as const;
  for (const [body, required] of bodies) {
    const own = openapi(ABOUT, [{ ...RICH_ROUTE, body }]);
    assert.equal(at(own, `${SAMPLE} requestBody required`), required);
  }
  const inner = Type.Object({ b: Type.Optional(Type.Integer()), c: Type.Integer() });
  const own = openapi(ABOUT, [{ ...RICH_ROUTE, body: Type.Object({ inner }) }]);
  const content = `${SAMPLE} requestBody content application/json schema`;
  assert.deepEqual(at(own, `${content} properties inner properties`), {
    b: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    c: { type: 'integer' },
  });
  const pattern = String(at(document, `${SAMPLE} parameters 3 schema pattern`));
  assert.match('1-aZ:7', new RegExp(pattern));
  assert.doesNotMatch('soon', new RegExp(pattern));
});

test('a cause that is not in the catalogue is a fault of the program', () => {
  assert.throws(() => openapi(ABOUT, [{ ...RICH_ROUTE, causes: ['OOPS'] }]), /not OOPS/);
});

test('a schema with an $id stands once, and two schemas cannot share one', () => {
  assert.deepEqual(keysAt(document, 'components schemas').sort(), ['Bar', 'Error', 'Problem']);
  const definitions = new Definitions('2020-12');
  definitions.add(Type.String({ $id: 'Name' }));
  assert.deepEqual(definitions.add(Type.Ref('Name')), { $ref: '#/components/schemas/Name' });
  assert.throws(() => definitions.add(Type.Integer({ $id: 'Name' })), /one schema is called Name/);
});

test('a tuple is written in the dialect of its document', () => {
  const pair = Type.Tuple([Type.String(), Type.Integer()]);
  assert.deepEqual(new Definitions('2020-12').add(pair), {
    type: 'array',
    prefixItems: [{ type: 'string' }, { type: 'integer' }],
    items: false,
    minItems: 2,
  });
  assert.deepEqual(at(new Definitions('draft-07').add(pair), 'items 1'), { type: 'integer' });
});

test('both documents are served as YAML and JSON, and list their own routes too', async () => {
  const own = docsRoutes(ABOUT, ROUTES, TOPICS);
  for (const route of own) {
    assert.ok(route.etag && route.gzip && !route.needsSync);
    const answer = await askRoute(route);
    assert.ok(!(answer instanceof Failure));
    if (!route.path.startsWith('/v1/docs/')) continue;
    const isJson = route.path.endsWith('.json');
    assert.equal(answer.type, isJson ? 'application/json' : 'application/yaml');
    const text = String(answer.body);
    const served = isJson ? JSON.parse(text) : parse(text);
    assert.deepEqual(faultsIn(served), []);
    if (!route.operationId.startsWith('openapi')) continue;
    const paths = keysAt(served, 'paths');
    assert.equal(paths.length, ROUTES.length + own.length);
    for (const { path } of own) assert.ok(paths.includes(path), path);
  }
});
