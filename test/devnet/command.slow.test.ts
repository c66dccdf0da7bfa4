/** `npm start -- devnet`: its output, and the acknowledged blocks after a kill. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { coins } from '../../src/cardano/codec/value.ts';
import { Key } from '../../src/cardano/keys/keys.ts';
import { signedPayment } from '../../src/devnet/payment.ts';
import { type Scope, temporaryDirectory } from '../support/server.ts';

const ROOT = join(import.meta.dirname, '../..');
const FEE = 200_000n;

interface Running {
  readonly child: ChildProcess;
  readonly ogmiosUrl: string;
  readonly kupoUrl: string;
}

async function start(scope: Scope, directory: string, ...args: string[]): Promise<Running> {
  const ports = ['--ogmios-port', '0', '--kupo-port', '0'];
  const child = spawn(process.execPath, ['src/server/main.ts', 'devnet', ...ports, ...args], {
    cwd: ROOT,
    env: { ...process.env, DATA_DIR: directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  scope.after(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout });
  let [ogmiosUrl, kupoUrl] = ['', ''];
  for await (const line of lines) {
    ogmiosUrl = /Ogmios +(ws:\S+)/.exec(line)?.[1] ?? ogmiosUrl;
    kupoUrl = /Kupo +(http:\S+)/.exec(line)?.[1] ?? kupoUrl;
    if (line.includes('Faucet')) break;
  }
  return { child, ogmiosUrl: ogmiosUrl.replace('ws:', 'http:'), kupoUrl };
}

async function call(url: string, method: string, params: object = {}) {
  const body = JSON.stringify({ jsonrpc: '2.0', method, params });
  const response = await fetch(url, { method: 'POST', body });
  // trust: what Ogmios answers
  return (await response.json()) as { result?: unknown; error?: { code: number } };
}

test('an acknowledged transaction survives kill -9 and gets into a block', async (scope) => {
  const directory = temporaryDirectory();
  const first = await start(scope, directory, '--pace', '0');
  const file = join(directory, 'node', 'wallet-1.json');
  // trust: the wallet file of this program
  const { address, paymentSecret } = JSON.parse(readFileSync(file, 'utf8')) as Record<
    string,
    string
  >;
  assert.ok(address !== undefined && paymentSecret !== undefined);
  const found = await fetch(`${first.kupoUrl}/matches/${address}`);
  // trust: what Kupo answers
  const [match] = (await found.json()) as {
    transaction_id: string;
    output_index: number;
    value: { coins: number };
  }[];
  assert.ok(match);
  const { id, bytes } = signedPayment(
    {
      inputs: [{ txHash: match.transaction_id, index: match.output_index }],
      outputs: [{ address, value: coins(BigInt(match.value.coins) - FEE) }],
      feeLovelace: FEE,
    },
    [new Key(paymentSecret)],
  );
  const transaction = { cbor: Buffer.from(bytes).toString('hex') };
  const accepted = await call(first.ogmiosUrl, 'submitTransaction', { transaction });
  assert.deepEqual(accepted.result, { transaction: { id } });
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');

  const second = await start(scope, directory, '--pace', '0');
  const mined = await fetch(`${second.ogmiosUrl}/devnet/v1/mine`, {
    method: 'POST',
    body: JSON.stringify({ blocks: 1 }),
  });
  assert.deepEqual(await mined.json(), { height: 1 });
  const made = await fetch(`${second.kupoUrl}/matches/*@${id}`);
  // trust: what Kupo answers
  assert.equal(((await made.json()) as unknown[]).length, 1);
  const again = await call(second.ogmiosUrl, 'submitTransaction', { transaction });
  assert.notEqual(again.error, undefined, 'its inputs are spent, as a node says');
  second.child.kill('SIGTERM');
  const [code] = await once(second.child, 'exit');
  assert.equal(code, 0);
});

test('refuses another pace for a chain, with what to do', async (scope) => {
  const directory = temporaryDirectory();
  const { child } = await start(scope, directory, '--pace', '100');
  child.kill('SIGTERM');
  await once(child, 'exit');
  const wrong = spawn(process.execPath, ['src/server/main.ts', 'devnet', '--pace', '200'], {
    cwd: ROOT,
    env: { ...process.env, DATA_DIR: directory },
  });
  let text = '';
  wrong.stderr.on('data', (chunk) => {
    text += chunk;
  });
  // Not at its exit: its last words may still be on their way.
  const [code] = await once(wrong, 'close');
  assert.equal(code, 1);
  assert.match(text, /a block every 100 ms, not every 200 ms.*slots cannot change/s);
});
