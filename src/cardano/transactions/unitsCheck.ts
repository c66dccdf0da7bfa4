/**
 * Compares our units with the node's for the first transaction of each kind by these parameters. A
 * kind whose units differ is compared each time, and the larger units are used.
 *
 * A kind is which scripts run and with which constructors of their redeemers, each once: batches of
 * any number of orders are one.
 */
import { parseAddress } from '../codec/address.ts';
import { Constr, decodePlutusHex } from '../codec/plutusData.ts';
import { decodeTransaction, type Redeemer } from '../codec/transaction.ts';
import type { ProtocolParameters } from '../ledger/parameters.ts';
import { type AskEvaluator, assembleAsking } from './assemble.ts';
import type { TransactionPlan } from './plan.ts';
import type { BuildOutcome, BuiltTransaction } from './port.ts';

export interface UnitsObserver {
  /** `ours` and `nodes`: memory/CPU of each script, for a person. */
  unitsDiffer(kind: string, ours: string, nodes: string): void;
}

type Budget = Pick<Redeemer, 'index' | 'memory' | 'cpu'> & { readonly purpose: string };

/** A deployment has some twenty kinds; more are not remembered, and compared each time. */
const MAX_KINDS = 200;

export class UnitsCheck {
  readonly #ask: AskEvaluator;
  readonly #parameters: ProtocolParameters;
  readonly #observer: UnitsObserver;
  readonly #equal = new Set<string>();

  constructor(ask: AskEvaluator, parameters: ProtocolParameters, observer: UnitsObserver) {
    this.#ask = ask;
    this.#parameters = parameters;
    this.#observer = observer;
  }

  /** The built transaction, or a rebuilt one with the node's units if a unit is larger. */
  async checked(plan: TransactionPlan, built: BuiltTransaction): Promise<BuildOutcome> {
    const kind = kindOf(plan);
    if (built.scriptsRanIn === null || this.#equal.has(kind)) return built;
    const utxos = [...built.inputs, ...plan.references];
    // A node that is away is asked for the next one.
    const found = await this.#ask(built.bytes, utxos).catch(() => null);
    if (found === null) return built;
    const ours = decodeTransaction(built.bytes).redeemers;
    if (found.outcome === 'failed') {
      this.#observer.unitsDiffer(kind, textOf(ours), `it fails: ${found.message}`);
      return built;
    }
    const larger = largerOf(ours, found.budgets);
    if (textOf(ours) === textOf(found.budgets)) {
      if (this.#equal.size < MAX_KINDS) this.#equal.add(kind);
      return built;
    }
    this.#observer.unitsDiffer(kind, textOf(ours), textOf(found.budgets));
    if (textOf(larger) === textOf(ours)) return built;
    return assembleAsking(plan, this.#parameters, async (bytes, held) => {
      const nodes = await this.#ask(bytes, held);
      if (nodes.outcome === 'failed') return nodes;
      return { ...nodes, budgets: largerOf(nodes.budgets, ours) };
    });
  }
}

/** The first, with the larger units of both. */
function largerOf(first: readonly Budget[], second: readonly Budget[]): Budget[] {
  return first.map((budget) => {
    const { purpose, index, memory, cpu } = budget;
    const other = second.find((each) => each.purpose === purpose && each.index === index);
    return { ...budget, memory: max(memory, other?.memory), cpu: max(cpu, other?.cpu) };
  });
}

function max(a: bigint, b = 0n): bigint {
  return a > b ? a : b;
}

function textOf(budgets: readonly Budget[]): string {
  const texts = budgets.map((each) => `${each.purpose} ${each.index}: ${each.memory}/${each.cpu}`);
  return texts.sort().join(', ');
}

function kindOf({ inputs, mints }: TransactionPlan): string {
  const spends = inputs.flatMap(({ utxo, redeemer }) => {
    if (redeemer === null) return [];
    const { hash = '' } = parseAddress(utxo.output.address)?.payment ?? {};
    return [`spend ${hash.slice(0, 8)}#${constructorOf(redeemer)}`];
  });
  // Policies of tokens have a hash of their own each.
  const made = mints.map(({ redeemer, script }) => {
    return `mint ${script === null ? 'by reference' : 'attached'}#${constructorOf(redeemer)}`;
  });
  return [...new Set([...spends, ...made])].sort().join(', ');
}

function constructorOf(redeemer: string): string {
  const data = decodePlutusHex(redeemer);
  return data instanceof Constr ? String(data.index) : 'data';
}
