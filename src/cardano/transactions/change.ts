/**
 * The change of a wallet: tokens in bundles that a value may hold, lovelace on top of the first.
 * The size is updated with every value that is added or removed, and outputs are encoded only when
 * the caller reads them: wallets come from strangers, and many inputs are tried.
 */

import type { AssetId } from '../../engine/market/asset.ts';
import { coins, type Value } from '../codec/value.ts';
import type { ProtocolParameters } from '../ledger/parameters.ts';
import { minLovelace } from './cost.ts';
import type { PlannedOutput } from './plan.ts';

/** Bytes of tokens in one change output; a value may have 5000. */
const BUNDLE_BYTES = 3500;
const POLICY_DIGITS = 56;
/** A policy with its head. */
const POLICY_BYTES = 30;
const LONGEST_AMOUNT_BYTES = 9;
const LONGEST_HEAD_BYTES = 3;
/** The ledger takes no larger amount in an output. */
const MAX_AMOUNT = (1n << 63n) - 1n;

export class Change {
  readonly #address: string;
  readonly #parameters: ProtocolParameters;
  readonly #amounts = new Map<AssetId, bigint>();
  readonly #bundles: Bundle[] = [];
  readonly #bundleOf = new Map<AssetId, Bundle>();
  readonly #bareLovelace: bigint;
  #lovelace = 0n;
  /** How many are more than an output may hold. */
  #excessive = 0;

  constructor(address: string, parameters: ProtocolParameters) {
    this.#address = address;
    this.#parameters = parameters;
    this.#bareLovelace = minLovelace(parameters, { address, value: coins(0n), datum: null });
  }

  /** Below 0: as much is missing. */
  get lovelace(): bigint {
    return this.#lovelace;
  }

  amountOf(asset: AssetId): bigint {
    return this.#amounts.get(asset) ?? 0n;
  }

  add({ lovelace, assets }: Value): void {
    this.#lovelace += lovelace;
    for (const [asset, amount] of assets) this.#move(asset, amount);
  }

  subtract({ lovelace, assets }: Value): void {
    this.#lovelace -= lovelace;
    for (const [asset, amount] of assets) this.#move(asset, -amount);
  }

