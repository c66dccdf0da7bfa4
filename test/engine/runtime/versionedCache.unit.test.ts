import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VersionedCache } from '../../../src/engine/runtime/versionedCache.ts';

test('a value is made once for each version, out of the one before', () => {
  const cache = new VersionedCache<string, string, number>({ max: 2 });
  const made: (string | undefined)[] = [];
  const at = (key: string, version: number, isSame?: (before: number) => boolean) =>
    cache.of(key, version, (before) => `${key}${version}${made.push(before)}`, isSame);
  assert.deepEqual([at('a', 1), at('a', 1), at('b', 1)], ['a11', 'a11', 'b12']);
  assert.equal(at('a', 2), 'a23');
  assert.equal(made.at(-1), 'a11');
  // A value that still holds gets the new version.
  assert.equal(
    at('a', 5, (before) => before === 2),
    'a23',
  );
  assert.equal(
    at('a', 6, (before) => before === 5),
    'a23',
  );
  assert.equal(cache.find('b', 2), undefined);
  at('c', 1);
  assert.equal(cache.last('a'), undefined, 'the one that was used least recently makes room');
});
