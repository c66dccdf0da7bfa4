import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Callers, callerOf } from '../../../src/api/gateway/address.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { HandClock } from '../../support/handClock.ts';
import { until } from '../../support/until.ts';
import { startNode } from './node.ts';
import { ask, get, post, RawConnection } from './raw.ts';
import { testRoutes } from './routes.ts';

const SLOW = { perSecond: 0.01, burst: 3 };

test('an address that reads too much gets a retry time', async (t) => {
  const options = { limitLoopback: true, reads: SLOW };
  const { port } = await startNode(t, { routes: testRoutes(), options });
  for (const remaining of ['2', '1', '0']) {
    const answer = await ask(port, get('/small'));
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['ratelimit-limit'], '3');
    assert.equal(answer.headers['ratelimit-remaining'], remaining);
  }
  const refused = await ask(port, get('/small'));
  assert.equal(refused.status, 429);
  assert.equal(JSON.parse(refused.body).cause, 'RATE_LIMITED');
  assert(Number(refused.headers['retry-after']) >= 90);
  assert(Number(refused.headers['ratelimit-reset']) >= 290);
  assert.equal((await ask(port, get('/nowhere'))).status, 429);
  assert.equal((await ask(port, get('/free'))).status, 200);
  assert.equal((await ask(port, get('/small', [], 'OPTIONS'))).status, 204);
  assert.equal((await ask(port, post('/launch', ''))).status, 200);
});

test('a bucket fills again', async (t) => {
  const options = { limitLoopback: true, reads: { perSecond: 50, burst: 1 } };
  const clock = new HandClock();
  const { port } = await startNode(t, { routes: testRoutes(), options, clock });
  const status = async () => (await ask(port, get('/small'))).status;
  assert.deepEqual([await status(), await status()], [200, 429]);
  await clock.advance(19);
  assert.equal(await status(), 429);
  await clock.advance(1);
  assert.deepEqual([await status(), await status()], [200, 429]);
});

test('a build counts only when it answers 200', async (t) => {
  const failing = [new Failure('INVALID_PARAMS', 'no'), new Failure('OVERLOADED', 'full')];
  const answers = [...failing, ...failing, { body: '{}' }, ...failing];
  const options = { limitLoopback: true, builds: { perSecond: 0.01, burst: 2 } };
  const { port } = await startNode(t, { routes: testRoutes(undefined, answers), options });
  const statuses = [];
  for (let i = 0; i < 10; i++) statuses.push((await ask(port, post('/build', ''))).status);
  assert.deepEqual(statuses, [400, 503, 400, 503, 200, 400, 503, 200, 429, 429]);
});

test('refused builds have a limit too, the one of reads; reads take nothing of it', async (t) => {
  const clock = new HandClock();
  const refused = () => new Failure('INVALID_PARAMS', 'no');
  const answers = [refused(), refused(), refused(), { body: '{}' }, refused()];
  const options = { limitLoopback: true, reads: { perSecond: 1, burst: 3 } };
  const { port } = await startNode(t, { routes: testRoutes(undefined, answers), options, clock });
  const status = async (request: string) => (await ask(port, request)).status;
  for (let reads = 0; reads < 3; reads += 1) assert.equal(await status(get('/small')), 200);
  assert.equal(await status(get('/small')), 429);
  for (let builds = 0; builds < 3; builds += 1) {
    assert.equal(await status(post('/build', '')), 400);
  }
  const { status: last, headers, body } = await ask(port, post('/build', ''));
  assert.deepEqual([last, JSON.parse(body).cause], [429, 'RATE_LIMITED']);
  assert.deepEqual([headers['retry-after'], headers['ratelimit-limit']], ['1', '3']);
  await clock.advance(1_000);
  assert.equal(await status(post('/build', '')), 200, 'what answers 200 is no refusal');
  assert.equal(await status(post('/build', '')), 400);
  assert.equal(await status(post('/build', '')), 429);
});

test('a refused build gives its token back once, also where its connection ends', async (t) => {
  const failing = () => new Failure('INVALID_PARAMS', 'no');
  const answers = [{ body: '{}' }, failing(), failing()];
  const options = { limitLoopback: true, builds: { perSecond: 0.01, burst: 3 } };
  const { port } = await startNode(t, { routes: testRoutes(undefined, answers), options });
  const status = async () => (await ask(port, post('/build', ''))).status;
  assert.equal(await status(), 200);
  for (let times = 0; times < 2; times += 1) {
    const last = post('/build', '', ['Connection: close, x']);
    const connection = new RawConnection(port);
    connection.socket.write(last + last);
    await until('the connection is closed', () => connection.closed);
  }
  assert.deepEqual([await status(), await status(), await status()], [200, 200, 429]);
});