  /** Bytes of all tokens; Infinity where an amount is more than an output may hold. */
  get tokenBytes(): number {
    if (this.#excessive > 0) return Number.POSITIVE_INFINITY;
    return this.#bundles.reduce((sum, { size, bytes }) => (size === 0 ? sum : sum + bytes), 0);
  }

  /** The least lovelace that its outputs need together. */
  get minLovelace(): bigint {
    const used = this.#bundles.filter(({ size }) => size > 0);
    if (used.length === 0) return this.#lovelace === 0n ? 0n : this.#bareLovelace;
    const { outputByteLovelace } = this.#parameters;
    // With tokens a value has the head of a list before its lovelace.
    return used.reduce(
      (sum, { bytes }) => sum + this.#bareLovelace + BigInt(1 + bytes) * outputByteLovelace,
      0n,
    );
  }

  /** Its outputs, or the lovelace that they lack. */
  outputs(): readonly PlannedOutput[] | { readonly lackLovelace: bigint } {
    const bundled = this.bundled();
    const isEmpty = bundled.length === 0 && this.#lovelace === 0n;
    const outputs = bundled.length > 0 || isEmpty ? bundled : [this.#holding([])];
    const least = outputs.reduce((sum, { value }) => sum + value.lovelace, 0n);
    if (this.#lovelace < least) return { lackLovelace: least - this.#lovelace };
    const [first, ...more] = outputs;
    if (first === undefined) return [];
    const lovelace = first.value.lovelace + this.#lovelace - least;
    return [{ ...first, value: { ...first.value, lovelace } }, ...more];
  }

  /** The tokens alone, in as many outputs as they need, each with the least lovelace. */
  bundled(): PlannedOutput[] {
    const used = this.#bundles.filter(({ size }) => size > 0);
    return used.map((bundle) => this.#holding(bundle.assets(this.#amounts)));
  }

  #holding(held: Iterable<readonly [AssetId, bigint]>): PlannedOutput {
    const assets = new Map(held);
    const bare = { address: this.#address, value: { lovelace: 0n, assets }, datum: null };
    return { ...bare, value: { lovelace: minLovelace(this.#parameters, bare), assets } };
  }

  #move(asset: AssetId, by: bigint): void {
    const before = this.amountOf(asset);
    const after = before + by;
    this.#amounts.set(asset, after);
    if (before <= 0n && after <= 0n) return;
    this.#excessive += Number(after > MAX_AMOUNT) - Number(before > MAX_AMOUNT);
    let bundle = this.#bundleOf.get(asset);
    if (bundle === undefined) {
      bundle = this.#bundles.at(-1);
      if (bundle === undefined || !bundle.hasRoomFor(asset)) {
        bundle = new Bundle();
        this.#bundles.push(bundle);
      }
      bundle.reserve(asset);
      this.#bundleOf.set(asset, bundle);
    }
    bundle.change(asset, before, after);
  }
}

/** Counts the bytes of its tokens; only amounts above 0 are in the map. */
class Bundle {
  /** Every asset that was ever in it: it may come again. */
  readonly #reserved = new Set<AssetId>();
  /** How many names each policy has now. */
  readonly #names = new Map<string, number>();
  #reservedBytes = LONGEST_HEAD_BYTES;
  #policies = 0;
  size = 0;
  /** Encoded, as part of a value; of an empty one nothing is written. */
  bytes = headBytes(0);

  /** Whatever its amounts grow to. */
  hasRoomFor(asset: AssetId): boolean {
    return this.#reservedBytes + this.#maxBytesOf(asset) <= BUNDLE_BYTES;
  }

  reserve(asset: AssetId): void {
    this.#reservedBytes += this.#maxBytesOf(asset);
    this.#reserved.add(asset);
    const policy = policyOf(asset);
    if (!this.#names.has(policy)) this.#names.set(policy, 0);
  }

  #maxBytesOf(asset: AssetId): number {
    const own = nameBytes(asset) + LONGEST_AMOUNT_BYTES;
    return this.#names.has(policyOf(asset)) ? own : POLICY_BYTES + LONGEST_HEAD_BYTES + own;
  }

  change(asset: AssetId, before: bigint, after: bigint): void {
    if (before > 0n) this.bytes -= amountBytes(before);
    if (after > 0n) this.bytes += amountBytes(after);
    const more = Number(after > 0n) - Number(before > 0n);
    if (more === 0) return;
    this.size += more;
    this.bytes += more * nameBytes(asset);
    const policy = policyOf(asset);
    const names = this.#names.get(policy) ?? 0;
    this.#names.set(policy, names + more);
    this.bytes += policyBytes(names + more) - policyBytes(names);
    if (names === 0 || names + more === 0) this.#policiesChanged(more);
  }

  #policiesChanged(by: number): void {
    this.bytes += headBytes(this.#policies + by) - headBytes(this.#policies);
    this.#policies += by;
  }

  *assets(amounts: ReadonlyMap<AssetId, bigint>): Generator<readonly [AssetId, bigint]> {
    for (const asset of this.#reserved) {
      const amount = amounts.get(asset) ?? 0n;
      if (amount > 0n) yield [asset, amount];
    }
  }
}

function policyOf(asset: AssetId): string {
  return asset.slice(0, POLICY_DIGITS);
}

function nameBytes(asset: AssetId): number {
  const length = (asset.length - POLICY_DIGITS - 1) / 2;
  return headBytes(length) + length;
}

/** A policy and the head of its names. */
function policyBytes(names: number): number {
  return names === 0 ? 0 : POLICY_BYTES + headBytes(names);
}

function headBytes(count: number): number {
  return count < 24 ? 1 : count < 256 ? 2 : 3;
}

function amountBytes(amount: bigint): number {
  const sizes = [24n, 1n << 8n, 1n << 16n, 1n << 32n];
  return [1, 2, 3, 5][sizes.findIndex((size) => amount < size)] ?? LONGEST_AMOUNT_BYTES;
}

/** The change as outputs, or the lovelace that is missing for them. */
export function changeOutputs(
  { lovelace, assets }: Value,
  address: string,
  parameters: ProtocolParameters,
): readonly PlannedOutput[] | { readonly lackLovelace: bigint } {
  const change = new Change(address, parameters);
  change.add({ lovelace, assets: inOrder(assets) });
  return change.outputs();
}

/** Assets of a policy side by side, so that they share a bundle. */
function inOrder(assets: ReadonlyMap<AssetId, bigint>): ReadonlyMap<AssetId, bigint> {
  return new Map([...assets].sort(([a], [b]) => (a < b ? -1 : 1)));
}
