import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remembered } from '../../src/cardano/codec/remembered.ts';

test('answers are kept, the newest of them, and no refusal', () => {
  const asked: string[] = [];
  const answer = remembered((text) => {
    asked.push(text);
    return text === 'none' ? null : { text };
  }, 4);
  const first = answer('a');
  assert.deepEqual(first, { text: 'a' });
  assert.equal(answer('a'), first);
  assert.equal(answer('none'), null);
  assert.equal(answer('none'), null);
  assert.deepEqual(asked.splice(0), ['a', 'none', 'none']);
  for (const text of ['b', 'c', 'd', 'e']) answer(text);
  assert.deepEqual(asked.splice(0), ['b', 'c', 'd', 'e']);
  assert.deepEqual(answer('e'), { text: 'e' });
  assert.deepEqual(asked, [], 'the newest are kept');
  assert.notEqual(answer('a'), first, 'the oldest were let go');
});
