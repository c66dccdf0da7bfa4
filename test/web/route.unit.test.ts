/** Addresses of the page: what is written is read, and everything else is the home. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOME, type PageRoute, parseRoute, routeHash } from '../../src/web/route.ts';

const ASSET = `${'ab'.repeat(28)}.466f6f`;

test('every place has an address that leads back to it', () => {
  const places: PageRoute[] = [
    { at: 'token', asset: ASSET },
    { at: 'home', list: 'graduated' },
    { at: 'wallet' },
    { at: 'launch' },
  ];
  for (const place of places) assert.deepEqual(parseRoute(routeHash(place)), place);
  assert.deepEqual(parseRoute(`#/token/${ASSET.toUpperCase()}`), { at: 'token', asset: ASSET });
});

test('what is no address leads home', () => {
  const strange = ['', '#', '#/', '#/list/Nope', '#/token/', '#/token/.', '#/token/<b>', '#/x'];
  for (const hash of strange) assert.deepEqual(parseRoute(hash), HOME, hash);
});
