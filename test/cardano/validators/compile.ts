/**
 * From Helios to the blueprint. The only import of the compiler: what runs reads `plutus.json`.
 *
 *   node test/cardano/validators/compile.ts --write
 *
 * `recompile.slow.test.ts` compares byte for byte and fails when a blueprint differs from its
 * sources.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Program } from '@helios-lang/compiler';
import { VALIDATOR_NAMES, type ValidatorName } from '../../../src/cardano/validators/deploy.ts';
import { DEFINITIONS, INTERFACES } from './schemas.ts';

const FOLDER = join(import.meta.dirname, '../../../src/cardano/validators');
export const BLUEPRINT_PATH = join(FOLDER, 'plutus.json');

/** `debug` traces which check failed; only `release` is ever deployed. */
export type Build = 'release' | 'debug';

export interface Compiled {
  /** One layer of CBOR around the flat bytes, as CIP-57 has it. */
  readonly cborHex: string;
  readonly hash: string;
}

function source(name: string): string {
  return readFileSync(join(FOLDER, `${name}.hl`), 'utf8');
}

export function compile(name: ValidatorName, build: Build): Compiled {
  return compileText(source(name), build);
}

/** Compiles any program; it may import from `market`. */
export function compileText(text: string, build: Build): Compiled {
  const program = new Program(text, { isTestnet: true, moduleSources: [source('market')] });
  const script = program.compile({ optimize: build === 'release', withAlt: false });
  const hex = (bytes: readonly number[]) => Buffer.from(bytes).toString('hex');
  return { cborHex: unwrapped(hex(script.toCbor())), hash: hex(script.hash()) };
}

/** The compiler gives two layers of CBOR; the head of byte strings of up to 64 KiB goes. */
function unwrapped(twice: string): string {
  const head = /^(?:5[0-7]|58..|59....)/.exec(twice)?.[0] ?? '';
  return twice.slice(head.length);
}

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

if (process.argv[1] === import.meta.filename && process.argv.includes('--write')) {
  writeFileSync(BLUEPRINT_PATH, blueprintText());
}
