import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { settingRows, settingsHelp } from '../../../src/server/settings/help.ts';
import {
  BadSettings,
  type Environment,
  readSettings,
} from '../../../src/server/settings/settings.ts';
import { readStart, type Settings } from '../../../src/server/settings/table.ts';

function good(environment: Environment): Settings {
  const settings = readSettings(environment);
  assert(!(settings instanceof BadSettings), 'the settings were refused');
  return settings;
}

function badKeys(environment: Environment): readonly string[] {
  const settings = readSettings(environment);
  return settings instanceof BadSettings ? settings.faults.map(({ key }) => key) : [];
}

test('an empty environment gives the documented defaults', () => {
  assert.deepEqual(good({}), {
    PORT: 8080,
    PORT_SHARED: false,
    MCP: false,
    HOST: '127.0.0.1',
    TRUSTED_PROXIES: [],
    RATE_READS_PER_S: 100,
    RATE_READS_BURST: 200,
    RATE_BUILDS_PER_S: 10,
    RATE_LAUNCHES_PER_MIN: 30,
    RATE_LIMIT_LOOPBACK: false,
    MAX_SOCKETS_PER_ADDRESS: 1000,
    WEBHOOK_PRIVATE_RANGES: [],
    DATA_DIR: './var',
    DATA_MAX_MB: 0,
    HORIZON_BLOCKS: 2160,
    ACK: 'disk',
    COMMIT_EVERY_MS: 200,
    MAX_LOADED_POOLS: 20_000,
    BLOCK_EVERY_MS: 1000,
    TRADERS_PACE: 1,
    ORDER_REFUND_AFTER_MS: 1_200_000,
    BUILD_THREADS: 1,
    CALLERS_COLLATERALS: 3,
    NATS_REPLICAS: 1,
    MARKET_NAME: 'upcurve',
    ROLE: 'any',
    SNAPSHOT_EVERY: 10_000,
    LOG_KEEP: 'snapshots',
    LEASE_MS: 5_000,
    STALE_AFTER_MS: 12_000,
    CLOCK_BOUND_MS: 2_000,
    STALE_MAX_MS: 600_000,
    NETWORK: 'devnet',
    OGMIOS_PATIENCE_MS: 30_000,
    LOG_LEVEL: 'info',
    LOG_FORMAT: 'auto',
  });
});

test('a blank value is the default, and foreign variables do not matter', () => {
  assert.deepEqual(good({ PORT: '', HOST: '  ', ADMIN_PORT: '', HOME: '/root' }), good({}));
});

test('values are read as their type, spaces around them aside', () => {
  const settings = good({
    PORT: ' 0 ',
    ADMIN_PORT: '9090',
    RATE_LIMIT_LOOPBACK: 'TRUE',
    TRUSTED_PROXIES: '10.0.0.0/8, ::1 ,fd00::/8,',
    LOG_LEVEL: 'silent',
    HOST: 'localhost',
  });
  assert.equal(settings.PORT, 0);
  assert.equal(settings.ADMIN_PORT, 9090);
  assert.equal(settings.RATE_LIMIT_LOOPBACK, true);
  assert.deepEqual(settings.TRUSTED_PROXIES, ['10.0.0.0/8', '::1', 'fd00::/8']);
  assert.equal(settings.LOG_LEVEL, 'silent');
  assert.equal(settings.HOST, 'localhost');
});

test('every bad key is reported at once, with its cause and what to do', () => {
  const settings = readSettings({
    PORT: '70000',
    LOG_LEVEL: 'loud',
    HORIZON_BLOCKS: '0',
    RATE_LIMIT_LOOPBACK: 'maybe',
    TRUSTED_PROXIES: '10.0.0.0/33,here',
    NATS_URL: 'nats//user:secret@host',
  });
  assert(settings instanceof BadSettings);
  assert.deepEqual(settings.faults.map(({ key }) => key).sort(), [
    'HORIZON_BLOCKS',
    'LOG_LEVEL',
    'NATS_URL',
    'PORT',
    'RATE_LIMIT_LOOPBACK',
    'TRUSTED_PROXIES',
  ]);
  assert.match(settings.message, /PORT: "70000" is not valid: integer 0…65535\. /);
  assert.match(settings.message, /LOG_LEVEL: .*one of trace, debug, info.* default, info\./);
  assert.match(settings.message, /TRUSTED_PROXIES: no address or CIDR: 10.0.0.0\/33, here\. /);
  assert.doesNotMatch(settings.message, /secret/);
});

