/** Processes that `cluster` keeps running: their lines, their deaths, their end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { freePorts, localNats } from '../../../src/server/cli/localServers.ts';
import { SupervisedProcess } from '../../../src/server/cli/supervisedProcess.ts';
import { type Scope, temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const environment = { PATH: process.env.PATH };

/** Started again until it has died so often. */
function kept(scope: Scope, script: string, lives: number, stopLimitMs = 30_000) {
  const lines: string[] = [];
  const deaths: string[] = [];
  const plan = {
    command: process.execPath,
    args: ['-e', script],
    environment,
    stopLimitMs,
    onLine: (line: string) => lines.push(line),
    onExit(how: string) {
      deaths.push(how);
      return deaths.length < lives;
    },
  };
  const child = new SupervisedProcess(plan, systemClock);
  scope.after(() => child.stop());
  child.start();
  return { child, lines, deaths };
}

test('a process that dies is reported and started again; its outputs pass by lines', async (t) => {
  const script = 'process.stdout.write("a\\nb"); console.error("c"); process.exitCode = 3;';
  const { child, lines, deaths } = kept(t, script, 2);
  await until('it died twice', () => deaths.length === 2);
  await child.stop();
  assert.deepEqual(deaths, ['exit code 3', 'exit code 3']);
  assert.deepEqual(lines.toSorted(), ['a', 'a', 'b', 'b', 'c', 'c']);
});

test('a process that shall not be kept is not started again', async (t) => {
  const { child, lines, deaths } = kept(t, 'console.log("once")', 1);
  await until('it ended', () => deaths.length === 1);
  await child.stop();
  assert.deepEqual([lines, deaths], [['once'], ['exit code 0']]);
});

test('a stop asks, and kills what does not listen', async (t) => {
  const deaf = 'process.on("SIGTERM", () => console.log("no")); setInterval(() => {}, 1000);';
  const { child, lines, deaths } = kept(t, `${deaf} console.log("up");`, 1, 3_000);
  await until('it is up', () => lines.includes('up'));
  await child.stop();
  assert.deepEqual(lines, ['up', 'no']);
  assert.deepEqual(deaths, [], 'a requested stop is no death');
});

test('free ports are different, and below those of outgoing connections', async () => {
  const ports = await freePorts(9, systemRng);
  assert.equal(new Set(ports).size, 9);
  assert.ok(ports.every((port) => port >= 15_000 && port < 32_000));
});

test('a nats-server that is missing: what to install', async () => {
  const place = { environment, clock: systemClock, rng: systemRng, say: () => {} };
  const found = await localNats(temporaryDirectory(), place, 'nats-server-missing');
  assert.ok(found instanceof Failure);
  assert.match(found.message, /apt-get install nats-server/);
});

test('no second nats-server on a directory; a dead one is started again', async (t) => {
  const directory = temporaryDirectory();
  const said: string[] = [];
  const say = (line: string) => said.push(line);
  const place = { environment, clock: systemClock, rng: systemRng, say };
  const server = await localNats(directory, place);
  assert.ok(!(server instanceof Failure));
  t.after(() => server.stop());
  assert.equal(await server.start(assert.fail), true);
  const second = await localNats(directory, place);
  assert.ok(second instanceof Failure);
  const pid = Number(/kill (\d+)$/.exec(second.message)?.[1]);
  assert.ok(pid > 0, second.message);
  process.kill(pid, 'SIGKILL');
  await until('it is reported', () => said.some((line) => /has died .*SIGKILL/.test(line)));
  await server.stop();
  assert.ok(!((await localNats(directory, place)) instanceof Failure), 'the directory is free');
});
