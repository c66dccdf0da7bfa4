/** Examples come from real answers (`record.ts`); here each is held against its schema. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { JsonObject } from '../../../src/api/docs/definitions.ts';
import type { Json } from '../../../src/engine/runtime/json.ts';
import { REQUESTS, SUBSCRIPTIONS } from './requests.ts';
import { at, keysAt } from './sample.ts';
import { judgeOf, type Served } from './served.ts';

interface Found {
  readonly where: string;
  readonly schema: unknown;
  readonly value: unknown;
}

/** Every example in a document, with the schema beside it. */
function examplesIn(value: Json, where = '#'): Found[] {
  if (typeof value !== 'object' || value === null) return [];
  const found: Found[] = [];
  const schema = at(value, 'schema') ?? at(value, 'payload');
  const several = at(value, 'examples');
  if (schema !== undefined) {
    if ('example' in value) found.push({ where, schema, value: at(value, 'example') });
    for (const each of Object.values(Object(several))) {
      found.push({ where, schema, value: at(each, 'value') ?? at(each, 'payload') });
    }
  }
  return Object.entries(value).reduce(
    (list, [key, child]) => list.concat(examplesIn(child, `${where}/${key}`)),
    found,
  );
}

function operationsOf(document: JsonObject): [name: string, operation: unknown][] {
  return keysAt(document, 'paths').flatMap((path) =>
    keysAt(document, `paths ${path}`).map((method): [string, unknown] => [
      `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      at(document, `paths ${path} ${method}`),
    ]),
  );
}

/** An image is not shown; everything else is. */
function isShown(operation: unknown): boolean {
  const content = Object.entries(Object(at(operation, 'responses 200 content')));
  return content.every(([type, media]) => type.startsWith('image/') || 'example' in Object(media));
}

function lacksRequest(operation: unknown): boolean {
  const parameters = Object.values(Object(at(operation, 'parameters')));
  const needed = parameters.filter((each) => at(each, 'required') === true);
  const bodies = Object.values(Object(at(operation, 'requestBody content')));
  return [...needed, ...bodies].some((each) => !('example' in Object(each)));
}

export async function examplesAreGood(
  t: TestContext,
  { openapi, asyncapi }: Served,
): Promise<void> {
  await t.test('each fits the schema beside it', () => {
    for (const document of [openapi, asyncapi]) {
      const found = examplesIn(document);
      assert.ok(found.length > 20, `${found.length} examples`);
      const different = new Map(
        found.map((each) => [JSON.stringify([each.schema, each.value]), each]),
      );
      const judge = judgeOf(document);
      for (const { where, schema, value } of different.values()) {
        assert.deepEqual(judge(schema, value), [], where);
      }
    }
  });

  await t.test('the judge sees what is wrong', () => {
    const [first] = examplesIn(asyncapi);
    assert.notDeepEqual(judgeOf(asyncapi)(first?.schema, { messageType: 7 }), []);
  });

  await t.test('every route has one, of what is sent and of what is answered', () => {
    const operations = operationsOf(openapi);
    const lacking = operations.filter(([, each]) => !isShown(each) || lacksRequest(each));
    assert.deepEqual(
      lacking.map(([name]) => name),
      [],
    );
    const unknown = operations.map(([name]) => name).filter((name) => !(name in REQUESTS));
    assert.deepEqual(unknown, [], 'routes without a sample request');
  });

  await t.test('every topic has one, of subscribe and of its update', () => {
    const topics = keysAt(asyncapi, 'channels').filter((name) => name !== 'socket');
    for (const name of topics) {
      assert.ok(name in SUBSCRIPTIONS, `${name} has a sample subscription`);
      const messages = keysAt(asyncapi, `channels ${name} messages`);
      for (const message of messages.slice(0, 2)) {
        const examples = at(asyncapi, `channels ${name} messages ${message} examples 0 payload`);
        assert.ok(examples !== undefined, `${name} ${message}`);
      }
    }
  });
}
