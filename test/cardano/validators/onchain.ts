/**
 * Runs one function of market.hl alone: a throw-away validator asks whether its result is the
 * expected one, and Scalus, which judges transactions too, answers.
 */
import { applyDoubleCborEncoding, Constr, type Data } from '@lucid-evolution/lucid';
import scalus from 'scalus';
import type { Build, ValidatorParameters } from '../../../src/cardano/validators/compile.ts';
import { compileText } from './compile.ts';
import { applied } from './world.ts';

/** Is `expected` the function's result for these integers? */
type OnChain = (args: readonly bigint[], expected: bigint | boolean) => boolean;

export function onChain(
  name: string,
  arity: number,
  result: 'Int' | 'Bool',
  build: Build,
  parameters?: ValidatorParameters,
): OnChain {
  const names = Array.from({ length: arity }, (_, i) => `a${i}`);
  const expected = result === 'Int' ? 'expected: Whole::Whole' : 'expected: Bool';
  const text = `spending check
import { ${name} } from market
enum Whole { Whole { high: Int middle: Int low: Int } }
func whole(of: Whole::Whole) -> Int { (of.high * ${LIMB} + of.middle) * ${LIMB} + of.low }
enum Case { Case { ${names.map((arg) => `${arg}: Whole::Whole`).join(' ')} ${expected} } }
func main(of: Case::Case, _: Data) -> () {
  result: ${result} = ${name}(${names.map((arg) => `whole(of.${arg})`).join(', ')});
  assert(result == ${result === 'Int' ? 'whole(of.expected)' : 'of.expected'}, "differs")
}`;
  const script = compiled(text, build, parameters);
  return (args, wanted) => {
    const last = typeof wanted === 'bigint' ? limbs(wanted) : new Constr<Data>(wanted ? 1 : 0, []);
    return accepts(script, new Constr<Data>(0, [...args.map(limbs), last]));
  };
}

/** Scalus reads data from JSON as doubles, so whole numbers travel in three parts. */
const LIMB = 1n << 50n;
function limbs(value: bigint): Constr<Data> {
  return new Constr<Data>(0, [value / LIMB / LIMB, (value / LIMB) % LIMB, value % LIMB]);
}

/** Double CBOR. */
export function compiled(text: string, build: Build, parameters?: ValidatorParameters): string {
  return applyDoubleCborEncoding(compileText(text, build, parameters).cborHex);
}

export function accepts(script: string, datum: Data): boolean {
  const { script: whole } = [datum, 0n, 0n].reduce(applied, { type: 'PlutusV2', script });
  return scalus.Scalus.evaluateScript(whole).isSuccess;
}
