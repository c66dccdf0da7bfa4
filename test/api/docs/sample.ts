import Type from 'typebox';
import type { Route } from '../../../src/api/gateway/port.ts';
import { adminRoutes, utilityRoutes } from '../../../src/api/operations/routes.ts';
import type { NodeStatus } from '../../../src/api/operations/status.ts';
import { healthTopic } from '../../../src/api/operations/topics.ts';
import { type Topic, topic } from '../../../src/api/topics/port.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import type { Json } from '../../../src/engine/runtime/json.ts';
import { createRegistry } from '../../../src/engine/runtime/meters.ts';

/** A node that stands still. */
export const STATUS: NodeStatus = {
  stuckPools: () => [],
  node: 'test-1',
  role: () => 'leader',
  leader: () => 'test-1',
  term: () => 1,
  lagEntries: () => 0,
  applied: () => ({ epoch: '1-abc', seq: 42 }),
  stateHash: () => 'c0ffee',
  hashedSeq: () => 40,
  synced: () => true,
  serves: () => true,
  sync: () => null,
  stale: () => false,
  quarantined: () => 0,
  mayNotLead: () => null,
  reasons: () => [],
  submits: () => true,
  tip: () => ({ slot: 7, hash: 'beef', lagMs: 12, time: 1_700_000_000, height: 5 }),
  rollback: () => ({ seq: 40, toSlot: 6, blocks: 2 }),
};

const Bar = Type.Object({ open: Type.String(), time: Type.Integer() }, { $id: 'Bar' });

/** Uses everything a route can ask of the document. */
export const RICH_ROUTE: Route = {
  method: 'POST',
  path: '/v1/sample/:asset',
  operationId: 'sample',
  summary: 'A sample',
  description: 'With everything.',
  tag: 'Samples',
  query: Type.Object({
    from: Type.Integer({ minimum: 0, description: 'Unix seconds.' }),
    fill: Type.Optional(Type.Enum(['none', 'previous'])),
  }),
  body: Type.Array(Type.String(), { maxItems: 1000 }),
  answers: {
    200: { description: 'Bars.', schema: Type.Array(Bar) },
    503: { description: 'Not now.', schema: Type.Object({ bar: Bar }) },
  },
  causes: ['ASSET_NOT_FOUND', 'OVERLOADED'],
  rate: 'read',
  needsSync: true,
  positioned: true,
  etag: true,
  gzip: true,
  handle: () => ({ body: '[]' }),
};

export const ROUTES: readonly Route[] = [
  ...adminRoutes(STATUS, createRegistry()),
  ...utilityRoutes(systemClock),
  RICH_ROUTE,
];

const BARS = topic({
  name: 'LastBar',
  otherEvents: { BarsRevised: Type.Object({ bars: Type.Array(Bar) }) },
  summary: 'Bars',
  cadenceMs: 5,
  data: Type.Object({ interval: Type.Enum(['min1', 'min5']) }),
  update: Bar,
  open: () => ({
    key: 'bars',
    tags: [],
    snapshot: () => ({ open: '1', time: 0 }),
    since: () => [],
  }),
});

export const TOPICS: readonly Topic[] = [healthTopic(STATUS), BARS];

/** The value at `path` of a document, parts separated by spaces; undefined where there is none. */
export function at(document: unknown, path: string): unknown {
  return path
    .split(' ')
    .reduce<unknown>(
      (value, part) =>
        typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined,
      document,
    );
}

export function keysAt(document: Json, path: string): string[] {
  const value = at(document, path);
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}

/** Lists the faults of `document`: references into nothing, schemas at odds with themselves. */
export function faultsIn(document: Json): string[] {
  const faults: string[] = [];
  visit(document, '#', (value, where) => {
    // Skips examples, because they are answers, which may have fields of any name, and security
    // schemes, because they are no schemas either.
    if (/\/examples?(\/|$)|\/securitySchemes\//.test(where)) return;
    const { $ref, type, required, properties } = value;
    if (typeof $ref === 'string' && !resolves(document, $ref)) faults.push(`${where}: ${$ref}`);
    if (typeof type === 'string' && !JSON_TYPES.has(type)) faults.push(`${where}: type ${type}`);
    if ('$id' in value) faults.push(`${where}: $id moves the base of references`);
    if (!Array.isArray(required)) return;
    const missing = required.filter((name) => at(properties, String(name)) === undefined);
    if (missing.length > 0) faults.push(`${where}: required but undefined ${missing.join()}`);
  });
  return faults;
}

const EXAMPLES = new Set(['example', 'examples']);
const JSON_TYPES = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean', 'null']);

function resolves(document: Json, reference: string): boolean {
  if (!reference.startsWith('#/')) return false;
  return at(document, reference.slice(2).split('/').join(' ')) !== undefined;
}

function visit(
  value: Json,
  where: string,
  see: (value: Readonly<Record<string, Json>>, where: string) => void,
): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) see(Object.fromEntries(Object.entries(value)), where);
  for (const [key, child] of Object.entries(value)) {
    // Skips recorded examples, because they are no schemas: a field called `type` may say anything.
    if (!EXAMPLES.has(key)) visit(child, `${where}/${key}`, see);
  }
}
