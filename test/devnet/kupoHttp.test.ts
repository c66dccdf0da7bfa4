/** The devnet's Kupo over HTTP: headers, caching, faults of a question, and who may ask. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { startDevnet } from '../support/devnetNode.ts';
import { type Match, paidOn } from './kupoWorld.ts';

test('checkpoints, health and headers name the newest block', async (scope) => {
  const { ask, devnet } = await paidOn(scope);
  const { tip } = devnet.node.chain;
  const { body, headers } = await ask('/checkpoints');
  assert.deepEqual(body[0], { slot_no: tip?.slot, header_hash: tip?.id });
  assert.equal(headers.get('x-most-recent-checkpoint'), String(tip?.slot));
  assert.equal(headers.get('etag'), tip?.id);
  assert.deepEqual((await ask('/checkpoints/99')).body.slot_no, 2);
  assert.equal((await ask('/checkpoints/99?strict')).body, null);
  assert.equal((await ask('/health')).body.most_recent_checkpoint, 2);
  assert.deepEqual((await ask('/patterns')).body, ['*']);
  const metadata = await ask('/metadata/2');
  assert.deepEqual(metadata.body, []);
  assert.equal(metadata.headers.get('x-block-header-hash'), tip?.id);
  assert.equal((await ask(`/datums/${'0'.repeat(64)}`)).body, null);
});

test('says what is wrong with a question', async (scope) => {
  const { ask } = await paidOn(scope);
  const wrong = [
    '/matches/nonsense',
    '/matches/*?spent&unspent',
    '/matches/*?order=sideways',
    '/matches/*?created_after=tomorrow',
    '/matches/*?created_after=1&created_after=1',
    '/matches/*?created_after=1&spent_after=1',
    `/matches/*?created_after=1.${'00'.repeat(32)}`,
    '/matches/*?spent=1',
    '/matches/*?resolve_hashes=true',
    '/matches/*?output_index=1',
    `/matches/*?transaction_id=${'00'.repeat(32)}&output_index=x`,
    '/matches/a/b/c',
    '/patterns/nonsense',
    '/checkpoints/1?strict=1',
    '/checkpoints/1?other',
    '/metadata/99',
    '/metadata/1?transaction_id=00',
    '/matches/*?asset_name=00',
    '/checkpoints/x',
    '/datums/12',
    '/scripts/12',
    '/metadata/x',
  ];
  for (const path of wrong) {
    const { status, body } = await ask(path);
    assert.equal(status, 400, path);
    assert.equal(typeof body.hint, 'string', path);
  }
  for (const path of ['/nothing', '/', '//', '/datums', '/health/x', '/checkpoints/1/2']) {
    assert.equal((await ask(path)).status, 404, path);
  }
});

test('answers 304 to the ETag of the newest block, until there is another', async (scope) => {
  const { devnet, first } = await paidOn(scope);
  const { id = '' } = devnet.node.chain.tip ?? {};
  const asked = (path: string, etag: string) =>
    fetch(`${devnet.kupoUrl}${path}`, { headers: { 'If-None-Match': etag } });
  const cached = [
    '/matches/*',
    `/v1/matches/*@${first.id}`,
    '/checkpoints',
    '/checkpoints/1',
    `/datums/${'00'.repeat(32)}`,
    `/scripts/${'00'.repeat(28)}`,
    '/metadata/1',
  ];
  for (const path of cached) {
    const same = await asked(path, id);
    assert.equal(same.status, 304, path);
    assert.equal(await same.text(), '');
    assert.equal(same.headers.get('etag'), id);
    assert.equal(same.headers.get('x-most-recent-checkpoint'), '2');
    assert.equal((await asked(path, '00'.repeat(32))).status, 200, path);
  }
  for (const path of ['/health', '/patterns']) assert.equal((await asked(path, id)).status, 200);
  assert.equal(await devnet.node.mine(1), 3);
  const changed = await asked('/matches/*', id);
  assert.deepEqual([changed.status, changed.headers.get('etag')], [200, devnet.node.chain.tip?.id]);
});

test('lets pages of this machine read every answer', async (scope) => {
  const { devnet } = await paidOn(scope);
  const asked = (path: string, init: RequestInit = {}) =>
    fetch(`${devnet.kupoUrl}${path}`, { headers: { Origin: 'http://localhost:3000' }, ...init });
  const answers = [
    await asked('/matches/*'),
    await asked('/matches/nonsense'),
    await asked('/nothing'),
    await asked('/matches/*', { method: 'OPTIONS' }),
    await asked('/patterns/*', { method: 'PUT', body: '{}' }),
    await asked('/matches/*', { method: 'DELETE' }),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 400, 404, 200, 406, 406],
  );
  for (const { headers } of answers) assert.equal(headers.get('access-control-allow-origin'), '*');
});

test('writes amounts as texts where that is asked for', async (scope) => {
  const { devnet, first } = await paidOn(scope);
  const accept = 'application/json;asset-quantity=string';
  const response = await fetch(`${devnet.kupoUrl}/matches/0@${first.id}`, { headers: { accept } });
  // trust: what Kupo answers to matches
  const [match] = (await response.json()) as Match[];
  assert.deepEqual(match?.value.coins, '10000000');
  assert.match(response.headers.get('content-type') ?? '', /asset-quantity=string/);
});

test('a bound that names a block must be on the chain', async (scope) => {
  const { devnet, ask, matches } = await paidOn(scope);
  const { id = '' } = devnet.node.chain.tip ?? {};
  assert.equal((await matches(`*?created_after=2.${id}`)).length, 2);
  const { status, body } = await ask(`/matches/*?created_after=9.${id}`);
  assert.equal(status, 400);
  assert.deepEqual(body.details, { ancestor: { slot_no: 2, header_hash: id } });
});

test('refuses a foreign Host and a foreign Origin on every port', async (scope) => {
  const { kupoUrl, devnetUrl } = await startDevnet(scope);
  const status = (url: string, headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      request(`${url}/health`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .on('error', reject)
        .end();
    });
  for (const url of [kupoUrl, devnetUrl]) {
    assert.equal(await status(url, {}), 200);
    assert.equal(await status(url, { Origin: 'http://localhost:3000' }), 200);
    assert.equal(await status(url, { Origin: 'https://evil.example' }), 403);
    assert.equal(await status(url, { Host: 'rebound.example:1337' }), 403);
  }
});
