/**
 * Makes Scalus judge by given protocol parameters. Its package for JavaScript takes cost models in
 * one call and no other parameter: all its emulators and evaluations read one object, in which
 * mainnet's parameters of 2025 are built in. That object is private, and its members have the names
 * that a minifier gave them in release 0.17.0; they are written here, and what was written is then
 * compared with how Scalus prints it. So another release fails at once, and never judges by other
 * parameters than it was given (decision 0059).
 */
import { assert } from '../../engine/runtime/assert.ts';
import { fromHex } from '../codec/hex.ts';
import type { ProtocolParameters } from './parameters.ts';

type Members = Record<string | symbol, unknown>;

interface ScalusLibrary<Slots> {
  readonly Emulator: new (utxos: Uint8Array, slots: Slots) => object;
  readonly Scalus: {
    evalPlutusScripts(
      tx: Uint8Array,
      utxos: Uint8Array,
      slots: Slots,
      costModels: number[][],
    ): unknown;
  };
}

/** By member: the low half of a 64-bit integer and the high one. */
const INTEGERS = {
  collateralPercent: ['vu', 'uu'],
  mostBlockBytes: ['zx', 'yx'],
  mostCollateralInputs: ['yu', 'xu'],
  mostBytes: ['Au', 'zu'],
  mostValueBytes: ['Cu', 'Bu'],
  referenceByteLovelace: ['Eu', 'Du'],
  feeFixedLovelace: ['Ku', 'Ju'],
  feePerByteLovelace: ['Mu', 'Lu'],
  outputByteLovelace: ['Ou', 'Nu'],
} as const satisfies Partial<Record<keyof ProtocolParameters, readonly [string, string]>>;
const COST_MODELS = 'Cq';
const COSTS_BY_LANGUAGE = 'Pi';
const PRICES = 'Dq';
const BLOCK_UNITS = 'wu';
const UNITS = 'Eq';
const VERSION = '$k';

/** A transaction that spends one output, and an empty ledger. */
const TRANSACTION = fromHex(`84a30081825820${'00'.repeat(32)}0001800200a0f5f6`);
const NO_OUTPUTS = Uint8Array.of(0xa0);

export class ScalusParameters<Slots> {
  readonly #library: ScalusLibrary<Slots>;
  readonly #slots: Slots;
  readonly #held: Members;
  #installed: ProtocolParameters | null = null;

  /** `slots`: any slot configuration of Scalus. */
  constructor(library: ScalusLibrary<Slots>, slots: Slots) {
    this.#library = library;
    this.#slots = slots;
    this.#held = heldBy(new library.Emulator(NO_OUTPUTS, slots));
  }

