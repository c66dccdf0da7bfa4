import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenBucket } from '../../../src/engine/runtime/tokenBucket.ts';

const QUOTA = { perSecond: 2, burst: 3 };

function taken(bucket: TokenBucket, nowMs: number): number {
  let count = 0;
  while (bucket.take(nowMs)) count += 1;
  return count;
}

test('grants a burst at once, then as many as come back', () => {
  const bucket = new TokenBucket(QUOTA, 1_000);
  assert.equal(taken(bucket, 1_000), 3);
  assert.equal(bucket.take(1_499), false);
  assert.equal(taken(bucket, 1_500), 1);
  assert.equal(taken(bucket, 2_500), 2);
});

test('never holds more than a burst', () => {
  const bucket = new TokenBucket(QUOTA, 0);
  assert.equal(bucket.tokens(1e9), 3);
  bucket.giveBack();
  assert.equal(taken(bucket, 1e9), 3);
});

test('a token that is given back can be taken again', () => {
  const bucket = new TokenBucket(QUOTA, 0);
  assert.equal(taken(bucket, 0), 3);
  bucket.giveBack();
  assert.equal(taken(bucket, 0), 1);
});

test('counts fractions: what is refused costs nothing', () => {
  const bucket = new TokenBucket(QUOTA, 0);
  taken(bucket, 0);
  for (let nowMs = 0; nowMs < 500; nowMs += 100) assert.equal(bucket.take(nowMs), false);
  assert.equal(bucket.tokens(500), 1);
});
