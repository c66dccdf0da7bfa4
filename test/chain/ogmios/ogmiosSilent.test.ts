/** A server that accepts connections and stays silent: every wait ends. */
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { OgmiosChain, type OgmiosOptions } from '../../../src/chain/ogmios/ogmios.ts';
import { until } from '../../support/until.ts';
import { QUIET, remembering, SHORT } from './ogmiosWorld.ts';

test('a silent server delays neither connections nor a stop for long', {
  timeout: 120_000,
}, async (t) => {
  const sockets = new Set<Socket>();
  let accepted = 0;
  const silent = createServer((socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.resume();
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const address = silent.address();
  assert.ok(typeof address === 'object' && address !== null);
  const url = `ws://someone:secret@127.0.0.1:${address.port}`;
  const told = remembering();
  const open = (limits: OgmiosOptions['limits']) =>
    new OgmiosChain({ ...QUIET, url, observer: told, limits: { ...SHORT, ...limits } });
  const impatient = open({ answerMs: 100 });
  const starting = assert.rejects(impatient.start());
  await until('it is tried again and again', () => told.lost.length > 20);
  assert.ok(accepted > 5);
  const left = () => `what was given up is closed; ${sockets.size} of ${accepted} left`;
  await until(left, () => sockets.size <= 4);
  assert.match(told.messages.join(), /127\.0\.0\.1.* does not answer/);
  await impatient.stop();
  await starting;
  const patient = open({ answerMs: 600_000 });
  const waiting = assert.rejects(patient.start());
  const before = accepted;
  await until('it is asked', () => accepted > before);
  await patient.stop();
  await waiting;
  assert.deepEqual(told.failures, []);
  await new Promise((resolve) => silent.close(resolve));
  const refused = open({});
  const never = assert.rejects(refused.start());
  await until('no server listens', () => told.messages.join().includes('ECONNREFUSED'));
  await refused.stop();
  await never;
  assert.doesNotMatch(told.messages.join(), /secret|someone/);
});
