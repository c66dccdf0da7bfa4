import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../../src/engine/runtime/clock.ts';
import { runServices, type Service } from '../../../src/engine/runtime/service.ts';

const LIMITS = { clock: systemClock, stopDeadlineMs: 5_000 };

function recorder() {
  const calls: string[] = [];
  const service = (name: string, more: Partial<Service> = {}): Service => ({
    name,
    start: () => void calls.push(`start ${name}`),
    stop: async () => void calls.push(`stop ${name}`),
    ...more,
  });
  return { calls, service };
}

test('services start in order and stop in reverse, once', async () => {
  const { calls, service } = recorder();
  const running = await runServices([service('log'), service('fold'), service('gateway')], LIMITS);
  assert.deepEqual(calls, ['start log', 'start fold', 'start gateway']);
  const [first, second] = await Promise.all([running.stop(), running.stop()]);
  assert.deepEqual(calls.slice(3), ['stop gateway', 'stop fold', 'stop log']);
  assert.deepEqual([first, second], [[], []]);
});

test('a failed start stops what was started, and nothing else, and says which failed', async () => {
  const { calls, service } = recorder();
  const broken = service('gateway', { start: () => Promise.reject(new Error('port in use')) });
  await assert.rejects(
    runServices([service('log'), service('fold'), broken, service('never')], LIMITS),
    (error: Error) => {
      assert.match(error.message, /service gateway did not start/);
      assert(error.cause instanceof Error && error.cause.message === 'port in use');
      return true;
    },
  );
  assert.deepEqual(calls, ['start log', 'start fold', 'stop fold', 'stop log']);
});

test('a stop that throws is reported and does not keep the others from stopping', async () => {
  const { calls, service } = recorder();
  const error = new Error('disk');
  const stop = () => {
    throw error;
  };
  const running = await runServices([service('log'), service('fold', { stop })], LIMITS);
  assert.deepEqual(await running.stop(), [{ service: 'fold', error }]);
  assert.equal(calls.at(-1), 'stop log');
});

test('past the deadline the rest is still asked to stop, and who hangs is named', async () => {
  const { calls, service } = recorder();
  const alarms: (() => void)[] = [];
  const after: Clock['after'] = (_delayMs, run) => {
    alarms.push(run);
    return { cancel: () => {} };
  };
  const stop = () => new Promise<void>(() => {});
  const running = await runServices([service('log'), service('fold', { stop })], {
    clock: { ...systemClock, after },
    stopDeadlineMs: 10,
  });
  const stopping = running.stop();
  assert.equal(alarms.length, 1);
  alarms[0]?.();
  const faults = await stopping;
  assert.equal(faults[0]?.service, 'fold');
  assert.match(String(faults[0]?.error), /not stopped after 10 ms/);
  assert.equal(calls.at(-1), 'stop log');
});