test('settings that contradict each other are refused', () => {
  assert.deepEqual(badKeys({ ADMIN_PORT: '8080' }), ['ADMIN_PORT']);
  assert.deepEqual(badKeys({ ADMIN_PORT: '0', PORT: '0' }), []);
  assert.deepEqual(badKeys({ RATE_READS_PER_S: '500' }), ['RATE_READS_BURST']);
  assert.deepEqual(badKeys({ RATE_READS_PER_S: '500', RATE_READS_BURST: '500' }), []);
});

test('a bad key is not blamed a second time by what depends on it', () => {
  assert.deepEqual(badKeys({ PORT: 'x', ADMIN_PORT: '8080' }), ['PORT']);
  assert.deepEqual(badKeys({ RATE_READS_PER_S: '500', RATE_READS_BURST: 'x' }), [
    'RATE_READS_BURST',
  ]);
});

test('a real network is followed through Ogmios, with Kupo or without', () => {
  const OGMIOS_URL = 'ws://localhost:1337';
  const KUPO_URL = 'http://localhost:1442';
  for (const NETWORK of ['mainnet', 'preprod', 'preview']) {
    good({ NETWORK, OGMIOS_URL });
    good({ NETWORK, OGMIOS_URL, KUPO_URL, KUBO_URL: 'http://localhost:5001' });
    assert.deepEqual(badKeys({ NETWORK }), ['NETWORK']);
    assert.deepEqual(badKeys({ NETWORK, KUPO_URL }), ['NETWORK']);
    good({ NETWORK, OGMIOS_URL, NATS_URL: 'nats://x:4222' });
  }
  assert.deepEqual(badKeys({ NETWORK: 'none', NATS_URL: 'nats://x:4222' }), ['NATS_URL']);
  assert.deepEqual(badKeys({ NETWORK: 'testnet' }), ['NETWORK']);
  const none = { NETWORK: 'none', OGMIOS_URL, KUPO_URL };
  assert.deepEqual(badKeys(none), ['OGMIOS_URL', 'KUPO_URL']);
  for (const NETWORK of ['devnet', 'none']) {
    assert.deepEqual(badKeys({ NETWORK, START_POINT: 'origin' }), ['START_POINT']);
    assert.deepEqual(badKeys({ NETWORK, DEPLOYMENT_FILE: 'x.json' }), ['DEPLOYMENT_FILE']);
  }
});

test('a devnet elsewhere is given with its Ogmios and its Kupo; several nodes need one', () => {
  const elsewhere = { OGMIOS_URL: 'ws://localhost:1337', KUPO_URL: 'http://localhost:1442' };
  const { OGMIOS_URL, KUPO_URL } = elsewhere;
  const NATS_URL = 'nats://x:4222';
  const DEVNET_URL = 'https://devnet.example.org';
  for (const NETWORK of [undefined, 'devnet']) {
    good({ NETWORK, ...elsewhere });
    good({ NETWORK, ...elsewhere, DEVNET_URL, NATS_URL });
    assert.deepEqual(badKeys({ NETWORK, OGMIOS_URL }), ['KUPO_URL']);
    assert.deepEqual(badKeys({ NETWORK, KUPO_URL }), ['KUPO_URL']);
    assert.deepEqual(badKeys({ NETWORK, NATS_URL }), ['NATS_URL']);
    good({ NETWORK, NATS_URL, ROLE: 'reader' });
    assert.deepEqual(badKeys({ NETWORK, DEVNET_URL }), ['DEVNET_URL']);
    const noUrl = { NETWORK, ...elsewhere, DEVNET_URL: 'localhost:1337' };
    assert.deepEqual(badKeys(noUrl), ['DEVNET_URL']);
  }
  assert.deepEqual(badKeys({ NETWORK: 'preprod', ...elsewhere, DEVNET_URL }), ['DEVNET_URL']);
});

