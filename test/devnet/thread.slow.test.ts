/** The devnet in a separate thread: its start, its interfaces, and its end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import {
  type DevnetThreadOptions,
  type RunningDevnet,
  startDevnetThread,
} from '../../src/devnet/thread.ts';
import { systemRng } from '../../src/engine/runtime/rng.ts';
import { openDatabase } from '../../src/engine/store/database.ts';
import { freePorts } from '../../src/server/cli/localServers.ts';
import { startOgmios } from '../chain/ogmios/ogmiosWorld.ts';
import { devnetOptions, genesisOutputs } from '../support/devnetNode.ts';
import { payment, secretOf } from '../support/ledgerWorld.ts';
import { temporaryDirectory } from '../support/server.ts';

interface Started extends RunningDevnet {
  readonly worker: Worker;
  readonly deaths: readonly Error[];
}

function threadOptions(directory?: string): DevnetThreadOptions {
  const { file, genesis, faucetSecret, paceMs } = devnetOptions(directory);
  return { file, genesis, faucetSecret, paceMs };
}

/** Stops with the test. */
async function start(t: TestContext, options = threadOptions()): Promise<Started> {
  const created = once(process, 'worker');
  const deaths: Error[] = [];
  const running = await startDevnetThread(options, {
    died: (error) => deaths.push(error),
    stalled: () => {},
  });
  t.after(() => running.stop());
  // trust: Node tells of the thread that was created
  const [worker] = (await created) as [Worker];
  return { ...running, worker, deaths };
}

async function json(url: string, body?: object): Promise<unknown> {
  const response = await fetch(
    url,
    body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) },
  );
  assert.equal(response.status, 200);
  return response.json();
}

function ask({ devnetUrl }: Started, method: string, params: object = {}): Promise<unknown> {
  return json(devnetUrl, { jsonrpc: '2.0', method, params });
}

function mine({ devnetUrl }: Started, blocks: number): Promise<unknown> {
  return json(`${devnetUrl}/devnet/v1/mine`, { blocks });
}

async function tip(devnet: Started): Promise<unknown> {
  // trust: what Ogmios answers
  return ((await ask(devnet, 'queryNetwork/tip')) as { result: unknown }).result;
}

function somePayment() {
  const [source] = genesisOutputs();
  assert.ok(source);
  return payment(source, 'alice', 'bob', 5_000_000n);
}

async function submit(devnet: Started, { id, bytes }: ReturnType<typeof somePayment>) {
  const transaction = { cbor: Buffer.from(bytes).toString('hex') };
  // trust: what Ogmios answers
  const answer = (await ask(devnet, 'submitTransaction', { transaction })) as { result: unknown };
  assert.deepEqual(answer.result, { transaction: { id } });
}

async function matches({ kupoUrl }: Started, pattern: string): Promise<number> {
  // trust: what Kupo answers
  return ((await json(`${kupoUrl}/matches/${pattern}`)) as unknown[]).length;
}

test('serves Ogmios and Kupo, and reports how they are', async (t) => {
  const devnet = await start(t);
  await mine(devnet, 3);
  // trust: what the two answer
  const ogmios = (await json(`${devnet.devnetUrl}/health`)) as Record<string, unknown>;
  const { network, connectionStatus, networkSynchronization, currentEra } = ogmios;
  assert.deepEqual(
    [network, connectionStatus, networkSynchronization, currentEra],
    ['unknown (42)', 'connected', 1, 'conway'],
  );
  // trust: as above
  const kupo = (await json(`${devnet.kupoUrl}/health`)) as Record<string, unknown>;
  assert.equal(kupo.connection_status, 'connected');
});

test('our own reader of Ogmios follows its blocks at their pace', async (t) => {
  const devnet = await start(t, { ...threadOptions(), paceMs: 50 });
  const chain = await startOgmios(t, devnet.ogmiosUrl);
  assert.equal(chain.slots().slotLengthMs, 50);
  const { id, bytes } = somePayment();
  assert.deepEqual(await chain.submit(bytes), { outcome: 'accepted', txHash: id });
  const stream = await chain.open([]);
  for (let event = await stream?.next(); event !== undefined; event = await stream?.next()) {
    assert.notEqual(event, null, 'the stream ends only with the chain');
    if (event?.kind !== 'forward') continue;
    if (event.block.transactions.some((tx) => tx.id === id)) break;
  }
  await stream?.close();
});

test('a stop frees ports and file; the next start continues the same chain', async (t) => {
  const [ogmiosPort = 0, kupoPort = 0] = await freePorts(2, systemRng);
  const options = { ...threadOptions(), ogmiosPort, kupoPort };
  const first = await start(t, options);
  await submit(first, somePayment());
  await mine(first, 2);
  const before = await tip(first);
  await first.stop();
  await first.stop();
  assert.deepEqual(first.deaths, []);
  const second = await start(t, options);
  assert.deepEqual([second.ogmiosUrl, second.kupoUrl], [first.ogmiosUrl, first.kupoUrl]);
  assert.deepEqual(await tip(second), before);
});

for (const [how, kill] of [
  ['a fault in it', (worker: Worker) => worker.postMessage('no such command')],
  ['its end from outside', (worker: Worker) => void worker.terminate()],
] as const) {
  test(`${how} is reported once; what was acknowledged survives`, async (t) => {
    const directory = temporaryDirectory();
    const first = await start(t, threadOptions(directory));
    const paid = somePayment();
    await submit(first, paid);
    const exited = new Promise((resolve) => first.worker.once('exit', resolve));
    kill(first.worker);
    await exited;
    assert.equal(first.deaths.length, 1);
    await first.stop();
    await assert.rejects(fetch(`${first.devnetUrl}/health`), 'its port is closed');
    const second = await start(t, threadOptions(directory));
    await mine(second, 1);
    assert.equal(await matches(second, `*@${paid.id}`), 2);
    assert.equal(first.deaths.length, 1);
  });
}

test('a start that cannot be says why and what to do', async (t) => {
  const directory = temporaryDirectory();
  const options = threadOptions(directory);
  const running = await start(t, { ...options, paceMs: 100 });
  const refused = async (change: Partial<DevnetThreadOptions>, why: RegExp) => {
    const deaths: Error[] = [];
    const events = { died: (error: Error) => deaths.push(error), stalled: () => {} };
    await assert.rejects(startDevnetThread({ ...options, ...change }, events), why);
    assert.deepEqual(deaths, [], 'what did not start does not die');
  };
  const file = threadOptions(temporaryDirectory()).file;
  const ogmiosPort = Number(new URL(running.ogmiosUrl).port);
  const kupoPort = Number(new URL(running.kupoUrl).port);
  await refused({ file, ogmiosPort }, /Ogmios cannot listen on .*another program uses it/);
  await refused({ file, kupoPort }, /Kupo cannot listen on .*another program uses it/);
  await refused({}, /in use by another upcurve process/);
  await running.stop();
  await refused({ paceMs: 200 }, /every 100 ms, not every 200 ms.*use that pace/);
  await refused({ faucetSecret: secretOf('other') }, /another faucet key.*put that key back/);
  const genesis = options.genesis.slice(1);
  await refused({ genesis }, /another genesis: continue it with .*or move it away/);
  const database = openDatabase(options.file, { synchronous: 'FULL', maxMb: 0 });
  database.pragma('user_version = 1');
  database.close();
  await refused({}, /of version 1, this program reads \d+: move it away/);
});
