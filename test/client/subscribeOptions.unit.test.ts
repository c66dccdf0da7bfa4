/** The requests that a client sends when it subscribes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, type Socket } from '../../src/client/index.ts';

const OPEN = 1;

/** A socket that opens at once and is never answered. */
function silentSocket(sent: unknown[]): Socket {
  const socket: Socket = {
    ...{ onopen: null, onmessage: null, onclose: null, onerror: null },
    ...{ readyState: OPEN, bufferedAmount: 0, binaryType: 'arraybuffer' },
    send: (text) => void sent.push(JSON.parse(String(text))),
    close: () => {},
  };
  queueMicrotask(() => {
    if (socket.onopen !== null) Reflect.apply(socket.onopen, socket, [{}]);
  });
  return socket;
}

test('a list of pools may be asked for less often than it changes', async (t) => {
  const sent: unknown[] = [];
  const client = new Client({ url: 'http://localhost', openSocket: () => silentSocket(sent) });
  t.after(() => client.close());
  client.pools('Latest', { maxHz: 1 });
  client.pools('New');
  await new Promise((resolve) => setImmediate(resolve));
  const text = JSON.stringify(sent);
  assert.match(text, /"topic":"Latest","maxHz":1\}/);
  assert.match(text, /"topic":"New"\}/);
});
