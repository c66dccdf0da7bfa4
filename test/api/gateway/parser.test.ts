/**
 * Tests of the HTTP parser in the installed uWebSockets.js, whichever build it is. Where builds
 * differ, a test finds out which behaviour this one has and accepts no third.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_HEAD_BYTES } from '../../../src/api/gateway/headerLimit.ts';
import { until } from '../../support/until.ts';
import { startNode } from './node.ts';
import { get, RawConnection } from './raw.ts';
import { testRoutes } from './routes.ts';

const REQUEST = get('/small', ['X-Long: some text', 'Accept: */*']);

/** The status of the answer to `parts`, each sent as its own TCP segment. */
async function statusOf(port: number, parts: readonly string[]): Promise<number> {
  const connection = new RawConnection(port);
  await connection.write(parts);
  await until('an answer', () => connection.received.includes('\r\n\r\n'));
  connection.socket.destroy();
  return Number(connection.received.split(' ')[1]);
}

test('a head that TCP splits is answered; builds of 2024 refuse some splits', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const offsets = Array.from({ length: REQUEST.length - 1 }, (_, at) => at + 1);
  const statuses = await Promise.all(
    offsets.map((at) => statusOf(port, [REQUEST.slice(0, at), REQUEST.slice(at)])),
  );
  const refused = offsets.filter((_, index) => statuses[index] !== 200);
  t.diagnostic(refused.length === 0 ? 'splits of all kinds are answered' : 'a build of 2024');
  if (refused.length === 0) return;
  // Right after the method, and from the space behind the target up to the end of the line.
  const space = REQUEST.indexOf(' HTTP/1.1');
  const inVersion = offsets.filter((at) => at > space && at < REQUEST.indexOf('\r\n') + 2);
  assert.deepEqual(refused, ['GET '.length, ...inVersion]);
  for (const at of refused) assert.equal(statuses[at - 1], 505, `after ${REQUEST.slice(0, at)}`);
});

test('a head of MAX_HEAD_BYTES is answered, a longer one refused with 431', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const empty = get('/small', ['X-Long: ']).length;
  for (const [bytes, status] of [
    [MAX_HEAD_BYTES - 1, 200],
    [MAX_HEAD_BYTES + 1, 431],
    [4 * MAX_HEAD_BYTES, 431],
  ] as const) {
    const request = get('/small', [`X-Long: ${'x'.repeat(bytes - empty)}`]);
    assert.equal(request.length, bytes);
    assert.equal(await statusOf(port, [request]), status, `${bytes} bytes`);
    const half = bytes / 2;
    assert.equal(await statusOf(port, [request.slice(0, half), request.slice(half)]), status);
  }
  const beside = (count: number) => Array.from({ length: count }, (_, at) => `X-${at}: y`);
  assert.equal(await statusOf(port, [get('/small', beside(97))]), 200, 'with Host, 98 headers');
  assert.equal(await statusOf(port, [get('/small', beside(98))]), 431);
});
