/**
 * A foreign evaluator that knows the protocol version, Aiken's `uplc` (Rust), judges a transaction
 * of each kind that we build: the same verdict, and the units to the last one. Skipped where it is
 * not built: `npm run test:judge` does that. The verdicts are stored for `verdicts.test.ts`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { casesOf, declared, EPOCHS, missing, ours, theirs } from './cases.ts';
import { readVectors } from './vectors.ts';

for (const epoch of Object.keys(EPOCHS)) {
  test(`uplc judges every kind as we do, under the parameters of epoch ${epoch}`, {
    skip: missing,
  }, () => {
    const cases = casesOf(epoch);
    const verdicts = theirs(cases);
    for (const [at, each] of cases.entries()) {
      assert.deepEqual(verdicts[at], ours(each), each.name);
      const isOurs = !each.name.endsWith('more');
      if (isOurs) assert.deepEqual(verdicts[at], declared(each), `${each.name}: no margin`);
    }
    assert.ok(
      verdicts.some((verdict) => verdict === null),
      'it refuses, too',
    );
  });
}

test('the kept verdicts are what uplc says now', { skip: missing }, () => {
  const kept = readVectors();
  assert.deepEqual(
    theirs(kept),
    kept.map(({ verdict }) => verdict),
  );
});
