/**
 * The compiled validators, as committed in `plutus.json` (CIP-57). No compiler at run time: a test
 * compiles the .hl files again and compares byte for byte.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert } from '../../engine/runtime/assert.ts';

export const VALIDATOR_NAMES = [
  'launchPolicy',
  'tokenPolicy',
  'curvePool',
  'order',
  'ammPool',
  'vesting',
] as const;
export type ValidatorName = (typeof VALIDATOR_NAMES)[number];

interface Validator {
  /** PlutusV2, one layer of CBOR around the flat bytes; Lucid wants a second layer. */
  readonly cborHex: string;
  /** Of the code as it stands: the policies still need their parameter, which changes the hash. */
  readonly hash: string;
}

interface Blueprint {
  readonly validators: readonly {
    readonly title: string;
    readonly compiledCode: string;
    readonly hash: string;
  }[];
}

function read(): Record<ValidatorName, Validator> {
  const path = join(import.meta.dirname, 'plutus.json');
  // trust: our own committed file, compared with its sources by a test
  const { validators } = JSON.parse(readFileSync(path, 'utf8')) as Blueprint;
  const find = (name: ValidatorName): Validator => {
    const found = validators.find(({ title }) => title === name);
    assert(found, `plutus.json holds ${name}`);
    return { cborHex: found.compiledCode, hash: found.hash };
  };
  return {
    launchPolicy: find('launchPolicy'),
    tokenPolicy: find('tokenPolicy'),
    curvePool: find('curvePool'),
    order: find('order'),
    ammPool: find('ammPool'),
    vesting: find('vesting'),
  };
}

export const VALIDATORS: Readonly<Record<ValidatorName, Validator>> = read();