  /** All that Scalus judges and evaluates from here on is judged by these. */
  install(parameters: ProtocolParameters): void {
    if (parameters === this.#installed) return;
    this.#installed = null;
    const held = this.#held;
    for (const [name, members] of Object.entries(INTEGERS)) {
      // trust: the names are keys of the table
      writeInteger(held, members, parameters[name as keyof typeof INTEGERS]);
    }
    const { memoryPrice, cpuPrice, version } = parameters;
    const prices = membersOf(held[PRICES]);
    for (const [member, { numerator, denominator }] of [
      ['Aq', memoryPrice],
      ['Bq', cpuPrice],
    ] as const) {
      const price = membersOf(prices[member]);
      writeInteger(price, ['yh', 'xh'], numerator);
      writeInteger(price, ['zg', 'yg'], denominator);
    }
    writeUnits(held[UNITS], parameters.mostMemory, parameters.mostCpu);
    writeUnits(held[BLOCK_UNITS], parameters.mostBlockMemory, parameters.mostBlockCpu);
    Object.assign(membersOf(held[VERSION]), { Qi: version.major, No: version.minor });
    held[COST_MODELS] = this.#costModels(parameters.costModels);
    checkPrinted(String(held), parameters);
    this.#installed = parameters;
  }

  /** As Scalus makes them of numbers: seen while it evaluates a transaction without scripts. */
  #costModels(models: ProtocolParameters['costModels']): unknown {
    const prototype: unknown = Object.getPrototypeOf(this.#held[COST_MODELS]);
    assert(typeof prototype === 'object' && prototype !== null, OTHER_RELEASE);
    let made: unknown = null;
    Object.defineProperty(prototype, COSTS_BY_LANGUAGE, {
      configurable: true,
      set(this: object, value: unknown) {
        Object.defineProperty(this, COSTS_BY_LANGUAGE, { value, writable: true, enumerable: true });
        made = this;
      },
    });
    const numbers = models.map((model) => model.map(Number));
    try {
      this.#library.Scalus.evalPlutusScripts(TRANSACTION, NO_OUTPUTS, this.#slots, numbers);
    } catch {
      // Its input is in no ledger; the cost models are read before that is seen.
    } finally {
      Reflect.deleteProperty(prototype, COSTS_BY_LANGUAGE);
    }
    return made;
  }
}

const OTHER_RELEASE = 'scalus is of the release whose parameters can be set';

function heldBy(emulator: object): Members {
  const state = Object.getOwnPropertySymbols(emulator)
    .map((symbol): unknown => Reflect.get(emulator, symbol))
    .find((value) => value instanceof Object && Object.hasOwn(value, 'Rq'));
  const environment = membersOf(membersOf(membersOf(state).Rq).$d);
  return membersOf(environment.dg);
}

function membersOf(value: unknown): Members {
  assert(typeof value === 'object' && value !== null, OTHER_RELEASE);
  // trust: an object has members; what they are is compared with how Scalus prints them
  return value as Members;
}

function writeInteger(
  target: Members,
  [low, high]: readonly [string, string],
  value: bigint | number,
): void {
  assert(typeof target[low] === 'number' && typeof target[high] === 'number', OTHER_RELEASE);
  target[low] = Number(BigInt.asIntN(32, BigInt(value)));
  target[high] = Number(BigInt.asIntN(32, BigInt(value) >> 32n));
}

function writeUnits(units: unknown, memory: bigint, cpu: bigint): void {
  writeInteger(membersOf(units), ['Mc', 'Fc'], memory);
  writeInteger(membersOf(units), ['cd', 'Uc'], cpu);
}

/** All values that were written, in the order in which Scalus prints them. */
function checkPrinted(printed: string, parameters: ProtocolParameters): void {
  const { memoryPrice, cpuPrice, costModels, version } = parameters;
  const models = costModels.map((model, at) => `${at} -> Vector(${model.map(Number).join(', ')})`);
  const price = (of: typeof cpuPrice) => `NonNegativeInterval(${of.numerator},${of.denominator})`;
  const inBlock = `${parameters.mostBlockMemory},${parameters.mostBlockCpu}`;
  const fragments = [
    `ProtocolParams(${parameters.collateralPercent},`,
    `,CostModels(Map(${models.join(', ')})),`,
    `,ExUnitPrices(${price(memoryPrice)},${price(cpuPrice)}),`,
    `,${parameters.mostBlockBytes},ExUnits(${inBlock}),`,
    `,${parameters.mostCollateralInputs},ExUnits(${parameters.mostMemory},${parameters.mostCpu}),` +
      `${parameters.mostBytes},${parameters.mostValueBytes},${parameters.referenceByteLovelace},`,
    `,ProtocolVersion(${version.major},${version.minor}),`,
    `,${parameters.feeFixedLovelace},${parameters.feePerByteLovelace},` +
      `${parameters.outputByteLovelace})`,
  ];
  let from = 0;
  for (const fragment of fragments) {
    const found = printed.indexOf(fragment, from);
    assert(found >= 0, `${OTHER_RELEASE}: it does not print ${fragment.slice(0, 80)}`);
    // The comma at its end may begin the next one.
    from = found + fragment.length - 1;
  }
}
