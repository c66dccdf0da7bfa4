/**
 * Clients that go away while they are being answered. The library aborts the process when it finds
 * a connection gone in the middle of a handler that asked to be told of nothing. The clients have
 * to run beside the server, so the server is a separate process here.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { startServer, temporaryDirectory } from '../../support/server.ts';
import { get } from './raw.ts';

const ROUNDS = 75;
const AT_ONCE = 16;
/** A hang-up falls somewhere into the answering: each client of a round waits a little longer. */
const STEP_MS = 0.5;

async function hangUp(port: number, requests: string, afterMs: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  socket.on('connect', () => {
    socket.write(requests);
    setTimeout(() => {
      socket.write(requests);
      socket.resetAndDestroy();
    }, afterMs);
  });
  await new Promise((resolve) => socket.on('close', resolve));
}

test('clients that hang up while they get long answers do no harm', async (t) => {
  const server = await startServer(t, [], { DATA_DIR: temporaryDirectory(t) });
  const requests = get('/v1/docs/openapi').repeat(10);
  for (let round = 0; round < ROUNDS && server.program.exit === null; round += 1) {
    const clients = Array.from({ length: AT_ONCE }, (_, at) =>
      hangUp(server.port, requests, at * STEP_MS),
    );
    await Promise.all(clients);
  }
  assert.equal(server.program.exit, null, server.program.text);
  assert.equal((await server.get('/health/live')).status, 200);
});
