/**
 * Links to tokens: chat programs read a title and a picture from the page, and a wrong link gets a
 * clear answer.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PageFacts } from '../../../src/api/page/document.ts';
import { tokenHead, tokenPageRoute } from '../../../src/api/page/tokenPage.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { appendBlock } from '../../chain/foldChain.ts';
import { BlockMaker } from '../../chain/foldMarket.ts';
import { newTestApp } from '../../support/app.ts';
import { wholeOf } from '../../support/askRoute.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { type Scope, temporaryDirectory } from '../../support/server.ts';

const PUBLIC_URL = 'https://market.example';

async function launched(scope: Scope) {
  const world = await FoldWorld.open(scope, join(temporaryDirectory(), 'data'));
  const maker = new BlockMaker();
  await appendBlock(world, maker.block([{ do: 'launch', user: 0, buy: 30 }], 20_000));
  const [pool] = maker.state.pools.values();
  assert(pool !== undefined);
  const listed = world.fold.directory.find(pool.token);
  assert(listed !== null);
  return { world, listed };
}

test('a link has a head that names its token, its price and its market cap', async (t) => {
  const { world, listed } = await launched(t);
  const { token, name, ticker } = listed.pool;
  let isSynced = true;
  const tokens = {
    find: (asset: string) => world.fold.directory.find(asset),
    isTraded: () => false,
    synced: () => isSynced,
  };
  let network: ReturnType<PageFacts['network']> = null;
  const route = tokenPageRoute(tokens, {
    network: () => network,
    hasRate: false,
    explorerUrl: null,
    liveSinceMs: null,
    publicUrl: PUBLIC_URL,
  });
  const ask = async (asset: string) => {
    const answer = await wholeOf(route.handle({ params: { asset }, query: {}, body: undefined }));
    assert(!(answer instanceof Failure));
    return { status: answer.status, html: String(answer.body) };
  };
  const { status, html } = await ask(token.toUpperCase());
  assert.equal(status, 200);
  assert.ok(html.includes(`<title>${name} (${ticker}) · upcurve</title>`), html);
  assert.match(html, /name="description" content="0\.0\d+ ADA, market cap [\d.]+k? ADA\./);
  assert.ok(html.includes(`property="og:url" content="${PUBLIC_URL}/t/${token}"`));
  assert.ok(html.includes(`property="og:image" content="${PUBLIC_URL}/og/${token}.png"`));
  assert.ok(html.includes('name="twitter:card" content="summary_large_image"'));
  assert.match(html, /<script type="module" src="\/assets\/chunk-/);
  assert.match(html, /<html lang="en" data-chain="some" data-rate/, 'a reader: the page asks');
  network = { name: 'preprod', addresses: 'testnet', supply: 1_000_000_000n };
  const known = /data-chain="preprod" data-addresses="testnet" data-supply="1000000000"/;
  assert.match((await ask(token)).html, known);
  const unknown = `${'00'.repeat(28)}.00`;
  assert.equal((await ask(unknown)).status, 404);
  isSynced = false;
  const early = await ask(unknown);
  assert.equal(early.status, 503, 'the token may be in a block that is not read yet');
  assert.ok(early.html.includes('<title>upcurve</title>'));
});

test('a hostile name is shown as text, on one line, in its own direction', async (t) => {
  const { listed } = await launched(t);
  const name = `"><script>alert(1)</script>\u202e\n${'\u0301'.repeat(10_000)}`;
  const pool = { ...listed.pool, name, ticker: '"><img src=x>', description: `'"<a>`.repeat(999) };
  const { title, description, more = '' } = tokenHead({ ...listed, pool }, null);
  assert.match(title, /^"><script>alert\(1\)<\/script>/);
  assert.ok(title.length < 120 && description.length < 400);
  assert.doesNotMatch(more, /<(?!meta property="og:\w+" content="[^"<>]*">\n)/);
  assert.doesNotMatch(title + more, /\u202e|\u0301{4}/);
  assert.doesNotMatch(more, /og:url/, 'without PUBLIC_URL there is no address to name');
});

test('a wrong link is a page that says what is wrong', async (t) => {
  const app = await newTestApp(t);
  const { url } = app;
  const ask = async (path: string) => {
    const answer = await fetch(url + path);
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8', path);
    assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
    return { status: answer.status, html: await answer.text() };
  };
  const unknown = await ask(`/t/${'00'.repeat(28)}.00`);
  assert.equal(unknown.status, 404);
  assert.ok(unknown.html.includes('<title>No such token · upcurve</title>'));
  assert.ok(unknown.html.includes(`No token ${'00'.repeat(28)}.00 was launched here.`));
  const replayed = `${'03'.repeat(28)}.4c696e6b`;
  const trade = { id: '1', timeMs: 1_767_614_400_000, base: replayed, quote: '.' };
  const amounts = { baseDecimals: 0, quoteDecimals: 6, baseAmount: '1000', quoteAmount: '2500' };
  await app.feed(`${JSON.stringify({ ...trade, ...amounts })}\n`);
  assert.equal((await ask(`/t/${replayed}`)).status, 200, 'it has a chart');
  const picture = await fetch(`${url}/og/${replayed}.png`);
  assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/png']);
  assert.equal((await fetch(`${url}/og/${'00'.repeat(28)}.00.png`)).status, 404);
  for (const path of ['/t/abc', `/t/${'00'.repeat(28)}`, '/t/%3Cb%3E', `/t/${'a'.repeat(3000)}`]) {
    const { status, html } = await ask(path);
    assert.equal(status, 404, path);
    assert.ok(html.includes('<title>No such address · upcurve</title>'), path);
    assert.ok(html.includes('is no asset id'), path);
    assert.doesNotMatch(html, /<b>|a{200}/, path);
  }
});
