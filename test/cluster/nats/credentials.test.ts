/** Authentication at NATS with an NKEY or a certificate. Real keys and TLS. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nkeys } from '@nats-io/transport-node';
import { connectNats, type NatsSettings } from '../../../src/cluster/nats/connection.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { NatsServer, PATIENT_MS } from '../../support/nats.ts';
import { type Scope, temporaryDirectory } from '../../support/server.ts';
import { untilAsked } from '../../support/until.ts';

const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0;

function written(directory: string, name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** The reason of a refusal; null: it is connected, and JetStream answers. */
async function refusal(scope: Scope, settings: Omit<NatsSettings, 'name'>): Promise<string | null> {
  const own = { ...settings, name: 'node', connectTimeoutMs: PATIENT_MS };
  const link = await connectNats(own, systemRng);
  if (link instanceof Failure) return link.message;
  scope.after(() => link.close());
  const info = await link.connection.request('$JS.API.INFO', '', { timeout: PATIENT_MS });
  assert.match(info.string(), /account_info_response/);
  return null;
}

test('a node authenticates with its NKEY', async (scope) => {
  const directory = temporaryDirectory();
  const user = nkeys.createUser();
  const authorization = `authorization { users: [{ nkey: ${user.getPublicKey()} }] }`;
  const config = written(directory, 'nkey.conf', `jetstream: enabled\n${authorization}\n`);
  const server = await NatsServer.start(scope, ['-c', config]);
  const { url } = server;
  const seed = Buffer.from(user.getSeed()).toString();
  // As `nk` writes it, and as users keep it.
  for (const text of [seed, `# of this market\n${seed}\n`]) {
    assert.equal(await refusal(scope, { url, nkeyFile: written(directory, 'a', text) }), null);
  }
  const other = Buffer.from(nkeys.createUser().getSeed()).toString();
  const wrong = await refusal(scope, { url, nkeyFile: written(directory, 'b', other) });
  assert.match(wrong ?? '', /refuses our user/);
  const none = await refusal(scope, { url, nkeyFile: written(directory, 'c', 'no seed') });
  assert.match(none ?? '', /NATS_NKEY_FILE: .*has no seed of a user/);
  for (const said of [wrong, none]) assert.doesNotMatch(said ?? '', new RegExp(`${seed}|${other}`));
  assert.match((await refusal(scope, { url })) ?? '', /refuses our user/);
});

function openssl(directory: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { cwd: directory });
  assert.equal(status, 0, stderr.toString());
}

/** A certificate authority and certificates that it signed: `<name>.crt` with `<name>.key`. */
function authority(names: Readonly<Record<string, string>>): string {
  const directory = join(temporaryDirectory(), 'tls');
  mkdirSync(directory);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    directory,
    'req',
    '-x509',
    ...key,
    '-days',
    '2',
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
    '-subj',
    '/CN=test',
  );
  for (const [name, extension] of Object.entries(names)) {
    writeFileSync(join(directory, `${name}.ext`), extension);
    openssl(
      directory,
      'req',
      ...key,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
      '-subj',
      `/CN=${name}`,
    );
    openssl(
      directory,
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '2',
      '-extfile',
      `${name}.ext`,
      '-out',
      `${name}.crt`,
    );
  }
  return directory;
}

test('a node authenticates with its certificate', {
  skip: HAS_OPENSSL ? false : 'openssl is missing',
}, async (scope) => {
  const own = authority({
    server: 'subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n',
    node: 'extendedKeyUsage=clientAuth\n',
    stranger: 'extendedKeyUsage=clientAuth\n',
  });
  const at = (name: string) => join(own, name);
  const config = written(
    own,
    'tls.conf',
    `
    jetstream: enabled
    tls {
      cert_file: ${at('server.crt')}, key_file: ${at('server.key')}, ca_file: ${at('ca.crt')}
      verify_and_map: true
    }
    authorization { users: [{ user: "CN=node" }] }
  `,
  );
  const server = await NatsServer.start(scope, ['-c', config]);
  // The client compares names, not addresses, with a certificate.
  const url = `nats://localhost:${server.port}`;
  const caFile = at('ca.crt');
  const node = { url, caFile, certFile: at('node.crt'), keyFile: at('node.key') };
  assert.equal(await refusal(scope, node), null);
  const tls = url.replace('nats:', 'tls:');
  assert.equal(await refusal(scope, { ...node, url: tls }), null);
  const stranger = { url, caFile, certFile: at('stranger.crt'), keyFile: at('stranger.key') };
  assert.match((await refusal(scope, stranger)) ?? '', /refuses our user/);
  assert.match((await refusal(scope, { url, caFile })) ?? '', /cannot be used/);
  assert.match((await refusal(scope, { ...node, caFile: undefined })) ?? '', /TLS failed/);
  const missing = await refusal(scope, { ...node, certFile: at('nothing.crt') });
  assert.match(missing ?? '', /NATS_CERT_FILE: .*nothing\.crt cannot be read/);
});

test('a renewed certificate is used at the next connection', {
  skip: HAS_OPENSSL ? false : 'openssl is missing',
}, async (scope) => {
  const own = authority({
    server: 'subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n',
    node: 'extendedKeyUsage=clientAuth\n',
  });
  const at = (name: string) => join(own, name);
  const flags = ['--tls', '--tlscert', at('server.crt'), '--tlskey', at('server.key')];
  const server = await NatsServer.start(scope, [
    ...flags,
    '--tlscacert',
    at('ca.crt'),
    '--tlsverify',
  ]);
  const url = `nats://localhost:${server.port}`;
  const files = { caFile: at('ca.crt'), certFile: at('node.crt'), keyFile: at('node.key') };
  const settings = { url, name: 'node', connectTimeoutMs: PATIENT_MS, ...files };
  const link = await connectNats(settings, systemRng);
  assert.ok(!(link instanceof Failure), link instanceof Failure ? link.message : '');
  scope.after(() => link.close());
  await server.kill();
  // The server knows only the new authority now.
  const next = authority({
    server: 'subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n',
    node: 'extendedKeyUsage=clientAuth\n',
  });
  for (const name of ['ca.crt', 'server.crt', 'server.key', 'node.crt', 'node.key']) {
    copyFileSync(join(next, name), at(name));
  }
  await server.start();
  await untilAsked(
    'it is back',
    async () => link.connected,
    (connected) => connected,
  );
});
