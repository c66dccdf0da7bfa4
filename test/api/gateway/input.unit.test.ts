/** What a refused input says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { checkOf } from '../../../src/api/gateway/input.ts';
import { OneOf } from '../../../src/api/schemas/identifiers.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';

test('a wrong choice lists every choice, also one among many and in an item', () => {
  const names = Array.from({ length: 12 }, (_, index) => `choice${index}`);
  const choice = OneOf(names);
  const check = checkOf(Type.Object({ all: Type.Array(Type.Object({ choice })) }));
  const found = check({ all: [{ choice: 'choice11' }, { choice: 'other' }] }, 'body');
  assert(found instanceof Failure);
  const message = `must be one of ${names.map((name) => `"${name}"`).join(', ')}`;
  assert.deepEqual(found.details, [{ path: 'body.all.1.choice', message }]);
});

test('a text that does not fit names the pattern and what the field is', () => {
  const amount = Type.String({ pattern: '^[0-9]+$', description: 'Lovelace of a BUY.' });
  const found = checkOf(Type.Object({ amount }))({ amount: '-1' }, 'query');
  assert(found instanceof Failure);
  const message = 'must match pattern "^[0-9]+$": Lovelace of a BUY.';
  assert.deepEqual(found.details, [{ path: 'query.amount', message }]);
});
