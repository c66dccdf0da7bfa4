/** Parameters of a query string that may be repeated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { QueryParser } from '../../../src/api/http/query.ts';

test('a list without text counts as absent, as any optional parameter does', () => {
  const names = Type.Optional(Type.Array(Type.String({ pattern: '^[a-z]$' })));
  const parser = new QueryParser(Type.Object({ names }));
  assert.deepEqual(parser.parse('names='), { value: {} });
  assert.deepEqual(parser.parse('names=null&names='), { value: {} });
  assert.deepEqual(parser.parse('names=a&names=&names=b'), { value: { names: ['a', 'b'] } });
});
