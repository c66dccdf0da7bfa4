/** Reasons that readiness lists, and the events that add and remove them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { createEvents, createLogger } from '../../../src/engine/runtime/events.ts';
import { createRegistry } from '../../../src/engine/runtime/meters.ts';
import { trackReasons } from '../../../src/server/wiring/health.ts';

test('a copy of the log that stays behind is a reason and a metric until it follows', async () => {
  const registry = createRegistry();
  const logger = createLogger({ level: 'silent', clock: systemClock });
  const { events, reasons } = trackReasons(createEvents(logger, registry, systemClock), true);
  const metric = async () =>
    (await registry.metrics()).match(/^upcurve_log_copies_behind.*$/m)?.[0];
  events.copiesCompared([{ server: 'nats-2', missing: 77 }]);
  const [reason] = reasons.list();
  assert.equal(reason?.code, 'LOG_COPY_BEHIND');
  assert.match(reason.message, /nats-2 lacks 77 entries/);
  assert.equal(await metric(), 'upcurve_log_copies_behind 1');
  events.copiesCompared([{ server: 'nats-3', missing: 0, differsAt: 41 }]);
  assert.match(reasons.list()[0]?.message ?? '', /not as the log: nats-3 has another entry 41\./);
  events.copiesCompared([]);
  assert.deepEqual(reasons.list(), []);
  assert.equal(await metric(), 'upcurve_log_copies_behind 0');
});
