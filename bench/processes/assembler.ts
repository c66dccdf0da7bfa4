/** The work of the builder's thread, without thread and pool: the assembler in a loop. */

import type { SlotConfig } from '../../src/cardano/codec/slots.ts';
import { evaluate as evaluateWith } from '../../src/cardano/ledger/scalus.ts';
import { assemble, type Evaluate } from '../../src/cardano/transactions/assemble.ts';
import type { TransactionPlan } from '../../src/cardano/transactions/plan.ts';
import { PARAMETERS } from '../../test/support/parameters.ts';
import { offer } from '../support/offers.ts';
import { lasting, measureWork } from '../support/work.ts';

export type Assembler = typeof offers;

export interface AssemblerTask {
  readonly plan: TransactionPlan;
  readonly slots: SlotConfig;
  readonly seconds: number;
}

type Asked = Parameters<Evaluate>;

const evaluator =
  (slots: SlotConfig): Evaluate =>
  (...question) =>
    evaluateWith(...question, { parameters: PARAMETERS, slots });

/** The bytes, and every question to the evaluator on the way to them. */
function built(plan: TransactionPlan, run: Evaluate) {
  const asked: Asked[] = [];
  const spy: Evaluate = (...question) => {
    asked.push(question);
    return run(...question);
  };
  const outcome = assemble(plan, { parameters: PARAMETERS, evaluate: spy });
  if (outcome.outcome === 'refused') throw new Error(outcome.message);
  return { sizeBytes: outcome.bytes.length, asked };
}

function repeat(seconds: number, once: () => void) {
  return measureWork(() => {
    const more = lasting(seconds);
    let count = 0;
    for (; more(); count += 1) once();
    return count;
  });
}

const offers = {
  /** How large the transaction is, and how often its scripts run until it stands. */
  look({ plan, slots }: AssemblerTask) {
    const { sizeBytes, asked } = built(plan, evaluator(slots));
    return { sizeBytes, evaluations: asked.length };
  },
  assemble({ plan, slots, seconds }: AssemblerTask) {
    const run = evaluator(slots);
    return repeat(seconds, () => {
      assemble(plan, { parameters: PARAMETERS, evaluate: run });
    });
  },
  /** The scripts of the finished transaction, run once: the part that no builder can save. */
  scripts({ plan, slots, seconds }: AssemblerTask) {
    const run = evaluator(slots);
    const last = built(plan, run).asked.at(-1);
    return repeat(seconds, () => {
      if (last !== undefined) run(...last);
    });
  },
};

offer(offers);
