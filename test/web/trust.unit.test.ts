/** Which shares are a reason for caution. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cautionsOf } from '../../src/web/trust.ts';

test('a large share is a caution, one at the limit or unknown is none', () => {
  const none = { authorPercent: '10.00', snipersPercent: null, top10Percent: '50.00' };
  assert.deepEqual(cautionsOf(none), []);
  const all = { authorPercent: '10.01', snipersPercent: '100.00', top10Percent: '50.01' };
  assert.deepEqual(cautionsOf(all), [
    { share: 'author', percent: '10.01' },
    { share: 'snipers', percent: '100.00' },
    { share: 'top10', percent: '50.01' },
  ]);
});
