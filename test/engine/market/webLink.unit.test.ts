/** Links of a launch: what parsers repair is refused, the rest is stored as a parser prints it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webLink } from '../../../src/engine/market/webLink.ts';

const REFUSED = [
  'http://example.com',
  'https:example.com',
  'https:/example.com',
  'https:\\\\example.com',
  'https:///example.com',
  'https://',
  'https://?x',
  'https://user:pw@example.com',
  'https://user@example.com',
  'https://@example.com',
  ' https://example.com',
  'https://example.com ',
  'https://exa mple.com',
  'https://exa\tmple.com',
  'https://exa\nmple.com',
  'https://example.com/a\u00a0b',
  'https://example.com/\\a',
  'https://example.com/\u200b',
  'https://exa\u00admple.com',
  'https://example.com:99999',
  'https://exa%00mple.com',
  'https://a|b',
  'javascript:alert(1)//https://x.y',
  'data:text/html,x',
  '//example.com',
  `https://example.com/${'a'.repeat(181)}`,
  `https://example.com/${'é'.repeat(31)}`,
];

const STORED: readonly (readonly [string, string])[] = [
  ['https://example.com', 'https://example.com/'],
  ['HTTPS://Example.COM/A?b=c#d', 'https://example.com/A?b=c#d'],
  ['https://example.com/@me?a@b', 'https://example.com/@me?a@b'],
  ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
  ['https://example.com:443/../a', 'https://example.com/a'],
  [`https://example.com/${'a'.repeat(180)}`, `https://example.com/${'a'.repeat(180)}`],
];

test('a link that a browser may read as another one is refused', () => {
  for (const text of REFUSED) assert.equal(webLink(text), null, text);
});

test('a link is stored as a URL parser prints it, and stays so', () => {
  for (const [text, stored] of STORED) {
    assert.equal(webLink(text), stored);
    assert.equal(webLink(stored), stored);
  }
});
