/** What a real process says of itself when NATS, the log or its own ledger are not well. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { sealEntry } from '../../src/engine/log/entry.ts';
import { NatsServer, openLog } from '../support/nats.ts';
import { type Server, startServer, temporaryDirectory } from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';
import { stealLease } from './thief.ts';

/** A thief renews it every fifth of it. */
const LEASE_MS = 2_500;
const MARKET = 'upcurve';
const LIMIT_MS = 60_000;

interface Ready {
  readonly status: number;
  readonly synced: boolean;
  readonly stale: boolean;
  readonly role: string;
  readonly epoch: string;
  readonly seq: number;
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

const nats = await NatsServer.start({ after });
const keys = join(temporaryDirectory(), 'keys.json');
const preload = join(import.meta.dirname, '../support/endLedger.ts');
/** Of all tests, one after the other; the last one ends it. */
const server = await startNode('a', { NODE_OPTIONS: `--import ${preload}` });

function startNode(name: string, more = {}): Promise<Server> {
  return startServer({ after }, [], {
    NETWORK: 'devnet',
    TRADERS_PACE: '0',
    BLOCK_EVERY_MS: '250',
    LEASE_MS: String(LEASE_MS),
    DATA_DIR: temporaryDirectory(),
    KEYS_FILE: keys,
    NATS_URL: nats.url,
    NODE_NAME: name,
    ...more,
  });
}

function leadsWell({ status, stale, synced, role }: Ready): boolean {
  return status === 200 && !stale && synced && role === 'leader';
}

test('silence of NATS is told while what is served is right; then all is well', async () => {
  await untilSays(server, 'it is ready', leadsWell);
  await nats.kill();
  const silent = await untilSays(server, 'it says that it is old', ({ stale }) => stale);
  assert.deepEqual([silent.status, silent.synced], [200, true]);
  await nats.start();
  await untilSays(server, 'it is well again', leadsWell);
});

test('a node that the log does not go on from is not ready, until it leads', async (scope) => {
  const before = await untilSays(server, 'it leads', leadsWell);
  const link = await nats.connect(scope);
  const giveBack = await stealLease(scope, link, MARKET, LEASE_MS);
  await untilSays(server, 'it follows', ({ role }) => role === 'follower');
  const log = await openLog(scope, link, MARKET);
  const tail = async () => ({ ...(await log.last()), applied: (await ready(server)).seq });
  const { seq, epoch } = await untilAsked(
    'all that it wrote is there',
    tail,
    (end) => end.seq === end.applied,
    LIMIT_MS,
  );
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
  await until('it has said so', () => server.program.events('logDiverged').length > 0, LIMIT_MS);
  assert.equal(server.program.events('logDiverged').length, 1);
  await giveBack();
  const after = await untilSays(
    server,
    'it goes on in an epoch of its own',
    ({ status, stale, role }) => status === 200 && !stale && role === 'leader',
  );
  assert.notEqual(after.epoch, before.epoch);
});

test('a process whose ledger died ends and says so; another one leads', async () => {
  await untilSays(server, 'it leads', leadsWell);
  const second = await startNode('b');
  await untilSays(second, 'it follows', ({ status }) => status === 200);
  server.program.signal('SIGUSR2');
  assert.deepEqual(await server.program.ended(LIMIT_MS), { code: 1, signal: null });
  assert.match(server.program.text, /the embedded ledger stopped: start it again/);
  await untilSays(second, 'it leads now', ({ role, stale }) => role === 'leader' && !stale);
});
