/** Connecting to NATS, losing it, and the advice when it cannot be used. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectNats } from '../../../src/cluster/nats/connection.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { freePort, NATS_CONF, NatsServer, PATIENT_MS } from '../../support/nats.ts';
import { NatsProxy } from '../../support/natsProxy.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';

async function refusal(url: string, more: { credsFile?: string } = {}): Promise<string> {
  const settings = { url, name: 'test', connectTimeoutMs: PATIENT_MS, ...more };
  const link = await connectNats(settings, systemRng);
  assert.ok(link instanceof Failure);
  return link.message;
}

test('a lost connection reconnects, and both are reported', async (scope) => {
  const server = await NatsServer.start(scope);
  const link = await server.connect(scope, `nats://127.0.0.1:${server.port}`, 'node-1');
  const told: string[] = [];
  link.onStatus(({ status }) => told.push(status));
  assert.equal(link.connected, true);
  await server.kill();
  await until('it is reported', () => told.length === 1);
  assert.equal(link.connected, false);
  await server.start();
  await until('it is back', () => told.length === 2);
  assert.equal(link.connected, true);
  await link.close();
  await until('it is closed', () => told.length === 3);
  assert.deepEqual(told, ['disconnected', 'reconnected', 'closed']);
});

test('an absent or unsuitable server is named, with advice', async (scope) => {
  const port = await freePort();
  const missing = await refusal(`nats://user:secret@127.0.0.1:${port}`);
  assert.match(
    missing,
    new RegExp(`NATS at 127.0.0.1:${port} cannot be used: .*start nats-server`),
  );
  assert.doesNotMatch(missing, /secret/);
  assert.match(await refusal(','), /is no URL/);
  assert.match(await refusal('nats://127.0.0.1', { credsFile: '/nowhere/a.creds' }), /nowhere/);
  const server = await NatsServer.start(scope, ['--user', 'market', '--pass', 'right']);
  const at = (user: string) => `nats://${user}@127.0.0.1:${server.port}`;
  assert.match(await refusal(at('market:wrong')), /refuses our user/);
  await server.connect(scope, at('market:right'));
  assert.match(await refusal(at('market:right').replace('nats:', 'tls:')), /TLS failed/);
});

test('closing ends a dial to a server that is silent', async (scope) => {
  const server = await NatsServer.start(scope);
  const proxy = await NatsProxy.start(scope, server.port);
  const link = await server.connect(scope, proxy.url);
  proxy.deaf = true;
  proxy.cut();
  await until('it is dialled again', () => !link.connected && proxy.connections === 1);
  await link.close();
  await until('nothing is left open', () => proxy.connections === 0);
});

test('messages in flight to a frozen server can be given up', async (scope) => {
  const server = await NatsServer.start(scope);
  const link = await server.connect(scope);
  server.pause();
  scope.after(() => server.resume());
  await link.close(Promise.resolve());
  assert.equal(link.connection.isClosed(), true);
});

test('one of several servers is enough', async (scope) => {
  const server = await NatsServer.start(scope);
  const url = `nats://127.0.0.1:${await freePort()},127.0.0.1:${server.port}`;
  const link = await server.connect(scope, url);
  assert.equal(link.connected, true);
});

test('nats-server accepts the configuration for tests', (scope) => {
  const directory = temporaryDirectory(scope);
  const said = spawnSync('nats-server', ['-t', '-c', NATS_CONF, '-sd', directory]);
  assert.equal(said.status, 0, said.stderr.toString());
});

test('the production configuration has what the guarantees need', (scope) => {
  const path = join(import.meta.dirname, '../../../config/nats-production.conf');
  const text = readFileSync(path, 'utf8');
  for (const needed of ['sync_interval: always', 'tls {', 'authorization {', 'routes: [']) {
    assert.ok(text.includes(needed), needed);
  }
  const directory = temporaryDirectory(scope);
  const env = { PATH: process.env.PATH, SERVER_NAME: 'a', MARKET_PASSWORD: 'b' };
  const said = spawnSync('nats-server', ['-t', '-c', path, '-sd', directory], { env });
  // 2.9 knows all these options except sync_interval; and the configuration's certificates do not
  // exist here.
  const faults = said.stderr.toString();
  assert.doesNotMatch(faults.replaceAll(/.*sync_interval.*/g, ''), /unknown field/, faults);
});
