/**
 * A reader in this process and, in a separate process that can be killed, one node that can lead:
 * the reader's own answers, the requests that it forwards, and its answers when it is alone.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, test } from 'node:test';
import { Client } from '../../src/client/index.ts';
import { readTraderConfig } from '../../src/traders/config.ts';
import { png } from '../api/images/samples.ts';
import { Person } from '../client/person.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { NatsServer } from '../support/nats.ts';
import { type Server, startServer, temporaryDirectory } from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';
import { startSharedDevnet } from './sharedDevnet.ts';

const LIMIT_MS = 60_000;
const ADA = 1_000_000;
/** Longer than one message between nodes may be. */
const LARGE_BYTES = 3 * 1_048_576;
const EMPTY_WALLET = 'ab'.repeat(28);

const nats = await NatsServer.start({ after });
const { env: chain } = await startSharedDevnet({ after }, 200);
const builderDirectory = temporaryDirectory();
const readerDirectory = temporaryDirectory();
/** Long enough that the only node that can lead keeps the lead on a busy machine. */
const common = { NATS_URL: nats.url, LEASE_MS: '3000' };

/** Settings that a reader does not need, and is not given. */
function startReader(directory = readerDirectory): Promise<TestApp> {
  const env = { ...common, ROLE: 'reader', NODE_NAME: 'reader', KEYS_FILE: '/nowhere/keys.json' };
  const devnet = { traders: readTraderConfig(), pace: 1, seed: 1 };
  return startTestApp({ after }, { directory, env, devnet });
}

function startBuilder(): Promise<Server> {
  return startServer({ after }, [], {
    ...common,
    ...chain,
    TRADERS_PACE: '0',
    DATA_DIR: builderDirectory,
    NODE_NAME: 'builder',
  });
}

interface Ready {
  readonly status: number;
  readonly role: string;
  readonly leader: string | null;
  readonly stale: boolean;
  readonly synced: boolean;
  readonly seq: number;
  readonly stateHash: string;
}

async function readyAt(url: string): Promise<Ready> {
  const answer = await fetch(`${url}/health/ready`);
  // trust: the fields that a schema of ours names
  return { ...((await answer.json()) as Omit<Ready, 'status'>), status: answer.status };
}

async function posted(url: string, path: string, body: unknown) {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(url + path, init);
  const retryAfter = answer.headers.get('retry-after');
  const found: unknown = await answer.json();
  return { status: answer.status, retryAfter, body: found };
}

function utxosAt(url: string) {
  return posted(url, '/getUtxos', { pkh: EMPTY_WALLET });
}

// The reader is first: there is no market yet, and it begins none.
const starting = startReader();
let builder = await startBuilder();
const reader = await starting;
/** A reader that is behind for a moment on a busy machine says NOT_READY: asked again. */
const patient = { url: reader.url, maxAttempts: 8 };
const client = new Client(patient);
after(() => client.close());

test('a reader serves reads and sockets, and has orders built, submitted and filled', async () => {
  const isReady = ({ status, leader, stale }: Ready) =>
    status === 200 && leader === 'builder' && !stale;
  const leads = ({ status, role }: Ready) => status === 200 && role === 'leader';
  await untilAsked('the other one leads', () => readyAt(builder.url), leads, LIMIT_MS);
  const ready = await untilAsked('it is ready', () => readyAt(reader.url), isReady, LIMIT_MS);
  assert.equal(ready.role, 'reader');
  const answered = async () => (await utxosAt(reader.url)).status;
  await untilAsked('the other one works for it', answered, (status) => status === 200, LIMIT_MS);
  const person = new Person(client);
  await person.fund(500, 4, async () => {});
  const token = await person.launch('Read me');
  const isKnown = async () => (await fetch(`${reader.url}/v1/pools/${token}`)).status;
  await untilAsked('the pool is known here', isKnown, (status) => status !== 503, LIMIT_MS);
  const trades = client.trades(token);
  await until('the launch was a trade', () => trades.state.trades.length === 1, LIMIT_MS);
  const order = { assetId: token, side: 'BUY', amount: String(30 * ADA), slippage: '50' } as const;
  const id = await person.order(order);
  // The answer came once this node had it: the next read shows it.
  const { data } = await client.orders.ofKeys([person.key.hash]);
  assert.ok(JSON.stringify(data).includes(id), `no ${id} in ${JSON.stringify(data)}`);
  await until('the order is filled', () => trades.state.trades.length === 2, LIMIT_MS);
  await untilAsked(
    'both have the same state at the same position',
    () => Promise.all([readyAt(reader.url), readyAt(builder.url)]),
    ([ours, theirs]) => ours.seq === theirs.seq && ours.stateHash === theirs.stateHash,
    LIMIT_MS,
  );
  const files = readdirSync(readerDirectory);
  assert.ok(!files.some((name) => /keys|ledger|genesis/.test(name)), files.join(' '));
});

