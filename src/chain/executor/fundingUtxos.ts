/**
 * Pure ADA outputs of the fee address, which pay network fees. Each pool executor reserves its own
 * output, so that two transactions never spend the same one. The address may hold thousands of
 * outputs: one page is cached, and each output is checked again before it is used.
 */

import { type OutputRef, refText, type Utxo } from '../../cardano/codec/output.ts';
import { addValues } from '../../cardano/codec/value.ts';
import type { UtxoLookup } from '../../cardano/ledger/port.ts';
import { planOf, type TransactionPlan } from '../../cardano/transactions/plan.ts';
import { signOwn } from '../../cardano/transactions/signing.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Roles } from '../settings.ts';
import type { PoolExecutorDeps, PoolExecutorObserver } from './poolExecutor.ts';

/** Enough for any network fee and for the minimum of the fee output. */
const MIN_LOVELACE = 3_000_000n;
/** Outputs of one lookup. Anyone may send dust to the address, so `reserve` reads further pages. */
const PAGE = 500;

export class FundingUtxos {
  readonly #utxos: UtxoLookup;
  readonly #reserved = new Map<AssetId, Utxo>();
  /** Found and not reserved yet; may be spent by now. */
  #found: Utxo[] = [];
  /** The fee address of the found outputs. */
  #foundOf = '';
  #lookup: Promise<boolean> | null = null;

  constructor(utxos: UtxoLookup) {
    this.#utxos = utxos;
  }

  /** One output for a pool's executor, until it is released; empty when all are reserved. */
  async reserve(token: AssetId, feeKeyHash: string): Promise<readonly Utxo[]> {
    for (;;) {
      const next = this.#foundOf === feeKeyHash ? this.#found.shift() : undefined;
      if (next === undefined) {
        if (await this.#findMore(feeKeyHash)) continue;
        return [];
      }
      // Reserve before the wait, so that no other executor takes it meanwhile.
      this.#reserved.set(token, next);
      const [state] = await this.#utxos.byRefs([next.ref]);
      if (state?.state === 'unspent') return [next];
      this.#reserved.delete(token);
      // Others of this page may be spent as well, by another leader or by a consolidation.
      this.#found = [];
    }
  }

  /** Whether there are unreserved ones. Concurrent callers share one lookup. */
  #findMore(feeKeyHash: string): Promise<boolean> {
    this.#lookup ??= this.#find(feeKeyHash).finally(() => {
      this.#lookup = null;
    });
    return this.#lookup;
  }

  async #find(feeKeyHash: string): Promise<boolean> {
    for (let after: OutputRef | undefined; ; ) {
      const page = after === undefined ? { limit: PAGE } : { limit: PAGE, after };
      const held = await this.#utxos.byPaymentKey(feeKeyHash, 'newest', page);
      this.#found = this.free(held).filter(canFund);
      this.#foundOf = feeKeyHash;
      if (this.#found.length > 0) return true;
      if (held.length < PAGE) return false;
      after = held.at(-1)?.ref;
    }
  }

  /** The unreserved ones. */
  free(utxos: readonly Utxo[]): readonly Utxo[] {
    const taken = new Set([...this.#reserved.values()].map(({ ref }) => refText(ref)));
    return utxos.filter(({ ref }) => !taken.has(refText(ref)));
  }

  release(token: AssetId): void {
    this.#reserved.delete(token);
  }
}

function canFund(utxo: Utxo): boolean {
  return isPureAda(utxo) && utxo.output.value.lovelace >= MIN_LOVELACE;
}

function isPureAda({ output: { value, datum, scriptHash } }: Utxo): boolean {
  return value.assets.size === 0 && datum === null && scriptHash === null;
}

const EVERY_MS = 60_000;
const SMALL_LOVELACE = 10_000_000n;
/** This many small ones stay, as funding. */
const KEPT = 100;
/** Per transaction; half of what its bytes allow. */
const MAX_MERGED = 200;
/** Fewer are not worth a fee. */
const MIN_MERGED = 10;

type FeeRoles = Pick<Roles, 'feeKeyHash' | 'feeAddress'>;

type ConsolidationDeps = Pick<
  PoolExecutorDeps,
  'utxos' | 'submitter' | 'builder' | 'funding' | 'keys' | 'clock'
>;

type ConsolidationObserver = Pick<PoolExecutorObserver, 'executorSubmitted' | 'executorRejected'>;

/**
 * Merges small outputs of the fee address. Every batch leaves one more there, and anyone may send
 * dust; the more there are, the longer a lookup takes. Merging inside a batch would break the
 * pairing of inputs and outputs. A pool executor that wanted a merged one is refused once
 * (INPUT_SPENT) and reads the state again.
 */
export class Consolidation {
  readonly #deps: ConsolidationDeps;
  readonly #observer: ConsolidationObserver;
  #nextMs = 0;

  constructor(deps: ConsolidationDeps, observer: ConsolidationObserver) {
    this.#deps = deps;
    this.#observer = observer;
  }

  /** At most one lookup and one transaction per minute. `roles`: as they are now. */
  async run(roles: () => Promise<FeeRoles>): Promise<void> {
    const { utxos, submitter, builder, funding, keys, clock } = this.#deps;
    if (clock.nowMs() < this.#nextMs) return;
    this.#nextMs = clock.nowMs() + EVERY_MS;
    const { feeKeyHash, feeAddress } = await roles();
    if (!keys.some(({ hash }) => hash === feeKeyHash)) return;
    const held = await utxos.byPaymentKey(feeKeyHash, 'spendable', { limit: PAGE });
    const plan = planConsolidation(funding.free(held), feeAddress);
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

/** null: too few to merge. */
export function planConsolidation(
  held: readonly Utxo[],
  feeAddress: string,
): TransactionPlan | null {
  const small = held.filter(
    (utxo) => isPureAda(utxo) && utxo.output.value.lovelace < SMALL_LOVELACE,
  );
  const merged = small.slice(0, Math.min(MAX_MERGED, small.length - KEPT));
  if (small.length < KEPT + MIN_MERGED) return null;
  const value = addValues(...merged.map(({ output }) => output.value));
  return planOf({
    inputs: merged.map((utxo) => ({ utxo, redeemer: null })),
    outputs: [{ address: feeAddress, value, datum: null }],
    changeAddress: feeAddress,
    feeFrom: 0,
  });
}
