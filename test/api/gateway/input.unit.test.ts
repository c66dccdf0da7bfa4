/** The messages of refused inputs. */
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

test('validation ends with the eighth error, and looks at no item behind it', () => {
  const check = checkOf(Type.Object({ keys: Type.Array(Type.String(), { maxItems: 10_000 }) }));
  const seen = new Set<PropertyKey>();
  const keys = new Proxy(
    Array.from({ length: 5_000 }, (_, at) => (at % 2 === 0 ? 1 : 'a')),
    {
      get(list, name) {
        seen.add(name);
        return Reflect.get(list, name);
      },
    },
  );
  const found = check({ keys }, 'body');
  assert(found instanceof Failure);
  const wrong = [0, 2, 4, 6, 8, 10, 12, 14].map((at) => `body.keys.${at}`);
  assert.deepEqual(
    found.details?.map(({ path }) => path),
    wrong,
  );
  assert(seen.size < 40, `it looked at ${seen.size} fields`);
});

test('a list that is too long is refused before its items are looked at', () => {
  const List = Type.Array(Type.String(), { maxItems: 3 });
  const check = checkOf(
    Type.Object({ inner: Type.Object({ list: Type.Union([Type.Null(), List]) }) }),
  );
  const found = check({ inner: { list: [1, 2, 3, 4] } }, 'body');
  assert(found instanceof Failure);
  const message = 'must not have more than 3 items';
  assert.deepEqual(found.details, [{ path: 'body.inner.list', message }]);
});

test('errors of fields, of lists and inside of items come together, with their paths', () => {
  const Item = Type.Object({ id: Type.String(), tags: Type.Optional(Type.Array(Type.Integer())) });
  const check = checkOf(Type.Object({ size: Type.Integer(), items: Type.Array(Item) }));
  const items = [{ id: 'a' }, { id: 'b', tags: [1, 'x'] }, { tags: [] }];
  const found = check({ items }, 'body');
  assert(found instanceof Failure);
  const paths = found.details?.map(({ path }) => path);
  assert.deepEqual(paths, ['body.size', 'body.items.1.tags.1', 'body.items.2.id']);
});

test('fields that no schema names are not handed on, and cost nothing', () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`x${at}`, at]));
  const found = checkOf(Type.Object({ a: Type.Optional(Type.Integer()) }))(
    { a: 1, ...many },
    'body',
  );
  assert.deepEqual(found, { value: { a: 1 } });
});

test('a wrong type is refused with all types of a choice, a wrong value with its own fault', () => {
  const Key = Type.String({ pattern: '^[0-9a-f]{4}$' });
  const check = checkOf(
    Type.Object({
      keys: Type.Union([Type.Null(), Type.Array(Key)]),
      index: Type.Union([Type.Integer(), Type.String({ pattern: '^[0-9]$' })]),
      lock: Type.Union([Type.Null(), Type.Object({ until: Type.Integer() })]),
    }),
  );
  const said = (value: unknown) => {
    const found = check(value, 'body');
    assert(found instanceof Failure);
    return Object.fromEntries((found.details ?? []).map(({ path, message }) => [path, message]));
  };
  assert.deepEqual(said({ keys: 'abcd', index: true, lock: 1 }), {
    'body.keys': 'must be null or array',
    'body.index': 'must be integer or string',
    'body.lock': 'must be null or object',
  });
  assert.deepEqual(said({ keys: ['abcd', 'x'], index: 'x', lock: { until: 'x' } }), {
    'body.keys.1': 'must match pattern "^[0-9a-f]{4}$"',
    'body.index': 'must match pattern "^[0-9]$"',
    'body.lock.until': 'must be integer',
  });
  assert.deepEqual(said({ keys: [], index: '1', lock: {} }), { 'body.lock.until': 'is required' });
});
