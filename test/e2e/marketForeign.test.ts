/**
 * A foreign CBOR library signs what we return: Debian's python3-cbor2 decodes it, writes the body
 * again byte for byte, hashes and signs; the order is filled. Skipped where it is not installed.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fromHex, toHex } from '../../src/cardano/codec/hex.ts';
import { pictureOf } from '../../src/client/trade/picture.ts';
import type { TradingClient } from '../../src/client/trade/tradingClient.ts';
import { keyNamed, secretOf } from '../support/ledgerWorld.ts';
import { type Answer, answerOf, DevnetWorld, textField } from './devnet/world.ts';

/** The one on the path may be another than Debian's. */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (python) => spawnSync(python, ['-c', 'import cbor2']).status === 0,
);
const skip = PYTHON === undefined ? 'python3-cbor2 is not installed' : false;

/** Witness set of `name` for the transaction, made by Python; where it cannot sign, we do. */
function signedAbroad(cbor: string, name: string): string {
  const script = join(import.meta.dirname, 'devnet/foreign.py');
  const input = `${cbor}\n${secretOf(name)}\n`;
  const { stdout, stderr, status } = spawnSync(PYTHON ?? '', [script], { input, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const [again = '', hash = '', witness = 'none'] = stdout.trim().split('\n');
  assert.equal(again, cbor, 'byte for byte');
  if (witness !== 'none') return witness;
  const key = keyNamed(name);
  return `a10081825820${key.publicKey}5840${toHex(key.sign(fromHex(hash)))}`;
}

async function sent(world: DevnetWorld, trader: TradingClient, built: Answer): Promise<string> {
  assert.equal(built.status, 200, built.message);
  const cbor = textField(built.body, 'cbor') ?? '';
  const body = { cbor, witness: signedAbroad(cbor, 'alice'), changeAddress: trader.wallet.address };
  const answer = await world.post('/sign-and-submit', body);
  assert.equal(answer.status, 200, answer.message);
  await world.mine();
  return textField(answer.body, 'txHash') ?? '';
}

test('what we build is signed abroad: launch, order, cancel, lock, withdrawal, transfer', {
  skip,
}, async (t) => {
  const world = await DevnetWorld.start(t);
  const alice = await world.funded('alice', 500, 3);
  const { address } = alice.wallet;
  const form = new FormData();
  form.set('image', new Blob([pictureOf('abroad')], { type: 'image/png' }), 'logo.png');
  const text = {
    name: '字😀',
    ticker: 'PY',
    assetType: 'Meme',
    description: 'é'.repeat(300),
    website: 'https://x.io/',
  };
  form.set('info', JSON.stringify({ ...text, initialDeposit: '50000000', changeAddress: address }));
  const launch = await answerOf(await fetch(`${world.url}/launch`, { method: 'POST', body: form }));
  await sent(world, alice, launch);
  const assetId = textField(launch.body, 'assetId') ?? '';
  assert.equal(world.pool(assetId).name, text.name);

  for (const [side, amount] of [
    ['BUY', '5000000'],
    ['BUY_WITH_OUTPUT', '1000000'],
    ['SELL', '1000000'],
  ]) {
    const request = { assetId, side, amount, slippage: '15', changeAddress: address };
    const built = await world.post('/order', request);
    const id = `${await sent(world, alice, built)}:0`;
    assert.equal(id, textField(built.body, 'entityId'));
    await world.spent(id);
    const { state, received, beacon } = world.order(id);
    assert.deepEqual([state, received], ['executed', textField(built.body, 'outputAmount')]);
    assert.equal(beacon, textField(built.body, 'beacon'));
  }
  const request = {
    assetId,
    side: 'BUY',
    amount: '5000000',
    slippage: '15',
    changeAddress: address,
  };
  const order = await world.post('/order', request);
  const cbor = textField(order.body, 'cbor') ?? '';
  const body = { cbor, witness: signedAbroad(cbor, 'alice'), changeAddress: address };
  assert.equal((await world.post('/sign-and-submit', body)).status, 200);
  const [txHash = '', index = ''] = (textField(order.body, 'entityId') ?? '').split(':');
  await sent(world, alice, await world.post('/cancel', { txHash, index, changeAddress: address }));
  assert.equal(world.order(`${txHash}:${index}`).state, 'cancelled');

  const lockEnd = world.nowMs + 2_000;
  const terms = { address, assetId, amount: '10', lockEnd, stagesCount: 2 };
  const lock = await sent(world, alice, await world.post('/create-lock', terms));
  await world.mine(3);
  for (const at of [0, 1]) {
    await sent(world, alice, await world.post('/withdraw', { id: `${lock}:${at}`, address }));
  }
  const transferAssets = { lovelace: '2000000', assets: [{ unit: assetId, amount: '7' }] };
  const distAddress = world.trader('bob').wallet.address;
  const move = { changeAddress: address, distAddress, transferAssets };
  await sent(world, alice, await world.post('/transfer', move));
  assert.equal(String(world.row('holdings', `${assetId}/${distAddress}`)), '7');
});
