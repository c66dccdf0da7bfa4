/**
 * Which outputs of a wallet a transaction spends beside those it must.
 *
 * Few and large first: for each token the outputs that hold most of it, then pure ADA, then mixed
 * outputs, the poorest in tokens first. The remaining value goes back as change, tokens in bundles
 * that a value may hold. Outputs that hold a script are never touched. Never: more inputs or change
 * than fit into one transaction; then the owner must consolidate. The number of the wallet's
 * outputs bounds the work, regardless of the values in them: strangers choose both.
 */

import type { AssetId } from '../../engine/market/asset.ts';
import type { Utxo } from '../codec/output.ts';
import type { Value } from '../codec/value.ts';
import type { ProtocolParameters } from '../ledger/parameters.ts';
import { Change } from './change.ts';
import type { PlannedOutput } from './plan.ts';

export const MAX_WALLET_INPUTS = 200;
/** Bound on the bytes of inputs and returned tokens; leaves room for the largest launch. */
const MAX_SELECTED_BYTES = 9000;
const INPUT_BYTES = 38;
/** After this many outputs that do not fit, selection stops.  */
const MAX_MISFITS = 20;

interface SelectionNeed {
  /**
   * The values that the plan's inputs and mints lack (above 0) or leave over (below 0), fee
   * included.
   */
  readonly value: Value;
  readonly changeAddress: string;
}

interface Selected {
  readonly outcome: 'selected';
  readonly utxos: readonly Utxo[];
  readonly change: readonly PlannedOutput[];
}

type Selection = Selected | { readonly outcome: 'poor' | 'scattered'; readonly message: string };

/** A wallet, the outputs taken from it, and the change that returns. */
export class CoinSelection {
  readonly chosen: Utxo[] = [];
  readonly change: Change;
  readonly #left: Set<Utxo>;
  #misfits = 0;

  /** Outputs with a script are not offered. */
  constructor(
    wallet: readonly Utxo[],
    { value, changeAddress }: SelectionNeed,
    parameters: ProtocolParameters,
  ) {
    this.#left = new Set(wallet.filter(({ output }) => output.scriptHash === null));
    this.change = new Change(changeAddress, parameters);
    this.change.subtract(value);
  }

  /** Nothing more is taken. */
  get isFull(): boolean {
    return this.chosen.length >= MAX_WALLET_INPUTS || this.#misfits >= MAX_MISFITS;
  }

  /** The wallet has further outputs that were not taken. */
  get isCut(): boolean {
    return this.#misfits > 0 || this.#left.size > 0;
  }

