/** What a real process says of itself when NATS, the log or its own ledger are not well. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { sealEntry } from '../../src/log/entry.ts';
import { NatsServer, openLog } from '../support/nats.ts';
import { type Scope, type Server, startServer, temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';
import { stealLease } from './thief.ts';

const LEASE_MS = 1_000;
const MARKET = 'upcurve';
const LIMIT_MS = 40_000;

interface Ready {
  readonly status: number;
  readonly synced: boolean;
  readonly stale: boolean;
  readonly role: string;
  readonly epoch: string;
}

async function ready(server: Server): Promise<Ready> {
  const response = await server.get('/health/ready');
  // trust: the fields that a schema of ours names
  const body = (await response.json()) as Omit<Ready, 'status'>;
  return { ...body, status: response.status };
}

function untilSays(server: Server, what: string, fits: (said: Ready) => boolean): Promise<Ready> {
  return untilAsked(what, () => ready(server), fits, LIMIT_MS);
}

function startNode(scope: Scope, url: string, name: string, keys: string, more = {}) {
  return startServer(scope, [], {
    NETWORK: 'devnet',
    TRADERS_PACE: '0',
    BLOCK_EVERY_MS: '250',
    LEASE_MS: String(LEASE_MS),
    DATA_DIR: temporaryDirectory(),
    KEYS_FILE: keys,
    NATS_URL: url,
    NODE_NAME: name,
    ...more,
  });
}

test('silence of NATS is told while what is served is right; then all is well', async (scope) => {
  const nats = await NatsServer.start(scope);
  const server = await startNode(scope, nats.url, 'a', join(temporaryDirectory(), 'keys.json'));
  const isWell = ({ status, stale, synced, role }: Ready) =>
    status === 200 && !stale && synced && role === 'leader';
  await untilSays(server, 'it is ready', isWell);
  await nats.kill();
  const silent = await untilSays(server, 'it says that it is old', ({ stale }) => stale);
  assert.deepEqual([silent.status, silent.synced], [200, true]);
  await nats.start();
  await untilSays(server, 'it is well again', isWell);
});

test('a node that the log does not go on from is not ready, until it leads', async (scope) => {
  const nats = await NatsServer.start(scope);
  const server = await startNode(scope, nats.url, 'a', join(temporaryDirectory(), 'keys.json'));
  const before = await untilSays(server, 'it leads', ({ role }) => role === 'leader');
  const link = await nats.connect(scope);
  const giveBack = await stealLease(scope, link, MARKET, LEASE_MS);
  await untilSays(server, 'it follows', ({ role }) => role === 'follower');
  const log = await openLog(scope, link, MARKET);
  const { seq, epoch } = await log.last();
  const { entry } = sealEntry({
    version: 3,
    epoch: epoch ?? '',
    seq: seq + 1,
    term: 9,
    prevEntryHash: 'of another state',
    timeMs: 0,
    payload: { kind: 'leader', node: 'thief' },
  });
  await link.connection.request(`${MARKET}.entry.leader`, JSON.stringify(entry));
  const diverged = await untilSays(server, 'it is not ready', ({ status }) => status === 503);
  assert.deepEqual([diverged.synced, diverged.stale], [false, true]);
  assert.equal(server.program.events('logDiverged').length, 1);
  await giveBack();
  const after = await untilSays(
    server,
    'it goes on in an epoch of its own',
    ({ status, stale, role }) => status === 200 && !stale && role === 'leader',
  );
  assert.notEqual(after.epoch, before.epoch);
});

test('a process whose ledger died ends and says so; another one leads', async (scope) => {
  const nats = await NatsServer.start(scope);
  const keys = join(temporaryDirectory(), 'keys.json');
  const preload = join(import.meta.dirname, '../support/endLedger.ts');
  const first = await startNode(scope, nats.url, 'a', keys, {
    NODE_OPTIONS: `--import ${preload}`,
  });
  await untilSays(first, 'it leads', ({ role }) => role === 'leader');
  const second = await startNode(scope, nats.url, 'b', keys);
  await untilSays(second, 'it follows', ({ status }) => status === 200);
  first.program.signal('SIGUSR2');
  assert.deepEqual(await first.program.ended(LIMIT_MS), { code: 1, signal: null });
  assert.match(first.program.text, /the embedded ledger stopped: start it again/);
  await untilSays(second, 'it leads now', ({ role, stale }) => role === 'leader' && !stale);
});
