/**
 * The blueprint of the validators as their sources compile to it. `scripts/writeValidators.ts`
 * writes it; `recompile.slow.test.ts` compares byte for byte.
 */
import { join } from 'node:path';
import { loadCompiler } from '../../../src/cardano/validators/compile.ts';
import { VALIDATOR_NAMES } from '../../../src/cardano/validators/deploy.ts';
import { DEFINITIONS, INTERFACES } from './schemas.ts';

export const BLUEPRINT_PATH = join(
  import.meta.dirname,
  '../../../src/cardano/validators/plutus.json',
);

export const { compile, compileText } = await loadCompiler();

export function blueprintText(): string {
  const validators = VALIDATOR_NAMES.map((name) => {
    const { cborHex, hash } = compile(name, 'release');
    return { title: name, ...INTERFACES[name], compiledCode: cborHex, hash };
  });
  const preamble = {
    title: 'upcurve',
    description: 'A bonding curve, the orders on it, what it graduates to, and locks.',
    version: '1.0.0',
    plutusVersion: 'v2',
    compiler: { name: 'helios', version: '0.17.32' },
    license: 'Apache-2.0',
  };
  return `${JSON.stringify({ preamble, validators, definitions: DEFINITIONS }, null, 2)}\n`;
}
