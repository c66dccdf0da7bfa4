/**
 * Several nodes with their services: what compose.yaml, nginx.conf and prometheus.yml name is
 * checked against the tree and each other. No test starts these services: there is no engine.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { adminRoutes } from '../src/api/operations/routes.ts';
import { createRegistry } from '../src/engine/runtime/meters.ts';
import { settingRows } from '../src/server/settings/help.ts';
import { BadSettings, readSettings } from '../src/server/settings/settings.ts';
import { STATUS } from './api/docs/sample.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

interface Service {
  readonly image: string;
  readonly user: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly networks?: unknown;
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly cap_drop?: readonly string[];
  readonly build?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

// trust: the tests below are about its shape
const compose = parse(read('compose.yaml'), { merge: true }) as Compose;
const { services } = compose;
const named = (kind: string) =>
  Object.entries(services).filter(([name]) => new RegExp(`^${kind}-\\d$`).test(name));
const nodes = named('node');
const nginx = read('config/nginx.conf').replaceAll(/#.*$/gm, '');
const image = read('Dockerfile');
/** The operator creates these; they are in no repository. */
const SECRETS = ['keys.json', 'ca.crt', 'server.crt', 'server.key'].map(
  (name) => `secrets/${name}`,
);
const MARKET_PASSWORD = 'a-password';

/** As compose fills in variables. */
function filled(environment: Readonly<Record<string, string>> = {}): Record<string, string> {
  const value = (text: string) =>
    String(text)
      .replaceAll(/\$\{MARKET_PASSWORD:\?[^}]*\}/g, MARKET_PASSWORD)
      .replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');
  return Object.fromEntries(
    Object.entries(environment).map(([key, text]) => [key, value(text)] as const),
  );
}

test('three nodes and NATS servers, nginx, Prometheus; every service that is named exists', () => {
  assert.deepEqual([nodes.length, named('nats').length], [3, 3]);
  assert.ok(services.nginx !== undefined && services.prometheus !== undefined);
  for (const [name, { depends_on = {} }] of Object.entries(services)) {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      const target = services[other];
      assert.ok(target !== undefined, `${name} waits for ${other}`);
      const hasCheck = target.healthcheck !== undefined || target.build !== undefined;
      if (condition === 'service_healthy') assert.ok(hasCheck, `${other} has no health check`);
    }
  }
  assert.match(image, /^HEALTHCHECK /m);
});

test('images are pinned, nothing that runs on is root, and all have time to stop', () => {
  for (const [name, service] of Object.entries(services)) {
    if (service.build === undefined)
      assert.match(service.image, /:v?\d+\.\d+(\.\d+)?(-\w+)?$/, name);
    if (name === 'volumes') continue;
    assert.notEqual(service.user ?? 'root', 'root', name);
    assert.deepEqual(service.cap_drop, ['ALL'], name);
    assert.match(service.stop_grace_period ?? '', /^(1[5-9]|[2-9]\d)s$/, `${name} stops in 10 s`);
  }
  for (const [, { user }] of nodes) assert.match(image, new RegExp(`^USER ${user}$`, 'm'));
});

test('every file, volume and secret exists, or is one that its user makes', () => {
  const used = new Set<string>();
  for (const [name, { volumes = [], secrets = [] }] of Object.entries(services)) {
    for (const mount of volumes) {
      const [source = '', target] = mount.split(':');
      assert.ok(target?.startsWith('/'), mount);
      if (!source.startsWith('./')) used.add(source);
      else if (!SECRETS.includes(source.slice(2))) assert.ok(existsSync(join(ROOT, source)), mount);
    }
    for (const secret of secrets) assert.ok(secret in compose.secrets, `${name}: ${secret}`);
  }
  assert.deepEqual([...used].toSorted(), Object.keys(compose.volumes).toSorted());
  for (const { file } of Object.values(compose.secrets)) assert.ok(SECRETS.includes(file.slice(2)));
  const ignored = read('.gitignore').split('\n');
  assert.ok(ignored.includes('secrets/') && ignored.includes('.env'));
});

test('the program takes the settings of every node; all are one market', () => {
  const known = new Set(['NODE_EXTRA_CA_CERTS', ...settingRows().map(({ key }) => key)]);
  const names = nodes.map(([name, { environment, secrets = [], volumes = [] }]) => {
    const given = filled(environment);
    for (const key of Object.keys(given)) assert.ok(known.has(key), key);
    const settings = readSettings(given);
    assert.ok(!(settings instanceof BadSettings), String(settings));
    assert.deepEqual([settings.NODE_NAME, settings.NATS_REPLICAS], [name, 3]);
    for (const file of [settings.KEYS_FILE, given.NODE_EXTRA_CA_CERTS]) {
      assert.ok(
        secrets.some((secret) => file === `/run/secrets/${secret}`),
        file,
      );
    }
    assert.ok(
      volumes.some((mount) => mount === `${name}:/data`),
      'data of its own',
    );
    const servers = settings.NATS_URL?.split(',').map((server) => new URL(server).hostname);
    assert.deepEqual(
      servers,
      named('nats').map(([server]) => server),
    );
    return { ...settings, NODE_NAME: undefined };
  });
  assert.deepEqual(names[1], names[0]);
  assert.deepEqual(names[2], names[0]);
});

