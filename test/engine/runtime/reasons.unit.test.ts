import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Reasons } from '../../../src/engine/runtime/reasons.ts';

test('a reason holds from set to clear, a watched one while its part says so', () => {
  const reasons = new Reasons();
  let away: string | null = null;
  reasons.watch('NODE_AWAY', () => away);
  assert.deepEqual(reasons.list(), []);
  reasons.set('STEPS_STUCK', 'one');
  reasons.set('STEPS_STUCK', 'two');
  away = 'gone';
  assert.deepEqual(reasons.list(), [
    { code: 'STEPS_STUCK', message: 'two' },
    { code: 'NODE_AWAY', message: 'gone' },
  ]);
  reasons.clear('STEPS_STUCK');
  away = null;
  assert.deepEqual(reasons.list(), []);
});

test('only what a submission needs stops submissions, and paths stay with the operator', () => {
  const reasons = new Reasons();
  reasons.set('KUPO_AWAY', 'Kupo does not answer');
  assert.equal(reasons.refusal(), null);
  reasons.set('LOG_NOT_WRITTEN', '/data/log.sqlite: full');
  const refusal = reasons.refusal();
  assert.deepEqual([refusal?.cause, refusal?.status, refusal?.retry], ['NOT_READY', 503, true]);
  assert(Number(refusal?.retryAfterSeconds) > 0);
  assert.match(refusal?.message ?? '', /LOG_NOT_WRITTEN/);
  assert.doesNotMatch(refusal?.message ?? '', /data/);
});
