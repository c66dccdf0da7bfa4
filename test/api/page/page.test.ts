/** The page over HTTP: one document, files under addresses for good, nothing from elsewhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { escapeMarkup } from '../../../src/engine/runtime/markup.ts';
import { newTestApp } from '../../support/app.ts';
import { raw } from '../../support/rawHttp.ts';

/** The budget of a first visit: compressed bytes of the document and its files. */
const MAX_BYTES = 205_000;
/** Bytes before the market's lists show: charts and trading come later. */
const MAX_FOR_LISTS = 75_000;
/** A token's page in another language takes so many. */
const MAX_REQUESTS = 5;
/** The document, its script and its stylesheet. */
const REQUESTS_FOR_LISTS = 3;

test('the document names few files, all served for good and compressed', async (t) => {
  const { url } = await newTestApp(t);
  const answer = await fetch(`${url}/`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(answer.headers.get('cache-control'), 'no-cache');
  const policy = answer.headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  const html = await answer.text();
  assert.doesNotMatch(html, /https?:\/\//, 'nothing from elsewhere');
  assert.doesNotMatch(html, /<(script|style)[^>]*>[^<]/, 'nothing inline');
  assert.match(html, /<link rel="icon" href="data:image\/svg\+xml,%3Csvg/);
  assert.match(policy, /img-src [^;]*data:/, 'the icon is in the document');
  const paths = [...new Set(html.match(/\/assets\/[^"]+/g))];
  assert.equal(paths.length + 1, REQUESTS_FOR_LISTS);
  const types: string[] = [];
  let bytes = html.length;
  for (const path of paths) {
    assert.match(path, /-[0-9a-zA-Z]{8}\.\w+$/, 'named after its content');
    const plain = await encoded(url, path, 'identity');
    assert.equal(plain.status, 200, path);
    assert.match(String(plain.headers['cache-control']), /immutable/, path);
    assert.equal(plain.headers['x-content-type-options'], 'nosniff', path);
    types.push(String(plain.headers['content-type']));
    const brotli = await encoded(url, path, 'gzip, deflate, br');
    assert.equal(brotli.headers['content-encoding'], 'br', path);
    assert.deepEqual(brotliDecompressSync(brotli.body), plain.body, path);
    bytes += brotli.body.length;
    const zipped = await encoded(url, path, 'gzip, br;q=0');
    if (plain.body.length <= 1024) continue;
    assert.equal(zipped.headers['content-encoding'], 'gzip', path);
    assert.deepEqual(gunzipSync(zipped.body), plain.body, path);
  }
  const known = ['text/css; charset=utf-8', 'text/javascript; charset=utf-8'];
  assert.deepEqual([...new Set(types)].sort(), known);
  assert(bytes <= MAX_FOR_LISTS, `a first visit loads ${bytes} bytes`);
});

test('a token in another language is two more files, and within the bound', async (t) => {
  const { url } = await newTestApp(t);
  const html = await (await fetch(`${url}/`)).text();
  const paths = [...new Set(html.match(/\/assets\/[^"]+/g))];
  const sizeOf = async (path: string) => (await encoded(url, path, 'br')).body.length;
  const scripts = paths.filter((path) => path.endsWith('.js'));
  const codeOf = async (path: string) => (await encoded(url, path, 'identity')).body.toString();
  const code = (await Promise.all(scripts.map(codeOf))).join('\n');
  const later = (name: string): string => {
    const [found = '', ...others] = new Set(code.match(new RegExp(`\\b${name}-\\w{8}\\.js`, 'g')));
    assert.deepEqual(others, []);
    assert.notEqual(found, '', name);
    return `/assets/${found}`;
  };
  const [german, views] = [later('de'), later('views')];
  const first = Array.from(code.matchAll(/(?:import|from)"\.\/([^"]+)"/g), ([, name]) => name);
  assert.deepEqual(
    first.filter((name) => !scripts.includes(`/assets/${name}`)),
    [],
    'the document names what is loaded before the page is up',
  );
  const sizes = await Promise.all([...paths, german, views].map(sizeOf));
  const sum = sizes.reduce((bytes, size) => bytes + size, html.length);
  assert(sum <= MAX_BYTES && sizes.length + 1 <= MAX_REQUESTS, `${sum} bytes`);
});

test('an unchanged file is not sent again, and a missing one is 404', async (t) => {
  const { url } = await newTestApp(t);
  const answer = await fetch(`${url}/`);
  const tag = answer.headers.get('etag') ?? '';
  const again = await fetch(`${url}/`, { headers: { 'If-None-Match': tag } });
  assert.equal(again.status, 304);
  const [path = ''] = (await answer.text()).match(/\/assets\/chunk-[^"]+\.js/) ?? [];
  // trust: the shape of a source map
  const map = (await (await fetch(`${url}${path}.map`)).json()) as { sources: readonly string[] };
  assert(map.sources.some((source) => source.endsWith('src/web/main.tsx')));
  for (const wrong of ['/assets/', '/assets/main.js', '/assets/main.tsx', '/src/web/main.tsx']) {
    assert.equal((await fetch(url + wrong)).status, 404, wrong);
  }
  assert.equal((await fetch(`${url}/assets/..%2f..%2fpackage.json`)).status, 404);
});

test('text in the head of the document is escaped', () => {
  assert.equal(escapeMarkup(`<a href="x">&'`), '&lt;a href=&quot;x&quot;&gt;&amp;&#39;');
});

test('a browser gets a page for a path that is not there, a program gets the error', async (t) => {
  const { url } = await newTestApp(t);
  const ask = (path: string, accept: string, method = 'GET') =>
    fetch(url + path, { method, headers: { accept } });
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const page = await ask('/no/such/page', browser);
  assert.equal(page.status, 404);
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(await page.text(), /<title>No such page/);
  assert.equal((await ask('/nope', browser, 'HEAD')).status, 404);
  for (const [path, accept, method] of [
    ['/nope', '*/*', 'GET'],
    ['/nope', browser, 'POST'],
    ['/v1/nope', browser, 'GET'],
  ] as const) {
    const answer = await ask(path, accept, method);
    assert.equal(answer.status, 404);
    assert.match(await answer.text(), /"cause":"NOT_FOUND"/);
  }
  const reference = await (await fetch(`${url}/docs`)).text();
  assert.match(reference, /<a class="back" href="\/">/);
  assert.doesNotMatch(reference, /<th>\s*<\/th>/, 'no heading without words');
});

function encoded(url: string, path: string, encoding: string) {
  return raw(Number(new URL(url).port), 'GET', path, { 'Accept-Encoding': encoding });
}