test('the NATS servers get all that their configuration asks for', () => {
  const conf = read('config/nats-production.conf').replaceAll(/^\s*#.*$/gm, '');
  const files = Array.from(conf.matchAll(/"?(\/(?:etc|var)\/[^\s"]+)/g), ([, path = '']) => path);
  assert.ok(files.length > 3);
  // A dollar sign inside quotes begins no variable: NATS' own subjects begin with a dollar sign.
  const unquoted = conf.replaceAll(/"[^"]*"/g, '""');
  const variables = Array.from(unquoted.matchAll(/\$(\w+)/g), ([, name = '']) => name);
  for (const [name, { environment = {}, volumes = [], command = [] }] of named('nats')) {
    const targets = volumes.map((mount) => mount.split(':')[1]);
    for (const file of files) assert.ok(targets.includes(file), `${name}: ${file}`);
    const mounted = volumes.find((mount) => mount.split(':')[1] === command.at(-1)) ?? '';
    assert.ok(mounted.startsWith('./config/nats-production.conf:'), mounted);
    for (const key of variables) assert.ok(key in environment, `${name}: ${key}`);
    assert.equal(environment.SERVER_NAME, name);
    assert.ok(conf.includes(`tls://${name}:6222`), 'a route to it');
  }
  // The server takes a variable for a whole value only, never within one.
  assert.doesNotMatch(unquoted, /[^\s:]\$\w+/);
});

test('nginx and Prometheus know every node, on the ports where it is', () => {
  const port = /\bPORT=(\d+)/.exec(image)?.[1];
  const names = nodes.map(([name]) => name);
  const of = (upstream: string) => {
    const block = new RegExp(`upstream ${upstream} \\{([^}]*)\\}`).exec(nginx)?.[1] ?? '';
    return Array.from(block.matchAll(/server (\S+)/g), ([, server = '']) => server);
  };
  const admin = nodes[0]?.[1].environment?.ADMIN_PORT;
  assert.deepEqual(
    of('nodes'),
    names.map((name) => `${name}:${port}`),
  );
  assert.deepEqual(
    of('admin'),
    names.map((name) => `${name}:${admin}`),
  );
  const [job] = parse(read('config/prometheus.yml')).scrape_configs;
  assert.deepEqual(job.static_configs[0].targets, of('admin'));
  const paths = adminRoutes(STATUS, createRegistry()).map(({ path }) => path);
  assert.ok(paths.includes(job.metrics_path));
  assert.ok(paths.every((path) => path.startsWith('/health/') || path === '/metrics'));
});

test('nginx lets sockets through, stays below their limits, and repeats no POST', () => {
  const has = (line: string) => assert.ok(nginx.includes(line), line);
  const paths = /SOCKET_PATHS = \[(.*)\]/.exec(read('src/api/gateway/gateway.ts'))?.[1] ?? '';
  const place = new RegExp(/location ~ (\S+) \{/.exec(nginx)?.[1] ?? 'none');
  const sockets = Array.from(paths.matchAll(/'([^']+)'/g), ([, path = '']) => path);
  assert.ok(sockets.length > 0 && sockets.every((path) => place.test(path)), paths);
  has('proxy_set_header Upgrade $http_upgrade;');
  has('proxy_set_header Connection $connection_upgrade;');
  has('proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;');
  assert.match(nginx, /proxy_next_upstream error timeout/);
  assert.doesNotMatch(nginx, /non_idempotent/);
  // Braces and semicolons are in order.
  assert.equal(nginx.match(/\{/g)?.length, nginx.match(/\}/g)?.length);
  for (const line of nginx.split('\n')) assert.match(line.trim(), /^$|[;{}]$/);
  const own = nodes.map(([, { environment }]) => environment?.TRUSTED_PROXIES);
  const { market }: { market?: { ipv4_address?: string } } = Object(services.nginx?.networks);
  assert.deepEqual(
    own,
    [market, market, market].map((network) => network?.ipv4_address),
  );
  const ports = Array.from(nginx.matchAll(/listen (?:127\.0\.0\.1:)?(\d+)/g), ([, port]) => port);
  const check = services.nginx?.healthcheck?.test.at(-1) ?? '';
  assert.deepEqual(ports, ['8080', new URL(check).port]);
});

test('one node alone: what it is given exists, and it keeps its data', () => {
  const one: Compose = parse(read('compose.one.yaml'));
  const { node } = one.services;
  assert.ok(node !== undefined && node.build === '.');
  assert.match(image, new RegExp(`^USER ${node.user}$`, 'm'));
  assert.deepEqual(node.cap_drop, ['ALL']);
  assert.match(node.stop_grace_period ?? '', /^(1[5-9]|[2-9]\d)s$/);
  const settings = readSettings(filled(node.environment));
  assert.ok(!(settings instanceof BadSettings), String(settings));
  const known = new Set(settingRows().map(({ key }) => key));
  for (const key of Object.keys(node.environment ?? {})) assert.ok(known.has(key), key);
  const [mount = ''] = node.volumes ?? [];
  assert.deepEqual(mount.split(':'), ['data', /^VOLUME (\S+)$/m.exec(image)?.[1]]);
  assert.ok('data' in one.volumes);
});
