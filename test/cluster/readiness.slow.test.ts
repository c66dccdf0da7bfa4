/** The readiness of a real process when NATS or the log fail. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sealEntry } from '../../src/engine/log/entry.ts';
import { NatsServer, openLog, PATIENT_MS } from '../support/nats.ts';
import { NatsProxy, nothingToRead } from '../support/natsProxy.ts';
import { type Server, startServer, temporaryDirectory } from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';
import { startSharedDevnet } from './sharedDevnet.ts';
import { occupyLease } from './takenLease.ts';

/** `occupyLease` renews it every fifth of it. */
const LEASE_MS = 2_500;
const MARKET = 'upcurve';
const LIMIT_MS = 60_000;
const PATIENT = { timeout: PATIENT_MS };

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
const { env: chain } = await startSharedDevnet({ after }, 250);
/** All tests use this node, one after the other. */
const server = await startNode('a');

function startNode(name: string, more = {}): Promise<Server> {
  return startServer({ after }, [], {
    ...chain,
    TRADERS_PACE: '0',
    LEASE_MS: String(LEASE_MS),
    STALE_AFTER_MS: '4000',
    DATA_DIR: temporaryDirectory(),
    NATS_URL: nats.url,
    NODE_NAME: name,
    ...more,
  });
}

function leadsWell({ status, stale, synced, role }: Ready): boolean {
  return status === 200 && !stale && synced && role === 'leader';
}

test('readiness reports that NATS is silent while reads stay correct; then recovers', async () => {
  await untilSays(server, 'it is ready', leadsWell);
  await nats.kill();
  const silent = await untilSays(server, 'it says that it is old', ({ stale }) => stale);
  assert.deepEqual([silent.status, silent.synced], [200, true]);
  await nats.start();
  await untilSays(server, 'it is well again', leadsWell);
});

test('a node whose state the log does not continue is not ready, until it leads', async (scope) => {
  const before = await untilSays(server, 'it leads', leadsWell);
  const link = await nats.connect(scope);
  const giveBack = await occupyLease(scope, link, MARKET, LEASE_MS);
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
    payload: { kind: 'leader', node: 'other' },
  });
  await link.connection.request(`${MARKET}.entry.leader`, JSON.stringify(entry), PATIENT);
  const diverged = await untilSays(server, 'it is not ready', ({ status }) => status === 503);
  assert.deepEqual([diverged.synced, diverged.stale], [false, true]);
  await until('it has said so', () => server.program.events('logDiverged').length > 0, LIMIT_MS);
  assert.equal(server.program.events('logDiverged').length, 1);
  await giveBack();
  const after = await untilSays(
    server,
    'it continues in a new epoch',
    ({ status, stale, role }) => status === 200 && !stale && role === 'leader',
  );
  assert.notEqual(after.epoch, before.epoch);
});

test('a message that is no entry is reported, and costs an epoch', async (scope) => {
  const link = await nats.connect(scope);
  const log = await openLog(scope, link, MARKET);
  const noEntry = async () => 'no entry';
  const copy = async () => (await log.read((await log.last()).seq, 1))[0]?.text ?? '';
  for (const textOf of [noEntry, copy]) {
    const before = await untilSays(server, 'it leads', leadsWell);
    const text = await textOf();
    const taken = await link.connection.request(`${MARKET}.entry.time`, text, PATIENT);
    const seq = Number(/"seq": *(\d+)/.exec(taken.string())?.[1]);
    const isNew = (said: Ready) => leadsWell(said) && said.epoch !== before.epoch;
    await untilSays(server, 'it continues in another epoch', isNew);
    const why = `message ${seq} of the stream `;
    const reason = () => String(server.program.events('logDiverged').at(-1)?.reason);
    await until('it has said why', () => reason().startsWith(why));
  }
});

test('a node that can read no entry of the log reports that, and ends', async (scope) => {
  const proxy = await NatsProxy.start(scope, nats.port);
  const more = { NATS_URL: proxy.url, STALE_AFTER_MS: '1000' };
  const stuck = await startNode('b', { ...more, STALE_MAX_MS: '8000' });
  await untilSays(stuck, 'it follows', ({ status, stale }) => status === 200 && !stale);
  let [requests, looks] = [0, 0];
  proxy.heard = (text) => {
    requests += text.split('PUB $JS.API.').length - 1;
    looks += text.split(`PUB $KV.${MARKET}-nodes.node.b `).length - 1;
  };
  proxy.rewrite = nothingToRead(MARKET);
  proxy.cut();
  await untilSays(stuck, 'it says that it is old', ({ stale }) => stale);
  await untilSays(stuck, 'it is not ready', ({ status }) => status === 503);
  assert.deepEqual(await stuck.program.ended(LIMIT_MS), { code: 1, signal: null });
  assert.match(stuck.program.text, /made no progress .*entries of the log are not applied/);
  assert.ok(requests < 40 * looks, `${requests} requests, ${looks} looks`);
});
