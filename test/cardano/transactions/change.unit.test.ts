/**
 * The sizes that `Change` computes equal the sizes of the outputs that are written. Replay a
 * failure with the seed and path it prints.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeAssets } from '../../../src/cardano/codec/encode.ts';
import { addValues, asValue, coins, equalValues } from '../../../src/cardano/codec/value.ts';
import { Change, changeOutputs } from '../../../src/cardano/transactions/change.ts';
import { PARAMETERS } from '../../support/parameters.ts';
import { ALICE, COLLATERAL_OWNER } from './world.ts';

const MAX_AMOUNT = (1n << 63n) - 1n;

/** Some policies have hundreds of names, some one. */
const anyAsset = fc
  .record({ policy: fc.integer({ min: 0, max: 60 }), name: fc.integer({ min: 0, max: 700 }) })
  .map(({ policy, name }) => {
    const policyId = (policy < 40 ? policy : 7).toString(16).padStart(56, 'a');
    const text = name === 0 ? '' : name.toString(16).padStart(2 * (2 + (name % 31)), '0');
    return `${policyId}.${text}`;
  });

const anyAmount = fc.oneof(
  fc.bigInt({ min: 1n, max: 300n }),
  fc.bigInt({ min: 1n, max: 1n << 33n }),
  fc.bigInt({ min: 1n, max: 1n << 60n }),
);

const anyValue = fc
  .record({
    lovelace: fc.bigInt({ min: 0n, max: 5_000_000_000n }),
    assets: fc.array(fc.tuple(anyAsset, anyAmount), { minLength: 1, maxLength: 120, size: 'max' }),
  })
  .map(({ lovelace, assets }) => asValue(lovelace, assets));

test('after any coming and going the bytes and least lovelace are those of its outputs', () => {
  let several = 0;
  const steps = fc.array(fc.record({ value: anyValue, stays: fc.boolean() }), {
    maxLength: 6,
    size: 'max',
  });
  fc.assert(
    fc.property(steps, fc.boolean(), (values, isBase) => {
      const address = isBase ? ALICE.text : COLLATERAL_OWNER.text;
      const change = new Change(address, PARAMETERS);
      for (const { value } of values) change.add(value);
      for (const { value, stays } of values) if (!stays) change.subtract(value);
      const kept = values.filter(({ stays }) => stays).map(({ value }) => value);
      const held = addValues(coins(0n), ...kept);
      const bundles = change.bundled();
      const bytes = bundles.map(({ value }) => encodeAssets(value.assets).length);
      assert.equal(
        change.tokenBytes,
        bytes.reduce((sum, each) => sum + each, 0),
      );
      assert.ok(bytes.every((each) => each <= 3500));
      assert.equal(change.lovelace, held.lovelace);
      several += Number(bundles.length > 1);
      const outputs = change.outputs();
      const least = bundles.reduce((sum, { value }) => sum + value.lovelace, 0n);
      if (bundles.length > 0) assert.equal(change.minLovelace, least);
      assert.equal('length' in outputs, held.lovelace >= change.minLovelace);
      if (!('length' in outputs)) {
        assert.equal(outputs.lackLovelace, change.minLovelace - held.lovelace);
        return;
      }
      assert.ok(equalValues(addValues(coins(0n), ...outputs.map(({ value }) => value)), held));
    }),
    { numRuns: 150 },
  );
  assert.ok(several > 20, `${several} in several outputs`);
});

test('an amount that no output may hold is said before it is written', () => {
  const change = new Change(ALICE.text, PARAMETERS);
  const asset = `${'ab'.repeat(28)}.`;
  change.add(asValue(0n, [[asset, MAX_AMOUNT]]));
  assert.ok(change.tokenBytes < 50);
  change.add(asValue(0n, [[asset, 1n]]));
  assert.equal(change.tokenBytes, Number.POSITIVE_INFINITY);
  change.subtract(asValue(0n, [[asset, 1n]]));
  assert.ok(change.tokenBytes < 50);
});

test('names of a policy share an output, in whatever order they are given', () => {
  const name = (n: number) => n.toString(16).padStart(4, '0');
  const assets = Array.from({ length: 300 }, (_, n) => {
    const policyId = (n % 3).toString(16).padStart(56, 'a');
    return [`${policyId}.${name(n)}`, 1n] as const;
  });
  const outputs = changeOutputs(asValue(90_000_000n, assets), ALICE.text, PARAMETERS);
  assert.ok('length' in outputs);
  assert.equal(outputs.length, 2);
});