test('a large call takes as many tokens as it costs, and the next one waits', async (t) => {
  const clock = new HandClock();
  const routes = testRoutes(undefined, [{ body: '{}' }, new Failure('OVERLOADED', 'full')]);
  const limits = {
    reads: { perSecond: 1, burst: 3 },
    builds: { perSecond: 1, burst: 3 },
  };
  const options = { limitLoopback: true, ...limits };
  const { port } = await startNode(t, { routes, options, clock });
  const send = async (path: string, cost: number) => {
    const { status, headers } = await ask(port, post(path, JSON.stringify({ cost })));
    return [status, headers['ratelimit-remaining'], headers['retry-after']];
  };
  assert.deepEqual(await send('/many', 2), [200, '1', undefined]);
  assert.deepEqual(await send('/many', 5), [200, '0', undefined]);
  assert.deepEqual(await send('/many', 1), [429, '0', '5']);
  await clock.advance(5_000);
  assert.deepEqual(await send('/many', 1), [200, '0', undefined]);
  assert.deepEqual(await send('/manyBuilds', 5), [200, '0', undefined]);
  await clock.advance(3_000);
  // Only an answer with status 200 is charged.
  assert.deepEqual((await send('/manyBuilds', 5))[0], 503);
  assert.deepEqual(await send('/manyBuilds', 1), [200, '0', undefined]);
});

test('an answer costs its bytes or its work, whichever is more; a 304 its work', async (t) => {
  const options = { limitLoopback: true, reads: { perSecond: 0.01, burst: 100 } };
  const { port } = await startNode(t, { routes: testRoutes(), options });
  const left = async (path: string, lines: string[] = []) => {
    const { headers } = await ask(port, get(path, lines));
    return [Number(headers['ratelimit-remaining']), headers.etag];
  };
  assert.deepEqual(await left('/costly?cost=7'), [93, undefined]);
  const [afterBytes, tag] = await left('/large?cost=1');
  assert.equal(afterBytes, 89, '1 MiB is four reads of 256 KiB');
  assert.equal((await left('/large?cost=6'))[0], 83);
  assert.equal((await left('/large?cost=1', [`If-None-Match: ${tag}`]))[0], 82);
  assert.equal((await left('/small'))[0], 81);
  assert.equal(
    (await ask(port, get('/large?cost=1', [], 'HEAD'))).headers['ratelimit-remaining'],
    '80',
  );
});

test('loopback is exempt unless a setting says otherwise', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes(), options: { reads: SLOW } });
  for (let i = 0; i < 10; i++) {
    const answer = await ask(port, get('/small'));
    assert.deepEqual([answer.status, answer.headers['ratelimit-remaining']], [200, '3']);
  }
});

test('behind a trusted proxy the rightmost untrusted address counts', async (t) => {
  const options = { trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'], reads: SLOW };
  const { port } = await startNode(t, { routes: testRoutes(), options });
  const remaining = async (...forwarded: string[]) => {
    const lines = forwarded.map((entry) => `X-Forwarded-For: ${entry}`);
    return (await ask(port, get('/small', lines))).headers['ratelimit-remaining'];
  };
  assert.equal(await remaining('6.6.6.6, 1.2.3.4'), '2');
  assert.equal(await remaining('7.7.7.7, 1.2.3.4, 10.1.1.1'), '1');
  assert.equal(await remaining('7.7.7.7', '1.2.3.4:5678, 10.1.1.1'), '0');
  assert.equal(await remaining('1.2.3.4, 8.8.8.8'), '2');
  assert.equal(await remaining('::ffff:8.8.8.8'), '1');
  assert.equal(await remaining('2001:db8:1:2:3::1'), '2');
  assert.equal(await remaining('[2001:db8:1:2:ffff::9]:443'), '1');
  assert.equal(await remaining('2001:db8:1:3::1'), '2');
  assert.equal(await remaining(), '3');
});

test('X-Forwarded-For of an untrusted peer is ignored', async (t) => {
  const options = { limitLoopback: true, reads: SLOW, trustedProxies: ['10.0.0.0/8'] };
  const { port } = await startNode(t, { routes: testRoutes(), options });
  for (const [index, status] of [200, 200, 200, 429].entries()) {
    const answer = await ask(port, get('/small', [`X-Forwarded-For: 1.1.1.${index}`]));
    assert.equal(answer.status, status);
  }
});

test('IPv6 addresses count by /64 and loopback is recognised in every form', () => {
  assert.equal(callerOf('2001:db8::1').key, callerOf('2001:db8:0:0:9:9:9:9').key);
  assert.notEqual(callerOf('2001:db8::1').key, callerOf('2001:db8:0:1::1').key);
  assert(callerOf('::1').loopback);
  assert(callerOf('127.9.9.9').loopback);
  assert(!callerOf('::2').loopback);
  assert(!callerOf('128.0.0.1').loopback);
  // A name never counts as an address. Text in the form of an IPv6 address is parsed as one,
  // whatever part of it looks like IPv4.
  for (const other of [
    '127.evil.example',
    '127.',
    '127.0.0.1.example',
    '::1.2.3.4',
    '::127.0.0.1',
  ]) {
    assert(!callerOf(other).loopback, other);
  }
  for (const mapped of ['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:127.0.0.1']) {
    assert.deepEqual(callerOf(mapped), callerOf('127.0.0.1'), mapped);
  }
  assert.equal(callerOf('::ffff:a00:1').key, '10.0.0.1');
  new Callers(['::1', '10.0.0.0/8', '2001:db8::/32']);
});
