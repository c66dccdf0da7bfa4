/** The page over HTTP: one document, files under addresses for good, nothing from elsewhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { specifiersOf } from '../../../src/api/page/routes.ts';
import { newTestApp } from '../../support/app.ts';

test('the document names its files, and all of them are served for good', async (t) => {
  const { url } = await newTestApp(t);
  const answer = await fetch(`${url}/`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(answer.headers.get('cache-control'), 'no-cache');
  const policy = answer.headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'self' 'sha256-[^']+'; style-src 'self';/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  const html = await answer.text();
  assert.doesNotMatch(html, /https?:\/\//, 'nothing from elsewhere');
  const paths = [...new Set(html.match(/\/assets\/[^"]+/g))];
  assert(paths.length > 50);
  const types = new Map<string, number>();
  for (const path of paths) {
    const file = await fetch(url + path);
    assert.equal(file.status, 200, path);
    assert.match(file.headers.get('cache-control') ?? '', /immutable/, path);
    assert.equal(file.headers.get('x-content-type-options'), 'nosniff', path);
    assert((await file.text()).length > 0, path);
    const type = file.headers.get('content-type') ?? '';
    types.set(type, (types.get(type) ?? 0) + 1);
  }
  const known = ['image/svg+xml', 'text/css; charset=utf-8', 'text/javascript; charset=utf-8'];
  assert.deepEqual([...types.keys()].sort(), known);
});

test('what has not changed is not sent again, and what is not there is 404', async (t) => {
  const { url } = await newTestApp(t);
  const answer = await fetch(`${url}/`);
  const tag = answer.headers.get('etag') ?? '';
  const again = await fetch(`${url}/`, { headers: { 'If-None-Match': tag } });
  assert.equal(again.status, 304);
  const [path = ''] = (await answer.text()).match(/\/assets\/[^"]+main\.ts/) ?? [];
  const zipped = await fetch(url + path, { headers: { 'Accept-Encoding': 'gzip' } });
  assert.equal(zipped.headers.get('content-encoding'), 'gzip');
  assert.doesNotMatch(await zipped.text(), /import type/, 'no types for browsers');
  for (const wrong of ['/assets/', '/assets/0000/src/web/main.ts', `${path}.map`, '/src/main.ts']) {
    assert.equal((await fetch(url + wrong)).status, 404, wrong);
  }
  const outside = path.replace(/src\/web\/main\.ts$/, '..%2f..%2fpackage.json');
  assert.equal((await fetch(url + outside)).status, 404);
});

test('imports of a module are found, types and examples in comments are not', () => {
  const text = `import { a } from './a.ts';
import type { B } from './b.ts';
import { type C, d } from 'd';
import './e.css.ts';
export { f } from './f.ts';
export type { G } from './g.ts';
/**
 * import { h } from 'h';
 */
const i = await import('./i.ts');
`;
  assert.deepEqual(specifiersOf(text).sort(), ['./a.ts', './e.css.ts', './f.ts', './i.ts', 'd']);
});
