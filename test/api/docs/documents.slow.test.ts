/** The documents of one running market, held against judges that are not ours. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { stringify } from 'yaml';
import { examplesAreGood } from './examples.ts';
import { faultsIn } from './sample.ts';
import { asyncapiFaults, lint, type Served, servedDocuments } from './served.ts';
import { documentsAreWhole } from './whole.ts';

async function lintersFindNothing(t: TestContext, { openapi, asyncapi, text }: Served) {
  await t.test('OpenAPI 3.1: a linter finds nothing, warnings included', async () => {
    assert.equal(openapi.openapi, '3.1.0');
    assert.deepEqual(await lint(text.openapi), []);
    assert.deepEqual(faultsIn(openapi), []);
  });

  await t.test('AsyncAPI 3: a linter and the published schema find nothing', async () => {
    assert.equal(asyncapi.asyncapi, '3.1.0');
    assert.deepEqual(await lint(text.asyncapi), []);
    assert.deepEqual(asyncapiFaults(asyncapi), []);
    assert.deepEqual(faultsIn(asyncapi), []);
  });

  await t.test('the judges see what is wrong', async () => {
    const calls = stringify({ ...openapi, tags: [{ title: 'nameless' }] });
    assert.match((await lint(calls)).join(), /struct at #\/tags\/0/);
    const spoiled = { ...asyncapi, operations: { a: { action: 'shout' } } };
    assert.match(asyncapiFaults(spoiled).join(), /operations\/a/);
    assert.match((await lint(stringify(spoiled))).join(), /operations\/a/);
  });
}

test('the documents of a running market', async (t) => {
  const served = await servedDocuments(t);
  await t.test('linters find nothing', (each) => lintersFindNothing(each, served));
  await t.test('the examples are good', (each) => examplesAreGood(each, served));
  await t.test('they are whole', (each) => documentsAreWhole(each, served));
});
