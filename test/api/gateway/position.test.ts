import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlicedAnswer } from '../../../src/api/gateway/port.ts';
import { until } from '../../support/until.ts';
import { startNode } from './node.ts';
import { ask, get, RawConnection } from './raw.ts';
import { plain, testRoutes } from './routes.ts';

test('answers carry the position and wait for one that was asked for', async (t) => {
  const options = { positionWaitMs: 60 };
  const { port, market } = await startNode(t, { routes: testRoutes(), options });
  const at = (position: string) => ask(port, get('/positioned', [`X-Min-Position: ${position}`]));
  const now = await ask(port, get('/positioned'));
  assert.equal(now.headers['x-position'], '1-aaaa:10');
  assert.equal(now.headers['x-slot'], '77');
  assert.equal(now.headers['x-block-hash'], 'abcd');
  for (const old of ['1-aaaa:10', '1-aaaa:0', '0-zzzz:99999']) {
    assert.equal((await at(old)).status, 200, old);
  }
  for (const bad of ['1-aaaa', 'x', '1-aaaa:-1', '10']) assert.equal((await at(bad)).status, 400);
  const ahead = await at('1-aaaa:11');
  assert.deepEqual([ahead.status, JSON.parse(ahead.body).cause], [503, 'NOT_READY']);
  assert.equal(ahead.headers['retry-after'], '1');
  assert.equal((await at('2-bbbb:1')).status, 503);
  const waiting = ask(port, get('/positioned', ['X-Min-Position: 1-aaaa:11']));
  await new Promise((resolve) => setImmediate(resolve));
  market.count('a');
  const arrived = await waiting;
  assert.deepEqual([arrived.status, arrived.headers['x-position']], [200, '1-aaaa:11']);
});

test('routes that need a synced node say when it is not', async (t) => {
  const { port, market } = await startNode(t, { routes: testRoutes() });
  assert.equal((await ask(port, get('/synced'))).status, 200);
  market.isSynced = false;
  const answer = await ask(port, get('/synced'));
  assert.deepEqual([answer.status, answer.headers['retry-after']], [503, '1']);
  assert.equal((await ask(port, get('/small'))).status, 200);
});

test('status and headers of a handler are kept', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const answer = await ask(port, get('/extra'));
  assert.deepEqual([answer.status, answer.headers['x-next-to']], [201, '5']);
  const bytes = await ask(port, get('/bytes'));
  assert.equal(bytes.headers['content-type'], 'text/plain');
  assert.equal(Buffer.from(bytes.body, 'latin1').toString(), 'åb');
});

test('an answer in slices is at the position of its last one', async (t) => {
  let calls = 0;
  const work = () => {
    calls += 1;
    if (calls === 2) market.count('a');
    if (calls === 4) market.isSynced = false;
    return calls === 3 ? { body: 'done' } : null;
  };
  const at = { method: 'GET', path: '/work', positioned: true, needsSync: true } as const;
  const { port, market } = await startNode(t, {
    routes: [{ ...plain, ...at, handle: () => new SlicedAnswer(work) }],
  });
  const answer = await ask(port, get('/work'));
  assert.deepEqual([answer.body, answer.headers['x-position'], calls], ['done', '1-aaaa:11', 3]);
  const notSynced = await ask(port, get('/work'));
  assert.deepEqual([notSynced.status, calls], [503, 4]);
  market.isSynced = true;
  const connection = new RawConnection(port);
  await connection.write([get('/work')]);
  await until('it is called again', () => calls > 10);
  connection.socket.destroy();
  let before = -1;
  await until('the handler rests, its client is gone', () => {
    const isSame = calls === before;
    before = calls;
    return isSame;
  });
});

test('an epoch that is gone holds no answer back, once the log says so', async (t) => {
  const options = { positionWaitMs: 60 };
  const { port, market } = await startNode(t, { routes: testRoutes(), options });
  const at = (position: string) => ask(port, get('/positioned', [`X-Min-Position: ${position}`]));
  const gone = ['1-bbbb:3', '2-bbbb:1'];
  market.end = { epoch: '1-aaaa', seq: 10 };
  for (const position of gone) assert.equal((await at(position)).status, 200, position);
  assert.equal((await at('1-aaaa:11')).status, 503, 'beyond the end: it may come yet');
  for (const end of ['away', null, { epoch: '2-cccc', seq: 12 }] as const) {
    market.end = end;
    for (const position of gone) assert.equal((await at(position)).status, 503, position);
  }
});
