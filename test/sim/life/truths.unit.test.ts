import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Truths } from './truths.ts';

const teller = (node: string, losses = 0, living: readonly string[] = ['a', 'b']) => ({
  node,
  losses,
  isLiving: (name: string) => living.includes(name),
});

test('two nodes that tell one text at a position agree, another text is a second truth', () => {
  const truths = new Truths();
  assert.equal(truths.tell('/trades 1-x:5', 'one', teller('a')), null);
  assert.equal(truths.tell('/trades 1-x:5', 'one', teller('b')), null);
  assert.equal(truths.shared, 1);
  assert.equal(truths.tell('/trades 1-x:6', 'two', teller('b')), null);
  assert.equal(truths.tell('/trades 1-x:5', 'two', teller('b')), 'a, b');
  assert.equal(truths.tell('/trades 1-x:5', 'two', teller('a')), 'a, b');
});

test('a loss of the log excuses a second truth only when no node runs that told the first', () => {
  const truths = new Truths();
  assert.equal(truths.tell('5', 'one', teller('a')), null);
  assert.equal(truths.tell('5', 'two', teller('b', 1)), 'a');
  assert.equal(truths.tell('5', 'two', teller('b', 0, ['b'])), 'a');
  assert.equal(truths.tell('5', 'two', teller('b', 1, ['b'])), null);
  assert.equal(truths.tell('5', 'one', teller('a', 1)), 'b');
});
