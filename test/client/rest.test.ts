/** Calls over HTTP: answers, errors, paths and types. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, type TestContext, test } from 'node:test';
import {
  ApiError,
  Client,
  Key,
  newSecret,
  systemPlatform,
  transactionId,
} from '../../src/client/index.ts';
import { KeyWallet } from '../../src/client/trade/wallet.ts';
import { pythonFiles } from '../clients/pythonModels.ts';
import { startDevnet } from '../support/devnet.ts';
import { untilAsked } from '../support/until.ts';
import { rawHttpServer } from './rawServer.ts';
import { coveredRoutes, documentsOf, wireFiles } from './wireTypes.ts';

const NOWHERE = 'http://127.0.0.1:9';
const UNKNOWN = `${'00'.repeat(28)}.00`;
const ASSET = `${'ab'.repeat(28)}.00`;
const WIRE = new URL('../../src/client/wire/', import.meta.url);
const PYTHON_WIRE = new URL('../../clients/python/src/upcurve/wire/', import.meta.url);

const url = await startDevnet({ after });
// A server listens before it has read its chain.
await untilAsked(
  'it is ready',
  () => fetch(`${url}/health/ready`),
  ({ status }) => status === 200,
);

function clientOf(t: TestContext, nodes: string | readonly string[], timeoutMs?: number): Client {
  const client = new Client({ url: nodes, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  t.after(() => client.close());
  return client;
}

async function failure(run: Promise<unknown>): Promise<ApiError> {
  try {
    await run;
  } catch (error) {
    assert(error instanceof ApiError, String(error));
    return error;
  }
  return assert.fail('it was refused');
}

test('answers carry their position, errors what the API says', async (t) => {
  const client = clientOf(t, url);
  const { data, position, slot } = await client.pools.list('New');
  assert.deepEqual(data, []);
  assert(position !== null && position.seq > 0 && slot !== null && slot >= 0);
  assert.equal((await client.server.time()).position, null);
  assert.equal((await client.server.ready()).data.synced, true);
  const missing = await failure(client.pools.one(UNKNOWN));
  assert.deepEqual(
    [missing.name, missing.cause, missing.status],
    ['ApiError', 'ASSET_NOT_FOUND', 404],
  );
  assert.match(missing.message, /^No token 0000/);
  const wrong = await failure(client.utxos.list({ pkh: 'nonsense' }));
  assert.deepEqual(
    [wrong.cause, wrong.status, wrong.details[0]?.path],
    ['INVALID_PARAMS', 400, 'body.pkh'],
  );
  const ahead = { ...position, seq: position.seq + 1_000_000 };
  const late = await failure(client.pools.list('New', { minPosition: ahead }));
  assert.deepEqual([late.cause, late.status, late.isPassing], ['NOT_READY', 503, true]);
  assert(late.retryAfterSeconds !== null && late.retryAfterSeconds > 0);
  const garbage = await failure(client.submit.transaction({ cbor: '80' }));
  assert.deepEqual([garbage.cause, garbage.reason], ['SERVER_ERROR', 'MALFORMED']);
  const ending = new AbortController();
  ending.abort();
  assert.equal((await failure(client.pools.top({ signal: ending.signal }))).cause, 'STOPPED');
});

test('a node that cannot be reached, or does not answer, is left for the next', async (t) => {
  const client = clientOf(t, [NOWHERE, url]);
  assert.equal((await client.server.ready()).data.synced, true);
  assert.equal((await failure(clientOf(t, NOWHERE).server.time())).cause, 'UNREACHABLE');
  const silent = await rawHttpServer(t, () => {});
  assert.equal((await failure(clientOf(t, silent, 200).server.time())).cause, 'TIMEOUT');
  assert.equal((await clientOf(t, [silent, url], 4_000).server.ready()).data.synced, true);
  const strange = await rawHttpServer(t, (socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi');
  });
  assert.equal((await failure(clientOf(t, strange).server.time())).cause, 'BAD_ANSWER');
  assert.throws(() => new Client({ url: [] }), TypeError);
  assert.throws(() => new Client({ url: 'ftp://example.org' }), TypeError);
});

test('what may have happened already is not done twice', async (t) => {
  let asked = 0;
  const broken = await rawHttpServer(t, (socket) => {
    asked += 1;
    socket.destroy();
  });
  const client = clientOf(t, [broken, broken]);
  const address = new Key(newSecret()).address('testnet');
  assert.equal((await failure(client.devnet.faucet({ address }))).cause, 'UNREACHABLE');
  assert.equal(asked, 1);
  await failure(client.utxos.list({ pkh: '00'.repeat(28) }));
  assert.equal(asked, 3, 'a question goes to each node once');
});

test('keys, addresses and witnesses are those of the server', () => {
  const secret = newSecret();
  const [key, stake, known] = [new Key(secret), new Key(newSecret()), new Key(secret)];
  assert.deepEqual([key.publicKey, key.hash], [known.publicKey, known.hash]);
  for (const network of ['mainnet', 'testnet'] as const) {
    const wallet = new KeyWallet({ payment: secret, stake: null }, network);
    assert.equal(key.address(network), wallet.address);
  }
  assert.match(key.address('testnet', stake.hash), /^addr_test1q/);
  const message = new TextEncoder().encode('some text');
  assert.deepEqual(Buffer.from(key.sign(message)), Buffer.from(known.sign(message)));
  // The transaction's body is a single byte string, followed by the other parts of a transaction.
  const transaction = '8442beefa0f5f6';
  const id = transactionId(transaction);
  assert.match(id, /^[0-9a-f]{64}$/);
  const signature = Buffer.from(known.sign(Buffer.from(id, 'hex'))).toString('hex');
  assert.equal(key.witness(transaction), `a10081825820${known.publicKey}5840${signature}`);
  for (const bad of ['', 'ab', 'z'.repeat(64)]) assert.throws(() => new Key(bad), TypeError);
  assert.throws(() => key.witness('00'));
  assert(systemPlatform.chance.unit() < 1);
});

test('types of the wire are those of the schemas, and each route has its method', async () => {
  const [openapi, asyncapi] = await documentsOf(url);
  const help = 'run `node scripts/writeWireTypes.ts`';
  for (const [folder, files] of [
    [WIRE, wireFiles(openapi, asyncapi)],
    [PYTHON_WIRE, pythonFiles(openapi, asyncapi)],
  ] as const) {
    const written = readdirSync(folder).filter((name) => !name.startsWith('__'));
    assert.deepEqual(written.sort(), files.map(({ name }) => name).sort(), help);
    for (const { name, text } of files) {
      assert.equal(readFileSync(new URL(name, folder), 'utf8'), text, `${name}: ${help}`);
    }
  }
  const routes = [...coveredRoutes(openapi).values()];
  assert.deepEqual((await calledRoutes()).sort(), routes.sort());
});

/** `<method> <path>` of every method, with path parameters by name. */
async function calledRoutes(): Promise<string[]> {
  const called = new Set<string>();
  const client = new Client({
    url: 'http://127.0.0.1:1',
    fetch: async (url, { method }) => {
      const { pathname } = new URL(url);
      const name = pathname.includes('/webhooks/') ? 'id' : 'assetId';
      const path = pathname.replace(`/${encodeURIComponent(ASSET)}`, `/{${name}}`);
      called.add(`${method?.toLowerCase()} ${path}`);
      return new Response('null');
    },
  });
  for (const group of Object.values(client)) {
    const isGroup = typeof group === 'object' || typeof group === 'function';
    if (group === client.connection || !isGroup) continue;
    for (const [name, method] of Object.entries(group as object)) {
      const input = name === 'launch' ? { image: new Blob([]) } : ASSET;
      // trust: groups hold methods only; the arguments do not matter here
      await (method as (...input: unknown[]) => Promise<unknown>)(input, {}, {});
    }
  }
  client.close();
  return [...called];
}
