import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  applyDoubleCborEncoding,
  applyParamsToScript,
  Constr,
  type Data,
  mintingPolicyToId,
  validatorToScriptHash,
} from '@lucid-evolution/lucid';
import { VALIDATOR_NAMES, VALIDATORS } from '../../../src/cardano/validators/deploy.ts';
import { BLUEPRINT_PATH, blueprintText } from './compile.ts';
import { conformsTo } from './conforms.ts';
import { INTERFACES } from './schemas.ts';
import { applied, world } from './world.ts';

test('plutus.json is what its sources compile to, byte for byte', () => {
  assert.equal(readFileSync(BLUEPRINT_PATH, 'utf8'), blueprintText());
});

test('the hashes in plutus.json are those of the ledger', () => {
  for (const name of VALIDATOR_NAMES) {
    const { cborHex, hash } = VALIDATORS[name];
    const script = applyDoubleCborEncoding(cborHex);
    assert.equal(validatorToScriptHash({ type: 'PlutusV2', script }), hash);
    assert.notEqual(script, cborHex, 'the blueprint has one layer of CBOR');
  }
});

test('the parameters are as the blueprint has them', () => {
  const { deployment, policyId } = world('release');
  const launch = new Constr<Data>(0, [policyId, 'ab'.repeat(32)]);
  assert.ok(conformsTo(INTERFACES.launchPolicy.parameters?.[0], deployment));
  assert.ok(conformsTo(INTERFACES.tokenPolicy.parameters?.[0], launch));
  assert.ok(!conformsTo(INTERFACES.tokenPolicy.parameters?.[0], deployment));
});

test('Scalus and Lucid apply a parameter to the same bytes', () => {
  const { scripts, deployment, policyId } = world('release');
  const launch = new Constr<Data>(0, [policyId, 'ab'.repeat(32)]);
  for (const [template, parameter] of [
    [scripts.launchPolicy, deployment],
    [scripts.tokenPolicy, launch],
  ] as const) {
    const byScalus = applied(template, parameter);
    assert.equal(byScalus.script, applyParamsToScript(template.script, [parameter]));
    assert.notEqual(mintingPolicyToId(byScalus), mintingPolicyToId(template));
  }
});
