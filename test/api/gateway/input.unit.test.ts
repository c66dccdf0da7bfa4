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