test('a URL of the wrong kind is refused, and Kupo is not mistaken for Kubo', () => {
  const NETWORK = 'preprod';
  const OGMIOS_URL = 'wss://ogmios.example.org/path?key=1';
  const faultsOf = (some: Record<string, string>) => {
    const found = readSettings({ NETWORK, OGMIOS_URL, ...some });
    assert(found instanceof BadSettings);
    return found.faults.map(({ key, cause, remedy }) => `${key}: ${cause}. ${remedy}`);
  };
  for (const url of ['http://x:1337', 'x:1337', 'ws://', 'ws:///x', 'ws://a b']) {
    assert.deepEqual(badKeys({ NETWORK, OGMIOS_URL: url }), ['OGMIOS_URL'], url);
  }
  for (const url of ['ws://x:1442', 'localhost:1442', 'http://']) {
    assert.deepEqual(badKeys({ NETWORK, OGMIOS_URL, KUPO_URL: url }), ['KUPO_URL'], url);
  }
  const [kupo] = faultsOf({ KUPO_URL: 'http://127.0.0.1:5001/api/v0' });
  assert.match(String(kupo), /^KUPO_URL: 5001 is the port of Kubo .*KUBO_URL is meant$/);
  const [kubo] = faultsOf({ KUBO_URL: 'http://127.0.0.1:1442' });
  assert.match(String(kubo), /^KUBO_URL: 1442 is the port of Kupo .*KUPO_URL is meant$/);
});

test('the price of ADA is fixed or asked for, and a price', () => {
  const faultOf = (some: Environment) => {
    const found = readSettings(some);
    assert(found instanceof BadSettings);
    return found.faults.map(({ key, cause }) => `${key}: ${cause}`).join();
  };
  const price = { ADA_USD_URL: 'https://prices.example/ada#cardano.usd' };
  good(price);
  good({ ADA_USD: '0.4512' });
  assert.match(faultOf({ ...price, ADA_USD: '0.45' }), /^ADA_USD_URL: ADA_USD is set, too/);
  for (const ADA_USD of ['0', '-1', '1e3', '45 cents']) {
    assert.match(faultOf({ ADA_USD }), /^ADA_USD: it is no price above 0/);
  }
  assert.match(faultOf({ ADA_USD_URL: 'prices' }), /^ADA_USD_URL: it is no http/);
});

test('an explorer is an address, or none', () => {
  for (const EXPLORER_URL of ['https://explorer.example/tx/', 'none', '']) good({ EXPLORER_URL });
  const found = readSettings({ EXPLORER_URL: 'explorer.example' });
  assert(found instanceof BadSettings);
  assert.match(found.message, /EXPLORER_URL.*no http\(s\) URL/);
});

test('a block to begin after is slot and hash, or the origin', () => {
  const hash = 'Ab'.repeat(32);
  assert.deepEqual(readStart(`42.${hash}`), { slot: 42, hash: hash.toLowerCase() });
  assert.equal(readStart('origin'), null);
  const common = { NETWORK: 'mainnet', OGMIOS_URL: 'ws://x:1' };
  good({ ...common, START_POINT: `42.${hash}` });
  for (const START_POINT of ['42', hash, `42.${hash}0`, `-1.${hash}`, `4 2.${hash}`, 'tip', '.']) {
    assert.deepEqual(badKeys({ ...common, START_POINT }), ['START_POINT'], START_POINT);
  }
});

test('hosts and address ranges: only what can be listened on or compared', () => {
  for (const HOST of ['::', '0.0.0.0', 'node-1.example.org', 'a', 'localhost']) good({ HOST });
  for (const HOST of ['a b', 'http://x', '-x', 'x/8', 'a'.repeat(300), `${'a-'.repeat(120)}!`]) {
    assert.deepEqual(badKeys({ HOST }), ['HOST'], HOST);
  }
  for (const range of ['1.2.3.4/', '1.2.3.4/-1', '1.2.3.4/8/8', '1.2.3', '::/129', '1.2.3.4/3x']) {
    assert.deepEqual(badKeys({ TRUSTED_PROXIES: range }), ['TRUSTED_PROXIES'], range);
  }
});

test('an integer setting takes exactly the integers within its bounds', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer().map(String), fc.string(), fc.double().map(String)),
      (given) => {
        const wanted = given.trim();
        const fits = wanted === '' || (/^-?\d+$/.test(wanted) && +wanted >= 0 && +wanted <= 65_535);
        assert.equal(badKeys({ PORT: given }).length === 0, fits);
      },
    ),
  );
});

test('help lists every setting with type, default and description, within 100 columns', () => {
  const help = settingsHelp();
  for (const { key, description } of settingRows()) {
    assert.match(help, new RegExp(`^ {2}${key} \\(.*; default .*\\)$`, 'm'));
    assert.ok(description.endsWith('.') && help.includes(description), key);
  }
  for (const key of ['NATS_URL', 'OGMIOS_URL', 'KUPO_URL', 'ADMIN_PORT'])
    assert.ok(help.includes(key));
  assert.ok(help.split('\n').every((line) => line.length <= 100));
});
