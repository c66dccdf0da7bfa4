/**
 * The only import of scalus: the judge of transactions (phase 1 and 2) and the evaluator of
 * scripts. It takes some 25 MiB in each thread, so the main thread never loads it.
 *
 * Scalus throws on some malformed input and returns a verdict on the rest; both leave here as
 * values. What its verdict lacks is checked in `checks.ts`, its words are read in `refusals.ts`.
 */
import { createRequire } from 'node:module';
import type * as scalus from 'scalus';
import { encodeUtxoMap } from '../codec/encode.ts';
import type { Utxo } from '../codec/output.ts';
import type { SlotConfig } from '../codec/slots.ts';
import type { LedgerTerms } from './parameters.ts';
import { plainText } from './refusals.ts';
import { ScalusParameters } from './scalusParameters.ts';

// trust: the package is CommonJS; its declaration file describes what it exports
const library = createRequire(import.meta.url)('scalus') as typeof scalus;

const installed = new ScalusParameters(library, library.SlotConfig.mainnet);

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
 * A state of its own for each costs no more than a copy of one that is kept (3 ms either way), and
 * nothing then has to be kept, copied or rebuilt.
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

/** What Scalus throws where a script fails is an object with `message` and `logs`, no Error. */
function messageOf(error: unknown): string {
  const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
  return plainText(String(hasMessage ? error.message : error));
}

function logsOf(error: unknown): string[] {
  if (typeof error !== 'object' || error === null || !('logs' in error)) return [];
  return Array.isArray(error.logs) ? error.logs.map(String) : [];
}