test('a reader repeats a build under its Idempotency-Key, as the other node says', async () => {
  const client = new Client(patient);
  const person = new Person(client);
  await person.fund(50, 1, async () => {});
  const { data: top } = await client.pools.top();
  const body = {
    assetId: top.info.asset,
    side: 'BUY',
    amount: String(5 * ADA),
    slippage: '15',
    changeAddress: person.address,
  } as const;
  const build = async (idempotencyKey: string) =>
    (await client.build.order(body, { idempotencyKey })).data;
  const first = await build('a');
  assert.deepEqual(await build('a'), first);
  const other = await build('b');
  await person.send(first.cbor);
  assert.deepEqual(await build('a'), first, 'its inputs were spent by it');
  await untilAsked(
    'its inputs were spent by another one',
    () => build('b'),
    ({ cbor }) => cbor !== other.cbor,
  );
  client.close();
});

test('a launch with a large logo is forwarded, and the reader serves the logo', async () => {
  const person = new Person(client);
  await person.fund(500, 2, async () => {});
  const picture = png(64, 64, Buffer.alloc(LARGE_BYTES, 'x'));
  const { data } = await client.build.launch({
    image: new Blob([picture], { type: 'image/png' }),
    name: 'Large',
    ticker: 'LARGE',
    description: '',
    assetType: 'Meme',
    changeAddress: person.address,
  });
  const served = await fetch(`${reader.url}/ipfs/${data.logoCID}`);
  assert.ok(picture.equals(Buffer.from(await served.arrayBuffer())));
});

test('a refusal of the other node is answered unchanged', async () => {
  const routes = [
    ['/submit', { cbor: '84a0' }],
    ['/sign', { cbor: '84a0', witness: 'a0', changeAddress: 'addr_test1' }],
    [
      '/order',
      {
        assetId: `${'0c'.repeat(28)}.`,
        side: 'BUY',
        amount: '1',
        slippage: '15',
        changeAddress: '',
      },
    ],
    ['/withdraw', { id: `${'0'.repeat(64)}:0`, address: new Person(client).address }],
    ['/devnet/v1/faucet', { address: 'invalid' }],
    ['/getUtxos', { pkh: 'zz' }],
  ] as const;
  for (const [path, body] of routes) {
    const ours = await posted(reader.url, path, body);
    assert.deepEqual(ours, await posted(builder.url, path, body), path);
    assert.ok(ours.status >= 400 && ours.status !== 415, `${path}: ${ours.status}`);
  }
  for (const path of ['/parameters', '/snekfun-front/protocol-config.json']) {
    const texts = [reader.url, builder.url].map(async (url) => (await fetch(url + path)).text());
    assert.equal(await texts[0], await texts[1], path);
  }
});

test('a reader alone serves reads and reports that no node leads; then it recovers', async () => {
  await builder.program.kill();
  const refused = await utxosAt(reader.url);
  assert.deepEqual([refused.status, refused.retryAfter], [503, '1']);
  assert.match(JSON.stringify(refused.body), /"cause":"NOT_READY"/);
  const isLeaderless = ({ leader, stale }: Ready) => leader === null && stale;
  const ready = () => readyAt(reader.url);
  const alone = await untilAsked('it says so', ready, isLeaderless, LIMIT_MS);
  assert.deepEqual([alone.status, alone.role, alone.synced], [200, 'reader', true]);
  const list = await fetch(`${reader.url}/v1/pools-main-page/initial/state?filter=Latest`);
  assert.equal(list.status, 200);
  builder = await startBuilder();
  await untilAsked(
    'it is well again',
    ready,
    ({ leader, stale }) => leader === 'builder' && !stale,
  );
  const answered = async () => (await utxosAt(reader.url)).status;
  await untilAsked('it works again', answered, (status) => status === 200, LIMIT_MS);
});

test('readers alone serve a market, which does not change', async (scope) => {
  await builder.stop();
  await reader.stop();
  const again = await startReader();
  scope.after(() => again.stop());
  const ready = () => readyAt(again.url);
  const said = await untilAsked('no node leads', ready, ({ leader, stale }) => {
    return leader === null && stale;
  });
  assert.deepEqual([said.role, said.status, said.seq > 0], ['reader', 200, true]);
  const later = await untilAsked('a lease later', ready, () => true);
  assert.equal(later.seq, said.seq);
});
