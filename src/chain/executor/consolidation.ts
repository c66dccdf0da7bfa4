/**
 * Every batch leaves one more small output at the fee address, and anyone may send dust there; the
 * more there are, the longer a look at it takes. So from time to time many of them become one, in a
 * transaction of its own: in a batch they would break the pairing of inputs and outputs.
 *
 * A executor that wanted one of them is refused once (INPUT_SPENT) and looks again.
 */

import { planOf, type TransactionPlan } from '../../cardano/build/plan.ts';
import { signOwn } from '../../cardano/build/signing.ts';
import type { Utxo } from '../../cardano/codec/output.ts';
import { addValues } from '../../cardano/codec/value.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { isPureAda } from './fundingUtxos.ts';
import type { PoolExecutorDeps, PoolExecutorObserver } from './poolExecutor.ts';

const EVERY_MS = 60_000;
/** One look; more wait for the next. */
const PAGE = 500;
const SMALL_LOVELACE = 10_000_000n;
/** So many small ones stay: executors use them as funding. */
const KEPT = 100;
/** Of one transaction; half of what its bytes allow. */
const MOST_MERGED = 200;
/** Fewer are not worth a fee. */
const LEAST_MERGED = 10;

type ConsolidationDeps = Pick<
  PoolExecutorDeps,
  'utxos' | 'submitter' | 'builder' | 'deployment' | 'funding' | 'keys' | 'clock'
>;

type ConsolidationObserver = Omit<PoolExecutorObserver, 'poolStuck'>;

export class Consolidation {
  readonly #deps: ConsolidationDeps;
  readonly #observer: ConsolidationObserver;
  #nextMs = 0;

  constructor(deps: ConsolidationDeps, observer: ConsolidationObserver) {
    this.#deps = deps;
    this.#observer = observer;
  }

  /** At most one transaction per minute, and one look. */
  async run(): Promise<void> {
    const { utxos, submitter, builder, deployment, funding, keys, clock } = this.#deps;
    if (clock.nowMs() < this.#nextMs) return;
    this.#nextMs = clock.nowMs() + EVERY_MS;
    const held = await utxos.byPaymentKey(deployment.feeKeyHash, 'spendable', { limit: PAGE });
    const plan = planConsolidation(funding.free(held), deployment.feeAddress);
    if (plan === null) return;
    const built = await builder.build(plan);
    if (built instanceof Failure) return this.#rejected(built.cause, built.message);
    if (built.outcome === 'refused') return this.#rejected(built.reason, built.message);
    const outcome = await submitter.submit(signOwn(built, keys));
    if (outcome.outcome === 'refused') return this.#rejected(outcome.reason, outcome.message);
    this.#observer.executorSubmitted('consolidate', '.', outcome.txHash, 0);
  }

  #rejected(reason: string, message: string): void {
    this.#observer.executorRejected('consolidate', '.', reason, message);
  }
}

/** null while there are few. */
export function planConsolidation(
  held: readonly Utxo[],
  feeAddress: string,
): TransactionPlan | null {
  const small = held.filter(
    (utxo) => isPureAda(utxo) && utxo.output.value.lovelace < SMALL_LOVELACE,
  );
  const merged = small.slice(0, Math.min(MOST_MERGED, small.length - KEPT));
  if (small.length < KEPT + LEAST_MERGED) return null;
  const value = addValues(...merged.map(({ output }) => output.value));
  return planOf({
    inputs: merged.map((utxo) => ({ utxo, redeemer: null })),
    outputs: [{ address: feeAddress, value, datum: null }],
    changeAddress: feeAddress,
    feeFrom: 0,
  });
}
