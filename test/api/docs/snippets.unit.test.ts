/** The samples of the reference, for routes that want an API key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../../../src/api/docs/page/snippets.ts';

const KEY = 'upc_YOUR_KEY';

function textOf(security?: readonly { readonly apiKey?: readonly string[] }[]): string {
  const example = { url: 'https://bot.example/hook' };
  const requestBody = { content: { 'application/json': { example } } };
  const operation = security === undefined ? { requestBody } : { requestBody, security };
  return samples('POST', '/v1/webhooks', JSON.parse(JSON.stringify(operation))).text;
}

test('a sample of a route that needs an API key shows where it goes, in each language', () => {
  const text = textOf([{ apiKey: [] }]);
  assert.equal(text.split(KEY).length - 1, 3);
  assert.match(text, /-H (&#39;|')authorization: Bearer upc_YOUR_KEY/);
  for (const security of [undefined, [{}, { apiKey: [] }]]) {
    assert(!textOf(security).includes(KEY));
  }
});
