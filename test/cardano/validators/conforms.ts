/**
 * Checks for every legal action that the schemas of the blueprint match the data that validators
 * read.
 */
import assert from 'node:assert/strict';
import {
  Constr,
  Data,
  getAddressDetails,
  mintingPolicyToId,
  type Script,
} from '@lucid-evolution/lucid';
import { VALIDATOR_NAMES, type ValidatorName } from '../../../src/cardano/validators/deploy.ts';
import type { Plan } from './judge.ts';
import { DEFINITIONS, INTERFACES, type Schema } from './schemas.ts';
import type { World } from './world.ts';

export function conforms(schema: Schema, data: Data): boolean {
  const { $ref, anyOf, dataType, index, fields, items } = schema;
  if (typeof $ref === 'string') {
    const definition = DEFINITIONS[$ref.replace('#/definitions/', '')];
    assert.ok(definition, $ref);
    return conforms(definition, data);
  }
  if (Array.isArray(anyOf)) return anyOf.some((one: Schema) => conforms(one, data));
  if (dataType === 'integer') return typeof data === 'bigint';
  if (dataType === 'bytes') return typeof data === 'string';
  if (dataType === 'list') {
    // trust: our own schemas.ts
    return Array.isArray(data) && data.every((one) => conforms(items as Schema, one));
  }
  assert.equal(dataType, 'constructor');
  if (!(data instanceof Constr) || data.index !== index || !Array.isArray(fields)) return false;
  if (fields.length !== data.fields.length) return false;
  return fields.every((field: Schema, i) => conforms(field, data.fields[i] ?? ''));
}

/** Whether `data` matches a blueprint's argument `{ title, schema }`. */
export function conformsTo(argument: Schema | undefined, data: Data): boolean {
  // trust: our own schemas.ts, where every argument has its schema
  return conforms((argument as { schema: Schema }).schema, data);
}

export function conformsToBlueprint(world: World, { inputs, mints = [] }: Plan): void {
  for (const { utxo, redeemer } of inputs) {
    const name = redeemer === undefined ? undefined : nameOf(world, utxo.address);
    if (name === undefined || redeemer === undefined) continue;
    assert.ok(conformsTo(INTERFACES[name].redeemer, redeemer), `redeemer of ${name}`);
    const datum = Data.from(utxo.datum ?? '');
    assert.ok(conformsTo(INTERFACES[name].datum, datum), `datum of ${name}`);
  }
  for (const { policy, redeemer } of mints) {
    if (redeemer === undefined) continue;
    const name = policyName(world, policy);
    assert.ok(conformsTo(INTERFACES[name].redeemer, redeemer), `redeemer of ${name}`);
  }
}

const nameOf = (world: World, address: string): ValidatorName | undefined =>
  VALIDATOR_NAMES.find(
    (name) => world.hash(name) === getAddressDetails(address).paymentCredential?.hash,
  );

function policyName(world: World, policy: Script): ValidatorName {
  const id = mintingPolicyToId(policy);
  if (id === world.settingsId) return 'settingsPolicy';
  return id === world.policyId ? 'launchPolicy' : 'tokenPolicy';
}
