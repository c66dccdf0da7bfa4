/** Faults that must not end a devnet, and its answers while it cannot store or is stopping. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { coins } from '../../src/cardano/codec/value.ts';
import { keyAddress } from '../../src/cardano/validators/deploy.ts';
import { genesisUtxosOf } from '../../src/cardano/validators/genesis.ts';
import { Ledger } from '../../src/devnet/ledger.ts';
import { LedgerFile } from '../../src/devnet/ledgerFile.ts';
import { isForeign } from '../../src/devnet/localHttp.ts';
import { DevnetNode } from '../../src/devnet/node.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { systemRng } from '../../src/engine/runtime/rng.ts';
import { runDevnet } from '../../src/server/cli/devnet.ts';
import { startDevnet } from '../support/devnetNode.ts';
import { addressOf, GENESIS_TIME_MS, keyNamed, ledgerOptions } from '../support/ledgerWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';

const SLOTS = { zeroTimeMs: GENESIS_TIME_MS, zeroSlot: 0, slotLengthMs: 1000 };

test('a request whose id is nested too deeply is refused on both transports', async (scope) => {
  const { devnetUrl, ogmiosUrl } = await startDevnet(scope);
  const id = '['.repeat(200_000) + ']'.repeat(200_000);
  for (const method of ['nextBlock', 'queryNetwork/tip']) {
    const body = `{"jsonrpc":"2.0","method":"${method}","id":${id}}`;
    const response = await fetch(devnetUrl, { method: 'POST', body });
    // trust: what Ogmios answers
    const { error } = (await response.json()) as { error: { code: number } };
    assert.equal(error.code, -32600);
    const socket = new WebSocket(ogmiosUrl);
    await once(socket, 'open');
    socket.send(body);
    const [answer] = await once(socket, 'message');
    assert.match(String(answer), /-32600/);
    socket.terminate();
  }
});

test('a client that asks and never reads is cut off, others are served', async (scope) => {
  const output = { address: addressOf('alice'), value: coins(2_000_000n) };
  const genesis = Array.from({ length: 1_000 }, () => output);
  const { ogmiosUrl, devnetUrl } = await startDevnet(scope, { genesis });
  const socket = new WebSocket(ogmiosUrl);
  socket.on('error', () => {});
  await once(socket, 'open');
  const closed = once(socket, 'close');
  socket.pause();
  const params = { addresses: [output.address] };
  const query = { jsonrpc: '2.0', method: 'queryLedgerState/utxo', params };
  for (let at = 0; at < 400; at += 1) socket.send(JSON.stringify(query));
  const connections = async () => {
    // trust: what Ogmios answers
    const health = (await (await fetch(`${devnetUrl}/health`)).json()) as {
      metrics: { activeConnections: number };
    };
    return health.metrics.activeConnections;
  };
  await untilAsked('the connection is cut off', connections, (count) => count === 0);
  socket.resume();
  await closed;
});

/** Asks for an upgrade under a foreign name. */
function foreign(url: string): Socket {
  const socket = connect({
    port: Number(new URL(url).port),
    host: '127.0.0.1',
    allowHalfOpen: true,
  });
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: evil\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  return socket;
}

test('a refused upgrade may be reset, or kept half open while the devnet stops', async (scope) => {
  const devnet = await startDevnet(scope);
  for (let count = 0; count < 5; count += 1) {
    const socket = foreign(devnet.devnetUrl);
    await once(socket, 'connect');
    socket.write('more');
    socket.resetAndDestroy();
  }
  const kept = foreign(devnet.devnetUrl);
  const [answer] = await once(kept, 'data');
  assert.match(String(answer), /403 Forbidden.*Host evil/s);
  kept.resume();
  await devnet.stop();
  kept.destroy();
});

test('what is queued when a devnet stops is refused', async (scope) => {
  const devnet = await startDevnet(scope);
  const mined = devnet.node.mine(1);
  await devnet.stop();
  const answer = await mined;
  assert.ok(answer instanceof Failure && answer.cause === 'NOT_READY');
});

test('a gift that the disk refuses to keep is no gift', async () => {
  const { file: path } = ledgerOptions();
  const file = new LedgerFile(path, 1);
  const faucetKey = keyNamed('faucet');
  const fund = { address: keyAddress(faucetKey.hash), value: coins(1_000_000_000_000n) };
  file.begin('{}', genesisUtxosOf([fund]));
  const ledger = new Ledger(file, SLOTS, () => 0);
  const node = new DevnetNode({
    ledger,
    file,
    clock: systemClock,
    faucetKey,
    paceMs: 0,
    includeCbor: false,
    stalled: () => {},
  });
  while (ledger.forge(100) === null) assert.ok(ledger.height < 100_000);
  for (;;) {
    const outcome = await node.faucet(addressOf('alice'), 2_000_000n);
    if (outcome instanceof Failure) {
      assert.equal(outcome.cause, 'NOT_READY');
      assert.match(outcome.message, /refuses to keep/);
      break;
    }
    assert.equal(outcome.outcome, 'accepted', 'until the disk is full');
    assert.ok(ledger.mempool.has(outcome.txHash), 'an accepted one is kept');
  }
  const kept = [...ledger.accepted()].map(({ id }) => id);
  node.stop();
  file.close();
  const again = new LedgerFile(path);
  assert.equal(again.pending().length, kept.length);
  again.close();
});

test('a chain that began with other outputs is not taken for the one asked for', async () => {
  const directory = temporaryDirectory();
  const run = async (genesis: string | null) => {
    const lines: string[] = [];
    const command = {
      name: 'devnet',
      ogmiosPort: 0,
      kupoPort: 0,
      paceMs: 0,
      launchpad: false,
      allowHost: null,
      ogmiosMajor: 6,
      parameters: null,
    } as const;
    await runDevnet(
      { ...command, genesis },
      {
        dataDirectory: directory,
        blockEveryMs: 0,
        host: '127.0.0.1',
        version: 'test',
        clock: systemClock,
        rng: systemRng,
        say: (line) => lines.push(line),
        stopAsked: Promise.resolve(),
        launchpad: () => ({ outputs: [], aside: [] }),
      },
    );
    return lines.filter((line) => line.includes('Wallet')).length;
  };
  const files = ['5000000', '6000000'].map((lovelace) => {
    const file = join(directory, `${lovelace}.json`);
    writeFileSync(file, JSON.stringify({ outputs: [{ address: addressOf('alice'), lovelace }] }));
    return file;
  });
  const [first = '', second = ''] = files;
  assert.equal(await run(first), 0);
  assert.equal(await run(first), 0, 'again');
  await assert.rejects(run(second), /began with other outputs .*start without --genesis/);
  assert.equal(await run(null), 0, 'wallets that hold nothing are not shown');
});

test('names of hosts are compared without case; no page without an origin is let in', () => {
  const guard = { hosts: ['My-Host'] };
  assert.equal(isForeign({ host: 'my-host:1337' }, guard), null);
  assert.equal(isForeign({ host: '[::1]:1337', origin: 'http://[::1]:3000' }, guard), null);
  assert.notEqual(isForeign({ host: 'localhost', origin: 'null' }, guard), null);
  assert.notEqual(isForeign({}, guard), null);
});