  /** Outputs that were not offered yet: pure ADA first, then the poorest in tokens. */
  left(): readonly Utxo[] {
    return [...this.#left].sort(forLovelace);
  }

  /** Takes it where it fits; it is not offered again. */
  select(utxo: Utxo): void {
    const { value } = utxo.output;
    this.#left.delete(utxo);
    this.chosen.push(utxo);
    this.change.add(value);
    if (this.chosen.length * INPUT_BYTES + this.change.tokenBytes <= MAX_SELECTED_BYTES) return;
    this.change.subtract(value);
    this.chosen.pop();
    this.#misfits += 1;
  }

  /**
   * Takes the outputs that hold most of `asset` until the plan lacks none; returns whether it
   * succeeded.
   */
  cover(asset: AssetId): boolean {
    const isMissing = (): boolean => this.change.amountOf(asset) < 0n;
    if (!isMissing() || this.isFull) return !isMissing();
    const holders: Holder[] = [];
    for (const utxo of this.#left) {
      const amount = heldIn(utxo, asset);
      if (amount > 0n) holders.push({ utxo, amount });
    }
    while (isMissing() && !this.isFull) {
      const richest = holders.reduce<Holder | null>(holdsMore, null);
      if (richest === null || richest.amount === 0n) break;
      this.select(richest.utxo);
      richest.amount = 0n;
    }
    return !isMissing();
  }
}

/** An output and how much of an asset is to be had there. */
interface Holder {
  readonly utxo: Utxo;
  amount: bigint;
}

/** A transaction takes few of thousands: looking for each costs less than sorting them all. */
function holdsMore(best: Holder | null, next: Holder): Holder {
  if (best === null || next.amount > best.amount) return next;
  if (next.amount < best.amount) return best;
  return poorestInTokens(next.utxo, best.utxo) < 0 ? next : best;
}

export function select(
  wallet: readonly Utxo[],
  need: SelectionNeed,
  parameters: ProtocolParameters,
): Selection {
  const basket = new CoinSelection(wallet, need, parameters);
  const covered = [...need.value.assets.keys()].every((asset) => basket.cover(asset));
  return (covered ? gathered(basket) : null) ?? lacking(wallet, need, basket);
}

/** null where the cap or the wallet ends before the need does. */
function gathered(basket: CoinSelection): Selected | null {
  const { change, chosen } = basket;
  for (const utxo of [null, ...basket.left()]) {
    if (utxo !== null && basket.isFull) return null;
    if (utxo !== null) basket.select(utxo);
    if (change.lovelace < change.minLovelace) continue;
    const outputs = change.outputs();
    if ('length' in outputs) return { outcome: 'selected', utxos: chosen, change: outputs };
  }
  return null;
}

function lacking(
  wallet: readonly Utxo[],
  { value: { lovelace, assets } }: SelectionNeed,
  { change, isCut }: CoinSelection,
): Selection {
  const free = wallet.filter(({ output }) => output.scriptHash === null);
  const tokens = [...assets].flatMap(([asset, amount]) => {
    if (change.amountOf(asset) >= 0n) return [];
    const held = free.reduce((sum, utxo) => sum + heldIn(utxo, asset), 0n);
    return held < amount ? [`${amount - held} of ${asset}`] : [];
  });
  const leftAlone = withScripts(wallet.filter(({ output }) => output.scriptHash !== null));
  if (tokens.length > 0) return poor(tokens.join(' and '), leftAlone);
  const all = lovelaceOf(free);
  const least = isCut ? 0n : change.minLovelace;
  if (all < lovelace + least) {
    const stays =
      change.tokenBytes === 0 || least === 0n
        ? ''
        : `; ${least} lovelace of it have to stay with the tokens that come back as change`;
    return poor(`${lovelace + least - all} lovelace`, stays + leftAlone);
  }
  const message =
    `the wallet has enough, but its ${free.length} outputs and their tokens do not fit into one ` +
    'transaction: consolidate them first by a transfer to your own address';
  return { outcome: 'scattered', message };
}

function poor(lack: string, leftAlone: string): Selection {
  return { outcome: 'poor', message: `the wallet lacks ${lack}${leftAlone}` };
}

/** Outputs that the wallet owns and that this transaction does not spend. */
function withScripts(utxos: readonly Utxo[]): string {
  if (utxos.length === 0) return '';
  const held = `${lovelaceOf(utxos)} lovelace in ${utxos.length} outputs`;
  return (
    `; ${held} are not spent, because each carries a reference script, which costs a fee of its ` +
    'own: to use them, send them to your own address without the script, with another program'
  );
}

function lovelaceOf(utxos: readonly Utxo[]): bigint {
  return utxos.reduce((sum, { output }) => sum + output.value.lovelace, 0n);
}

function heldIn({ output }: Utxo, asset: AssetId): bigint {
  return output.value.assets.get(asset) ?? 0n;
}

/** Poorest in tokens first, then most lovelace. */
export function forLovelace(a: Utxo, b: Utxo): number {
  return poorestInTokens(a, b) || descending(a.output.value.lovelace, b.output.value.lovelace);
}

function poorestInTokens(a: Utxo, b: Utxo): number {
  return a.output.value.assets.size - b.output.value.assets.size;
}

function descending(a: bigint, b: bigint): number {
  return a === b ? 0 : a > b ? -1 : 1;
}
