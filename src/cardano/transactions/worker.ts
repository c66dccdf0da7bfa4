/** A thread of the builder: a plan in, bytes or a refusal out. It holds no key and no state. */
import { workerData } from 'node:worker_threads';
import type { LedgerTerms } from '../ledger/parameters.ts';
import { evaluate } from '../ledger/scalus.ts';
import { assemble } from './assemble.ts';
import type { TransactionPlan } from './plan.ts';
import type { BuildOutcome } from './port.ts';

// trust: handed over by builderThreads.ts
const terms = workerData as LedgerTerms;

/** null requests only that this file is loaded. */
export default function build(plan: TransactionPlan | null): BuildOutcome | null {
  if (plan === null) return null;
  return assemble(plan, {
    parameters: terms.parameters,
    evaluate: (transaction, utxos) => evaluate(transaction, utxos, terms),
  });
}
