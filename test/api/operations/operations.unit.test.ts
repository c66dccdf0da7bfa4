import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import Value from 'typebox/value';
import type { Answer, Route } from '../../../src/api/gateway/port.ts';
import { adminRoutes, registerStatus, utilityRoutes } from '../../../src/api/operations/routes.ts';
import type { NodeStatus } from '../../../src/api/operations/status.ts';
import { healthTopic } from '../../../src/api/operations/topics.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { createRegistry } from '../../../src/engine/runtime/meters.ts';
import { askRoute } from '../../support/askRoute.ts';
import { STATUS } from '../docs/sample.ts';
import { openSource } from '../topics/openSource.ts';

async function ask(routes: readonly Route[], path: string): Promise<Answer & { schema?: TSchema }> {
  const route = routes.find((candidate) => candidate.path === path);
  assert.ok(route, `no route ${path}`);
  const answer = await askRoute(route);
  assert.ok(!(answer instanceof Failure));
  const schema = route.answers[answer.status ?? 200]?.schema;
  if (schema !== undefined) assert.ok(Value.Check(schema, JSON.parse(String(answer.body))), path);
  return answer;
}

const admin = (status: Partial<NodeStatus> = {}) =>
  adminRoutes({ ...STATUS, ...status }, createRegistry());

test('live as long as the process answers', async () => {
  const answer = await ask(admin({ synced: () => false }), '/health/live');
  assert.deepEqual([answer.status, answer.body], [undefined, '{"live":true}']);
});

test('ready tells role, position, state hash and tip', async () => {
  const answer = await ask(admin(), '/health/ready');
  assert.equal(answer.status, 200);
  assert.deepEqual(JSON.parse(String(answer.body)), {
    node: 'test-1',
    role: 'leader',
    leader: 'test-1',
    term: 1,
    lagEntries: 0,
    position: '1-abc:42',
    epoch: '1-abc',
    seq: 42,
    stateHash: 'c0ffee',
    hashedSeq: 40,
    synced: true,
    stale: false,
    degraded: false,
    reasons: [],
    quarantinedPools: 0,
    stuckPools: [],
    mayNotLead: null,
    tip: { slot: 7, hash: 'beef', time: 1_700_000_000, lagMs: 12 },
    sync: null,
  });
});

test('while it catches up with a real chain, ready and metrics tell how far it is', async () => {
  const sync = {
    slot: 40,
    tipSlot: 100,
    blocksBehind: 3,
    percent: 40.25,
    blocksPerSecond: 700,
    secondsLeft: 1,
  };
  const syncing = { synced: () => false, sync: () => sync };
  const ready = await ask(admin(syncing), '/health/ready');
  assert.equal(ready.status, 503);
  assert.deepEqual(JSON.parse(String(ready.body)).sync, sync);
  const lost = { ...sync, tipSlot: null, blocksBehind: null, percent: null, secondsLeft: null };
  await ask(admin({ ...syncing, sync: () => lost }), '/health/ready');
  const registry = createRegistry();
  registerStatus(registry, { ...STATUS, ...syncing });
  const text = await registry.metrics();
  for (const line of [/sync_percent 40.25$/m, /sync_blocks_behind 3$/m, /_per_second 700$/m]) {
    assert.match(text, line);
  }
});

test('not ready until synced; degraded and stale are reported but still ready', async () => {
  assert.equal((await ask(admin({ synced: () => false }), '/health/ready')).status, 503);
  const reasons = [{ code: 'STATE_NOT_WRITTEN', message: 'disk full: make room' } as const];
  const states = { quarantined: () => 2, stale: () => true, stuckPools: () => ['a.b'] };
  const troubled = admin({ ...states, reasons: () => reasons });
  const answer = await ask(troubled, '/health/ready');
  assert.equal(answer.status, 200);
  const body = JSON.parse(String(answer.body));
  assert.deepEqual([body.degraded, body.quarantinedPools, body.stale], [true, 2, true]);
  assert.deepEqual(body.reasons, reasons);
  assert.deepEqual(body.stuckPools, ['a.b']);
  const registry = createRegistry();
  registerStatus(registry, { ...STATUS, reasons: () => reasons });
  assert.match(await registry.metrics(), /^upcurve_reason\{code="STATE_NOT_WRITTEN"\} 1$/m);
});

test('Health names reasons by their code only: messages are for the operator', () => {
  const reasons = [{ code: 'NODE_AWAY', message: '/data is full' } as const];
  const topic = healthTopic({ ...STATUS, reasons: () => reasons, submits: () => false });
  const text = JSON.stringify(openSource(topic, null).snapshot());
  assert.match(text, /"reasons":\["NODE_AWAY"\],"submits":false/);
  assert.doesNotMatch(text, /data is full/);
});

test('health, readiness and metrics answer while syncing and cost no one a request', () => {
  for (const { rate, needsSync } of admin()) assert.deepEqual([rate, needsSync], ['free', false]);
});

test('metrics are in the text format of Prometheus', async () => {
  const answer = await ask(admin(), '/metrics');
  assert.equal(answer.type, 'text/plain; version=0.0.4; charset=utf-8');
});

test('the server tells its wall clock in milliseconds', async () => {
  const clock = { ...systemClock, nowMs: () => 1_700_000_000_123 };
  const answer = await ask(utilityRoutes(clock), '/v1/utility/server/time');
  assert.equal(answer.body, '{"timestamp":1700000000123}');
});

test('Health is sent whole each second, also to those who ask with {} or nothing', () => {
  const topic = healthTopic(STATUS);
  assert.deepEqual([topic.periodic, topic.cadenceMs, topic.event], [true, 1000, 'HealthUpdate']);
  for (const input of [null, {}, undefined]) assert.ok(!(topic.accept(input) instanceof Failure));
  const update = openSource(topic, null).snapshot();
  assert.deepEqual(update, {
    tip: { slot: 7, hash: 'beef', time: 1_700_000_000, lagMs: 12, height: 5 },
    rollback: { seq: 40, toSlot: 6, blocks: 2 },
    epoch: '1-abc',
    seq: 42,
    node: 'test-1',
    role: 'leader',
    synced: true,
    stale: false,
    reasons: [],
    submits: true,
  });
  assert.ok(Value.Check(topic.update, update));
});
