/**
 * Addresses of the page: an address that the page writes is read back, and any other address is the
 * home page.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  HOME,
  linkedRoute,
  type PageRoute,
  parseRoute,
  routeHash,
  routeOfPath,
  tokenLink,
} from '../../src/web/route.ts';

const ASSET = `${'ab'.repeat(28)}.466f6f`;

test('every place has an address that leads back to it', () => {
  const places: PageRoute[] = [
    { at: 'token', asset: ASSET },
    { at: 'home', list: 'graduated' },
    { at: 'wallet' },
    { at: 'launch' },
    { at: 'missing', text: '100%/<b>' },
    { at: 'nowhere', text: '/foo/100%' },
  ];
  for (const place of places) assert.deepEqual(parseRoute(routeHash(place)), place);
  assert.deepEqual(parseRoute(`#/token/${ASSET.toUpperCase()}`), { at: 'token', asset: ASSET });
});

test('no address leads home, and one that is not there is said to be none', () => {
  for (const hash of ['', '#', '#/']) assert.deepEqual(parseRoute(hash), HOME, hash);
  for (const hash of ['#/list/Nope', '#/token/', '#/x', '#/%3Cb%3E', '#/100%']) {
    const route = parseRoute(hash);
    assert.equal(route.at, 'nowhere', hash);
    assert.deepEqual(parseRoute(routeHash(route)), route, 'a reload says the same');
  }
  assert.equal(routeOfPath('/'), null);
  assert.deepEqual(routeOfPath('/a%20b'), { at: 'nowhere', text: '/a b' });
  assert.deepEqual(routeOfPath(tokenLink(ASSET)), { at: 'token', asset: ASSET });
});

test('an address of a token whose id is none says so', () => {
  for (const text of ['.', '<b>', 'ab.cd', `${ASSET}0`, '%', '%zz']) {
    assert.deepEqual(parseRoute(`#/token/${text}`), { at: 'missing', text }, text);
    assert.deepEqual(linkedRoute(`/t/${text}`), { at: 'missing', text }, text);
  }
});

test('a link leads to its token, and other paths lead nowhere', () => {
  assert.deepEqual(linkedRoute(tokenLink(ASSET)), { at: 'token', asset: ASSET });
  assert.deepEqual(linkedRoute(`/t/${ASSET.toUpperCase()}`), { at: 'token', asset: ASSET });
  assert.deepEqual(linkedRoute('/t/a%20b'), { at: 'missing', text: 'a b' });
  for (const path of ['/', '/t', `/t/${ASSET}/x`, `/x/t/${ASSET}`]) {
    assert.equal(linkedRoute(path), null, path);
  }
});
