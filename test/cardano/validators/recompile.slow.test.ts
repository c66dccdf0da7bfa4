import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  applyDoubleCborEncoding,
  applyParamsToScript,
  Constr,
  type Data,
  mintingPolicyToId,
  validatorToScriptHash,
} from '@lucid-evolution/lucid';
import {
  constantsIn,
  DEFAULT_VALIDATOR_PARAMETERS,
  validatorParameters,
  validatorSource,
  withParameters,
} from '../../../src/cardano/validators/compile.ts';
import {
  VALIDATOR_NAMES,
  VALIDATORS,
  type ValidatorName,
} from '../../../src/cardano/validators/deploy.ts';
import { parseTerms } from '../../../src/server/settings/deployments.ts';
import { BLUEPRINT_PATH, blueprintText, compile } from './compile.ts';
import { conformsTo } from './conforms.ts';
import { INTERFACES } from './schemas.ts';
import { applied, world } from './world.ts';

test('plutus.json is what its sources compile to, byte for byte', () => {
  assert.equal(readFileSync(BLUEPRINT_PATH, 'utf8'), blueprintText());
});

test('the constants of the source are the default parameters, each named once', () => {
  assert.deepEqual(constantsIn(validatorSource('market')), DEFAULT_VALIDATOR_PARAMETERS);
  const { SUPPLY: _, ...fewer } = DEFAULT_VALIDATOR_PARAMETERS;
  assert.throws(() => withParameters(validatorSource('market'), fewer), /the constants/);
});

const CHECKED_BY: Readonly<Record<string, readonly ValidatorName[]>> = {
  SUPPLY: ['launchPolicy', 'tokenPolicy', 'curvePool'],
  KEEP: ['launchPolicy', 'ammPool'],
  LP_FEE: ['curvePool'],
  LAUNCH_FEE_LEAST: ['launchPolicy'],
  LAUNCH_FEE_FIXED: ['launchPolicy'],
  LAUNCH_FEE_PERCENT: ['launchPolicy'],
  OVERSHOOT_PER_1000: ['curvePool'],
  OVERSHOOT: ['curvePool'],
  REFUND_FEE: ['order'],
  PERCENT_FEE: ['curvePool'],
  CREATOR_FEE: ['ammPool'],
  PLATFORM_FEE: ['ammPool'],
};

test('each parameter is in the code of the validators that check it', () => {
  assert.deepEqual(Object.keys(CHECKED_BY), Object.keys(DEFAULT_VALIDATOR_PARAMETERS));
  for (const [name, number] of Object.entries(DEFAULT_VALIDATOR_PARAMETERS)) {
    const parameters = { ...DEFAULT_VALIDATOR_PARAMETERS, [name]: number + 1n };
    for (const validator of CHECKED_BY[name] ?? []) {
      const { hash } = compile(validator, 'release', parameters);
      assert.notEqual(hash, VALIDATORS[validator].hash, `${name} in ${validator}`);
    }
  }
});

test('the deployments in config/ name what their own parameters compile to', () => {
  for (const network of ['preprod', 'preview'] as const) {
    const path = join(import.meta.dirname, `../../../config/${network}.json`);
    const file = JSON.parse(readFileSync(path, 'utf8'));
    const { curve, fees } = parseTermsOf(file, path);
    const parameters = validatorParameters(curve, fees);
    for (const name of ['curvePool', 'order', 'ammPool', 'vesting'] as const) {
      assert.equal(file.scripts[name].hash, compile(name, 'release', parameters).hash, name);
    }
    const template = compile('tokenPolicy', 'release', parameters).cborHex;
    assert.equal(file.tokenPolicyTemplate, applyDoubleCborEncoding(template));
  }
});

function parseTermsOf({ curve, thresholdLovelace, fees }: Record<string, unknown>, path: string) {
  return parseTerms(JSON.stringify({ curve, thresholdLovelace, fees }), path);
}

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
