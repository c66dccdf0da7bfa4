/**
 * The only import of scalus: the judge of transactions (phase 1 and 2) and the evaluator of
 * scripts. It takes some 25 MiB in each thread, so the main thread never loads it.
 *
 * Scalus throws on some malformed input and returns a verdict on the rest; both leave here as
 * values. `checks.ts` adds the checks that the verdict lacks, and `refusals.ts` reads its messages.
 */
import { createRequire } from 'node:module';
import type * as scalus from 'scalus';
import { assert } from '../../engine/runtime/assert.ts';
import { encodeUtxoMap } from '../codec/encode.ts';
import { fromHex } from '../codec/hex.ts';
import type { Utxo } from '../codec/output.ts';
import type { SlotConfig } from '../codec/slots.ts';
import type { LedgerTerms, ProtocolParameters } from './parameters.ts';
import { plainText } from './refusals.ts';

// trust: the package is CommonJS; its declaration file describes its exports
const library = createRequire(import.meta.url)('scalus') as typeof scalus;

export interface Rejection {
  /** In Scalus's words. */
  readonly error: string;
  /** Traces of the script that failed. */
  readonly logs: readonly string[];
}

/**
 * Judges a transaction on `utxos`: all its inputs, references and collateral, and nothing else.
 * `id` is ours: Scalus must have hashed the same body. null: nothing to object.
 *
 * A new state for each transaction costs no more than a copy of a kept state (3 ms either way), and
 * then no state has to be kept, copied or rebuilt.
 */
export function judge(
  { bytes, id }: { readonly bytes: Uint8Array; readonly id: string },
  utxos: readonly Utxo[],
  { parameters, slots }: LedgerTerms,
  slot: number,
): Rejection | null {
  installed.install(parameters);
  try {
    const emulator = new library.Emulator(encodeUtxoMap(utxos), slotConfig(slots));
    emulator.setSlot(slot);
    const result = emulator.submitTx(bytes);
    if (!result.isSuccess) return { error: result.error ?? '', logs: result.logs ?? [] };
    if (result.txHash === id) return null;
    return { error: `one body with two ids, ${id} and ${result.txHash}`, logs: [] };
  } catch (error) {
    return { error: String(error), logs: logsOf(error) };
  }
}

interface ScriptBudget {
  /** As in `PURPOSES` of transaction.ts. */
  readonly purpose: string;
  readonly index: number;
  readonly memory: bigint;
  readonly cpu: bigint;
}

export type Evaluation =
  | { readonly outcome: 'succeeded'; readonly budgets: readonly ScriptBudget[] }
  | { readonly outcome: 'failed'; readonly message: string; readonly logs: readonly string[] };

const PURPOSE_OF: Readonly<Record<string, string>> = {
  Spend: 'spend',
  Mint: 'mint',
  Cert: 'certificate',
  Reward: 'reward',
  Voting: 'vote',
  Proposing: 'propose',
};

/** Runs every script of a transaction on `utxos`, which hold all its inputs and references. */
export function evaluate(
  bytes: Uint8Array,
  utxos: readonly Utxo[],
  { parameters, slots }: LedgerTerms,
): Evaluation {
  installed.install(parameters);
  try {
    const models = parameters.costModels.map((model) => model.map(Number));
    const map = encodeUtxoMap(utxos);
    const found = library.Scalus.evalPlutusScripts(bytes, map, slotConfig(slots), models);
    const budgets = found.map(({ tag, index, budget }) => ({
      purpose: PURPOSE_OF[tag] ?? tag.toLowerCase(),
      index,
      memory: BigInt(budget.memory),
      cpu: BigInt(budget.steps),
    }));
    return { outcome: 'succeeded', budgets };
  } catch (error) {
    return { outcome: 'failed', message: messageOf(error), logs: logsOf(error) };
  }
}

function slotConfig({ zeroTimeMs, zeroSlot, slotLengthMs }: SlotConfig): scalus.SlotConfig {
  return new library.SlotConfig(zeroTimeMs, zeroSlot, slotLengthMs);
}

/** When a script fails, Scalus throws an object with `message` and `logs`, not an Error. */
function messageOf(error: unknown): string {
  const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
  return plainText(String(hasMessage ? error.message : error));
}

function logsOf(error: unknown): string[] {
  if (typeof error !== 'object' || error === null || !('logs' in error)) return [];
  return Array.isArray(error.logs) ? error.logs.map(String) : [];
}

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
  maxBlockBytes: ['zx', 'yx'],
  maxCollateralInputs: ['yu', 'xu'],
  maxBytes: ['Au', 'zu'],
  maxValueBytes: ['Cu', 'Bu'],
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

/**
 * Makes Scalus judge by given protocol parameters. Its package for JavaScript takes cost models in
 * one call and no other parameter: all its emulators and evaluations read one object, in which
 * mainnet's parameters of 2025 are built in. That object is private, and its members have the names
 * that a minifier gave them in release 0.17.0; this code writes to those names, and then compares
 * the result with Scalus' printed form. So another release fails at once, and never judges by other
 * parameters than it was given (decision 0059).
 */
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

  /** From here on Scalus judges and evaluates every transaction by these parameters. */
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
    writeUnits(held[UNITS], parameters.maxMemory, parameters.maxCpu);
    writeUnits(held[BLOCK_UNITS], parameters.maxBlockMemory, parameters.maxBlockCpu);
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
  // trust: an object has members; the values are compared with Scalus' printed form
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
  const inBlock = `${parameters.maxBlockMemory},${parameters.maxBlockCpu}`;
  const fragments = [
    `ProtocolParams(${parameters.collateralPercent},`,
    `,CostModels(Map(${models.join(', ')})),`,
    `,ExUnitPrices(${price(memoryPrice)},${price(cpuPrice)}),`,
    `,${parameters.maxBlockBytes},ExUnits(${inBlock}),`,
    `,${parameters.maxCollateralInputs},ExUnits(${parameters.maxMemory},${parameters.maxCpu}),` +
      `${parameters.maxBytes},${parameters.maxValueBytes},${parameters.referenceByteLovelace},`,
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

const installed = new ScalusParameters(library, library.SlotConfig.mainnet);
