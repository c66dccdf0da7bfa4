import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Observer } from '../../../src/api/gateway/observer.ts';
import type { ReplayObserver } from '../../../src/engine/ingest/replay.ts';
import type { WriterObserver } from '../../../src/engine/log/writer.ts';
import type { NodeObserver } from '../../../src/engine/node/nodeOptions.ts';
import { Fault } from '../../../src/engine/runtime/assert.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import {
  createEvents,
  createLogger,
  HANDLERS,
  type LogLevel,
} from '../../../src/engine/runtime/events.ts';
import { collectProcessMetrics, createRegistry } from '../../../src/engine/runtime/meters.ts';

function heard(level: LogLevel) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const clock = { ...systemClock, nowMs: () => 1_700_000_000_123 };
  const registry = createRegistry();
  const events = createEvents(createLogger({ level, clock, destination }), registry, clock);
  return { events, registry, lines, logged: () => lines.map((line) => JSON.parse(line)) };
}

test('an event is one JSON line with level, time, name and fields', () => {
  const { events, lines, logged } = heard('info');
  events.listening('market', '::1', 8080);
  assert.deepEqual(logged(), [
    {
      level: 'info',
      time: 1_700_000_000_123,
      event: 'listening',
      what: 'market',
      host: '::1',
      port: 8080,
      msg: 'listening on http://[::1]:8080',
    },
  ]);
  assert.ok(lines[0]?.endsWith('\n'));
});

test('the level decides what is written, never what is counted', async () => {
  const { events, lines, registry } = heard('silent');
  events.commitFailed(new Error('disk full'), 3, 800);
  assert.deepEqual(lines, []);
  assert.match(await registry.metrics(), /^upcurve_commit_failures_total 1$/m);
});

test('an error keeps its message and stack in the log and stays out of the labels', async () => {
  const { events, logged, registry } = heard('info');
  events.actorQuarantined('cafe.01', new Error('broken reserve'));
  const [line] = logged();
  assert.equal(line.pool, 'cafe.01');
  assert.equal(line.err.message, 'broken reserve');
  assert.match(line.err.stack, /events\.unit\.test\.ts/);
  const text = await registry.metrics();
  assert.match(text, /^upcurve_actors_quarantined_total 1$/m);
  assert.doesNotMatch(text, /cafe\.01/);
});

test('a state of an earlier version is no error, and a damaged one is', () => {
  const { events, logged } = heard('info');
  events.stateUnreadable(new Fault('otherStateVersion', 'it is of version 5'));
  events.stateUnreadable(new Error('database disk image is malformed'));
  const said = logged().map(({ level, reason, err }) => [level, reason, err?.message]);
  assert.deepEqual(said, [
    ['info', 'it is of version 5', undefined],
    ['error', undefined, 'database disk image is malformed'],
  ]);
});

test('the gateway reports to it: counts by route, status class and close code', async () => {
  const { events, registry } = heard('info');
  const observer: Observer = events;
  observer.httpRequest('chartsHistory', 200, 0.002);
  observer.httpRequest('chartsHistory', 204, 0.002);
  observer.httpRequest('chartsHistory', 404, 0.002);
  observer.socketOpened();
  observer.socketOpened();
  observer.socketClosed(4008);
  observer.socketClosed(3777);
  observer.framesPublished(3, 120);
  observer.resync('slow');
  observer.badFrame('INVALID_PARAMS');
  observer.flushed(2);
  const text = await registry.metrics();
  assert.match(text, /http_request_seconds_count\{route="chartsHistory",status="2xx"\} 2/);
  assert.match(text, /http_request_seconds_count\{route="chartsHistory",status="4xx"\} 1/);
  const bucket = (le: string, count: number) =>
    text.includes(
      `http_request_seconds_bucket{le="${le}",route="chartsHistory",status="2xx"} ${count}\n`,
    );
  assert.ok(bucket('0.001', 0) && bucket('0.002', 2) && bucket('5', 2) && bucket('+Inf', 2));
  assert.match(text, /http_request_seconds_sum\{route="chartsHistory",status="2xx"\} 0\.004/);
  assert.match(text, /upcurve_sockets_closed_total\{code="4008"\} 1/);
  assert.match(text, /upcurve_sockets_closed_total\{code="other"\} 1/);
  assert.match(text, /^upcurve_sockets 0$/m);
  assert.match(text, /^upcurve_frame_bytes_published_total 120$/m);
  assert.match(text, /upcurve_resyncs_total\{reason="slow"\} 1/);
  assert.match(text, /upcurve_flush_seconds_sum 0.002/);
});

test('every stage can report to it', async () => {
  const { events, registry, logged } = heard('info');
  const stages: NodeObserver & WriterObserver & ReplayObserver = events;
  stages.batchApplied(7, 0.001);
  stages.committed(9, 0.002);
  stages.appendFailed(new Error('disk full'), 1, 100);
  stages.foldFailed(new Error('broken'));
  assert.deepEqual(
    logged().map(({ level, event }) => [level, event]),
    [
      ['error', 'appendFailed'],
      ['fatal', 'foldFailed'],
    ],
  );
  const text = await registry.metrics();
  assert.match(text, /^upcurve_entries_applied_total 7$/m);
  assert.match(text, /^upcurve_rows_committed_total 9$/m);
});

test('a replay of the wrong file counts every bad line but logs only the first ones', async () => {
  const { events, lines, registry } = heard('info');
  for (let line = 1; line <= 1_500; line += 1) events.lineRejected(line, 'not JSON');
  assert.equal(lines.length, 1_000);
  assert.match(await registry.metrics(), /^upcurve_replay_lines_rejected_total 1500$/m);
});

test('the process is measured too, the delay of its event loop included', async () => {
  const registry = createRegistry();
  collectProcessMetrics(registry);
  assert.match(await registry.metrics(), /^nodejs_eventloop_lag_p99_seconds /m);
});

test('each counter is there from the start, at 0: an alert sees the first failure', async () => {
  const { events, registry } = heard('silent');
  events.serves([{ operationId: 'chartsHistory' }], [{ name: 'LastBar' }]);
  const text = await registry.metrics();
  const names = [...text.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name]) => name ?? '');
  assert.ok(names.length > 30);
  for (const name of names) {
    assert.match(text, new RegExp(`^${name}(\\{.*\\})? 0$`, 'm'), `${name} has a value`);
  }
  assert.match(text, /^upcurve_handler_failed_total\{where="chartsHistory"\} 0$/m);
  assert.match(text, /^upcurve_handler_failed_total\{where="topic LastBar"\} 0$/m);
  assert.match(text, /^upcurve_node_lost_total\{connection="mempool",cause="stalled"\} 0$/m);
});

test('each place that can fail has its counter', () => {
  const known: readonly string[] = HANDLERS;
  const files = globSync('src/**/*.ts');
  assert.ok(files.length > 300);
  for (const file of files) {
    for (const [, place] of readFileSync(file, 'utf8').matchAll(/handlerFailed\('([^']+)'/g)) {
      assert.ok(known.includes(place ?? ''), `${file}: ${place}`);
    }
  }
});
