/** The default installation on a full disk: the devnet of the server cannot write its ledger. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toHex } from '../../src/cardano/codec/hex.ts';
import { coins } from '../../src/cardano/codec/value.ts';
import { png } from '../api/images/samples.ts';
import { fillDisk } from '../support/fullDisk.ts';
import { keyNamed } from '../support/ledgerWorld.ts';
import { rawTransaction } from '../support/rawTransaction.ts';
import type { Scope } from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';
import { DevnetWorld, launchOf } from './devnet/world.ts';

const FEE = 200_000n;

interface Readiness {
  readonly degraded: boolean;
  readonly reasons: readonly { readonly code: string; readonly message: string }[];
}

/**
 * The bytes of a payment of `alice` to herself; gives her an output first.
 */
async function paymentOf(world: DevnetWorld): Promise<string> {
  const trader = await world.funded('alice', 100);
  const [source] = await trader.utxos();
  assert(source !== undefined);
  const { ref, address, value } = source;
  const outputs = [{ address, value: coins(value.lovelace - FEE) }];
  const plan = { inputs: [ref], outputs, feeLovelace: FEE, keys: [keyNamed('alice')] };
  return toHex(rawTransaction(plan).bytes);
}

function readiness(world: DevnetWorld): Promise<Readiness> {
  // trust: the fields that a schema of ours names
  return fetch(`${world.url}/health/ready`).then((it) => it.json() as Promise<Readiness>);
}

async function submit(world: DevnetWorld, cbor: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${world.url}/submit`, { method: 'POST', headers, body: JSON.stringify({ cbor }) });
}

async function assertNotNow(response: Response): Promise<void> {
  const { cause } = JSON.parse(await response.text());
  assert.deepEqual([response.status, cause], [503, 'NOT_READY']);
  assert(Number(response.headers.get('retry-after')) > 0);
}

function full(scope: Scope): () => void {
  const makeRoom = fillDisk();
  scope.after(makeRoom);
  return makeRoom;
}

const untilOver = (world: DevnetWorld) =>
  untilAsked(
    'nothing is wrong',
    () => readiness(world),
    ({ degraded }) => !degraded,
  );

test('blocks on demand: the first submission finds out, all wait for room', async (scope) => {
  const world = await DevnetWorld.start(scope);
  const cbor = await paymentOf(world);
  const before = await readiness(world);
  assert.deepEqual(before.reasons, []);
  const makeRoom = full(scope);
  await assertNotNow(await submit(world, cbor));
  const { degraded, reasons } = await readiness(world);
  // The state of the server lies on the same disk, and may have been committed meanwhile.
  const devnet = reasons.find(({ code }) => code === 'DEVNET_NOT_WRITTEN');
  assert.equal(degraded, true);
  assert.match(devnet?.message ?? '', /chain\.sqlite.*SQLITE_IOERR.*make room/);
  await assertNotNow(await submit(world, cbor));
  const address = world.trader('bob').wallet.address;
  await assertNotNow(await faucet(world, address));
  await assertNotNow(await launch(world));
  makeRoom();
  await untilOver(world);
  assert.equal((await launch(world)).status, 200);
  assert.equal((await submit(world, cbor)).status, 200);
  await world.mine();
  assert.equal((await faucet(world, address)).status, 200);
});

function faucet(world: DevnetWorld, address: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ address, ada: 10 });
  return fetch(`${world.url}/devnet/v1/faucet`, { method: 'POST', headers, body });
}

/** With a logo that does not fit on the full disk. */
function launch(world: DevnetWorld): Promise<Response> {
  const form = new FormData();
  const logo = new Uint8Array(png(64, 64, Buffer.alloc(8_192, 'logo')));
  form.set('image', new Blob([logo], { type: 'image/png' }), 'logo');
  const { name, ticker, description, assetType, launchType } = launchOf();
  const described = { name, ticker, description, assetType, launchType, initialDeposit: '0' };
  const { address: changeAddress } = world.trader('alice').wallet;
  form.set('info', JSON.stringify({ ...described, changeAddress }));
  return fetch(`${world.url}/launch`, { method: 'POST', body: form });
}

test('a paced devnet on a full disk: every place says so; then blocks again', async (scope) => {
  const world = await DevnetWorld.start(scope, { env: { BLOCK_EVERY_MS: '200' } });
  const trader = world.trader('alice');
  assert.equal((await faucet(world, trader.wallet.address)).status, 200);
  const pings = world.client.health();
  scope.after(() => world.client.connection.close());
  const told = (wanted: boolean) => () => pings.state?.submits === wanted;
  await until('the page hears that all is well', told(true));
  const makeRoom = full(scope);
  const codes = (found: Readiness) => found.reasons.map(({ code }) => code);
  const isListed = (found: Readiness) => codes(found).includes('DEVNET_NOT_WRITTEN');
  await untilAsked('readiness lists it', () => readiness(world), isListed);
  const { height } = world.tip ?? assert.fail('there are blocks');
  const metrics = await (await fetch(`${world.url}/metrics`)).text();
  assert.match(metrics, /^upcurve_degraded 1$/m);
  assert.match(metrics, /^upcurve_reason\{code="DEVNET_NOT_WRITTEN"\} 1$/m);
  await until('the page hears it', told(false));
  assert(pings.state?.reasons?.includes('DEVNET_NOT_WRITTEN'));
  await assertNotNow(await faucet(world, trader.wallet.address));
  makeRoom();
  await untilOver(world);
  await until('there are new blocks', () => (world.tip?.height ?? 0) > height);
  assert.equal((await faucet(world, trader.wallet.address)).status, 200);
});
