/** What the builder's thread does, without thread and pool: the assembler in a loop. */

import { assemble, type Evaluate } from '../../src/cardano/build/assemble.ts';
import type { TransactionPlan } from '../../src/cardano/build/plan.ts';
import type { SlotConfig } from '../../src/cardano/codec/slots.ts';
import { DEFAULT_PARAMETERS } from '../../src/cardano/ledger/parameters.ts';
import { evaluate } from '../../src/cardano/ledger/scalus.ts';
import { offer } from '../support/offers.ts';
import { lasting, measureWork } from '../support/work.ts';

export type Assembler = typeof offers;

export interface AssemblerTask {
  readonly plan: TransactionPlan;
  readonly slots: SlotConfig;
  readonly seconds: number;
}

type Asked = Parameters<Evaluate>;

/** The bytes, and every question to the evaluator on the way to them. */
function built(plan: TransactionPlan, run: Evaluate) {
  const asked: Asked[] = [];
  const spy: Evaluate = (...question) => {
    asked.push(question);
    return run(...question);
  };
  const outcome = assemble(plan, { parameters: DEFAULT_PARAMETERS, evaluate: spy });
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
    const { sizeBytes, asked } = built(plan, (...question) => evaluate(...question, slots));
    return { sizeBytes, evaluations: asked.length };
  },
  assemble({ plan, slots, seconds }: AssemblerTask) {
    const run: Evaluate = (...question) => evaluate(...question, slots);
    return repeat(seconds, () => {
      assemble(plan, { parameters: DEFAULT_PARAMETERS, evaluate: run });
    });
  },
  /** The scripts of the finished transaction, run once: what no builder can save. */
  scripts({ plan, slots, seconds }: AssemblerTask) {
    const run: Evaluate = (...question) => evaluate(...question, slots);
    const last = built(plan, run).asked.at(-1);
    return repeat(seconds, () => {
      if (last !== undefined) run(...last);
    });
  },
};

offer(offers);
