/**
 * Compiles Helios to scripts, with the numbers of a deployment: the parts of its curve and fees
 * that the chain itself checks. A deployment with other numbers has other scripts, and so other
 * hashes.
 *
 * A server runs the scripts in `plutus.json` or on the chain and never compiles: only `deploy` with
 * changed parameters, its `--check`, and the tests need the compiler, a development dependency that
 * only this file imports.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CurveParameters, DEFAULT_CURVE } from '../../engine/market/curve.ts';
import { DEFAULT_FEES, type FeeParameters } from '../../engine/market/fees.ts';
import type { Deployment } from '../datums/deployment.ts';

type Terms = Pick<Deployment, 'curve' | 'fees'>;

/** By the name of the constant in `market.hl`, in its order. */
const CONSTANTS = {
  SUPPLY: ({ curve }: Terms) => curve.supply,
  KEEP: ({ fees }: Terms) => fees.poolKeepLovelace,
  LP_FEE: ({ fees }: Terms) => fees.lpFeePer10k,
  LAUNCH_FEE_LEAST: ({ fees }: Terms) => fees.launchFeeLeastLovelace,
  LAUNCH_FEE_FIXED: ({ fees }: Terms) => fees.launchFeeFixedLovelace,
  LAUNCH_FEE_PERCENT: ({ fees }: Terms) => fees.percentFee,
  OVERSHOOT_PER_1000: ({ fees }: Terms) => fees.overshootPer1000,
  OVERSHOOT: ({ fees }: Terms) => fees.overshootLovelace,
  REFUND_FEE: ({ fees }: Terms) => fees.refundFeeLovelace,
  PERCENT_FEE: ({ fees }: Terms) => fees.percentFee,
  CREATOR_FEE: ({ fees }: Terms) => fees.creatorFeePer10k,
  PLATFORM_FEE: ({ fees }: Terms) => fees.platformFeePer10k,
} as const;

/** By the constant's name. */
export type ValidatorParameters = Readonly<Record<string, bigint>>;

/** Also takes somebody else's terms, of which the chain may check nothing. */
export function validatorParameters(
  curve: CurveParameters,
  fees: FeeParameters,
): ValidatorParameters {
  const terms = { curve, fees };
  return Object.fromEntries(Object.entries(CONSTANTS).map(([name, of]) => [name, of(terms)]));
}

/** The numbers that `plutus.json` is compiled with. */
export const DEFAULT_VALIDATOR_PARAMETERS = validatorParameters(DEFAULT_CURVE, DEFAULT_FEES);

export function sameParameters(a: ValidatorParameters, b: ValidatorParameters): boolean {
  return Object.keys(CONSTANTS).every((name) => a[name] === b[name]);
}

const CONSTANT = /^const (\w+): Int = (\d+)/gm;

/** The constants that a source has. */
export function constantsIn(source: string): ValidatorParameters {
  const found = [...source.matchAll(CONSTANT)].map(([, name = '', number = '0']) => {
    return [name, BigInt(number)] as const;
  });
  return Object.fromEntries(found);
}

/** The source with the numbers of `parameters`. Throws where the two name different constants. */
export function withParameters(source: string, parameters: ValidatorParameters): string {
  const names = Object.keys(constantsIn(source)).sort().join(', ');
  const given = Object.keys(parameters).sort().join(', ');
  if (names !== given) throw new Error(`the source has the constants ${names}, not ${given}`);
  return source.replaceAll(CONSTANT, (_, name: string) => {
    return `const ${name}: Int = ${parameters[name]}`;
  });
}

export interface Validator {
  /** PlutusV2, one layer of CBOR around the flat bytes; Lucid wants a second layer. */
  readonly cborHex: string;
  /**
   * Hash of the code without parameters: the policies still need their parameter, which changes the
   * hash.
   */
  readonly hash: string;
}

/** `debug` traces which check failed; only `release` is ever deployed. */
export type Build = 'release' | 'debug';

/** The part of the compiler that we use; the compiler ships without types. */
interface Helios {
  readonly Program: new (
    source: string,
    options: { readonly isTestnet: boolean; readonly moduleSources: readonly string[] },
  ) => {
    /** `optimize: false` keeps what `assert` has to say, as traces. */
    compile(options: { readonly optimize: boolean; readonly withAlt: boolean }): {
      toCbor(): number[];
      hash(): number[];
    };
  };
}

const PACKAGE: string = '@helios-lang/compiler';

interface Compiler {
  compile(name: string, build: Build, parameters?: ValidatorParameters): Validator;
  /** Any program; it may import from `market`. */
  compileText(text: string, build: Build, parameters?: ValidatorParameters): Validator;
}

/** Throws with a remedy where the compiler is not installed. */
export async function loadCompiler(): Promise<Compiler> {
  // trust: the package is pinned, and its output is compared byte for byte
  const { Program }: Helios = await import(PACKAGE).catch((error: unknown) => {
    const remedy = 'install development dependencies here: npm ci, without --omit=dev';
    throw new Error(`the compiler of the validators is missing; ${remedy}`, { cause: error });
  });
  const compileText: Compiler['compileText'] = (
    text,
    build,
    parameters = DEFAULT_VALIDATOR_PARAMETERS,
  ) => {
    const market = withParameters(validatorSource('market'), parameters);
    const program = new Program(text, { isTestnet: true, moduleSources: [market] });
    const script = program.compile({ optimize: build === 'release', withAlt: false });
    return { cborHex: unwrapped(hexOf(script.toCbor())), hash: hexOf(script.hash()) };
  };
  return {
    compileText,
    compile: (name, build, parameters) => compileText(validatorSource(name), build, parameters),
  };
}

export function validatorSource(name: string): string {
  return readFileSync(join(import.meta.dirname, `${name}.hl`), 'utf8');
}

function hexOf(bytes: readonly number[]): string {
  return Buffer.from(bytes).toString('hex');
}

/** The compiler gives two layers of CBOR; the head of byte strings of up to 64 KiB goes. */
function unwrapped(twice: string): string {
  const head = /^(?:5[0-7]|58..|59....)/.exec(twice)?.[0] ?? '';
  return twice.slice(head.length);
}
