/** A start that waits for NATS or for other nodes, and can be stopped. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, test } from 'node:test';
import type { SealedEntry } from '../../src/engine/log/entry.ts';
import { nextEntry } from '../support/chain.ts';
import { NatsServer, openLog } from '../support/nats.ts';
import { NatsProxy } from '../support/natsProxy.ts';
import { Program, type Scope, temporaryDirectory } from '../support/server.ts';
import { until } from '../support/until.ts';
import { startSharedDevnet } from './sharedDevnet.ts';
import { occupyLease } from './takenLease.ts';

/** `occupyLease` renews it every fifth of it. */
const LEASE_MS = 4_000;
const MARKET = 'upcurve';
const LIMIT_MS = 40_000;

const { env: chain } = await startSharedDevnet({ after }, 1_000);

function startNode(scope: Scope, url: string): Program {
  const program = new Program([], {
    ...chain,
    TRADERS_PACE: '0',
    LEASE_MS: String(LEASE_MS),
    DATA_DIR: temporaryDirectory(),
    NATS_URL: url,
    NODE_NAME: 'waiting',
  });
  scope.after(() => program.kill());
  return program;
}

async function givesUp(program: Program): Promise<void> {
  program.signal('SIGTERM');
  assert.deepEqual(await program.ended(LIMIT_MS), { code: 0, signal: null });
  assert.equal(program.text, '', 'it has nothing to complain about');
}

/** Resolves once the program has sent a request with `words` through the proxy. */
function asked(proxy: NatsProxy, words: string): () => Promise<void> {
  let count = 0;
  proxy.heard = (text) => {
    if (text.includes(words)) count += 1;
  };
  return () => until(`it asks for ${words}`, () => count > 1, LIMIT_MS);
}

test('a start can be stopped while a server is silent', async (scope) => {
  const silent = createServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  scope.after(() => silent.close());
  const address = silent.address();
  assert.ok(address !== null && typeof address === 'object');
  const connected = once(silent, 'connection');
  const program = startNode(scope, `nats://127.0.0.1:${address.port}`);
  const [socket] = await connected;
  scope.after(() => socket.destroy());
  await givesUp(program);
});

test('a start waits for NATS that went away meanwhile, and continues', async (scope) => {
  const nats = await NatsServer.start(scope);
  const proxy = await NatsProxy.start(scope, nats.port);
  const giveBack = await occupyLease(scope, await nats.connect(scope), MARKET, LEASE_MS);
  const isWaiting = asked(proxy, `$KV.${MARKET}-nodes.leader`);
  const program = startNode(scope, proxy.url);
  await isWaiting();
  await nats.kill();
  const says = () => program.events('natsWaits').length > 0 || program.exit !== null;
  await until('it says that it waits', says, LIMIT_MS);
  assert.equal(program.exit, null, program.text);
  await nats.start();
  await giveBack();
  const listens = () => program.events('listening').length > 0 || program.exit !== null;
  await until('it has started', listens, LIMIT_MS);
  assert.equal(program.exit, null, program.text);
  await givesUp(program);
});

test('a start that waits for NATS can be stopped', async (scope) => {
  const nats = await NatsServer.start(scope);
  const proxy = await NatsProxy.start(scope, nats.port);
  await occupyLease(scope, await nats.connect(scope), MARKET, LEASE_MS);
  const isWaiting = asked(proxy, `$KV.${MARKET}-nodes.leader`);
  const program = startNode(scope, proxy.url);
  await isWaiting();
  await nats.kill();
  await until('it says that it waits', () => program.events('natsWaits').length > 0, LIMIT_MS);
  await givesUp(program);
});

/** The content of the log, and the request that a starting node then repeats. */
const WAITS: Readonly<Record<string, { log: readonly SealedEntry[]; asks: string }>> = {
  'the first entry': { log: [], asks: `$KV.${MARKET}-nodes.leader` },
  'the state that an epoch begins from': {
    log: [
      nextEntry({ seq: 9, hash: '', epoch: '2-lost' }, 0, {
        kind: 'epoch',
        reason: 'log lost',
        base: { seq: 9, stateHash: 'aa' },
      }),
    ],
    asks: `$O.${MARKET}-files.M`,
  },
};

for (const [what, { log: entries, asks }] of Object.entries(WAITS)) {
  test(`a start that waits for ${what} can be stopped`, async (scope) => {
    const nats = await NatsServer.start(scope);
    const proxy = await NatsProxy.start(scope, nats.port);
    const link = await nats.connect(scope);
    await occupyLease(scope, link, MARKET, LEASE_MS);
    const log = await openLog(scope, link, MARKET);
    for (const sealed of entries) await log.restart(sealed);
    const isWaiting = asked(proxy, asks);
    const program = startNode(scope, proxy.url);
    await isWaiting();
    await givesUp(program);
  });
}
