/**
 * Our evaluator gives the verdicts of a foreign one that knows the protocol version (`uplc`, see
 * `judge.slow.test.ts`): the same for each kind of transaction, units exactly.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { casesOf, declared, ours } from './cases.ts';
import { readVectors } from './vectors.ts';

const kept = readVectors();

test('units and refusals are those of the foreign evaluator', () => {
  for (const each of kept) assert.deepEqual(ours(each), each.verdict, each.name);
  assert.ok(kept.some(({ verdict }) => verdict === null));
});

test('every kind that we build was judged, by the scripts that it runs today', () => {
  for (const epoch of ['544', '645']) {
    const scriptsOf = ({ utxos }: (typeof kept)[number] | ReturnType<typeof casesOf>[number]) =>
      utxos.flatMap(({ output }) => output.scriptHash ?? []).sort();
    const judged = kept.filter((each) => each.epoch === epoch);
    const now = casesOf(epoch);
    const remedy = 'write them again: npm run test:judge, then node scripts/writeVerdicts.ts';
    assert.deepEqual(
      now.map(({ name }) => name),
      judged.map(({ name }) => name),
      remedy,
    );
    assert.deepEqual(now.map(scriptsOf), judged.map(scriptsOf), remedy);
    for (const each of now)
      if (!each.name.endsWith('more')) assert.deepEqual(ours(each), declared(each), each.name);
  }
});
