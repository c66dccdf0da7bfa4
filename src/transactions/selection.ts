/**
 * Which outputs of a wallet a transaction spends beside those it must.
 *
 * Few and large first: for each token the outputs that hold most of it, then pure ADA, then mixed
 * outputs, the poorest in tokens first. What is left goes back as change, tokens in bundles that a
 * value may hold. Outputs that hold a script are never touched.
 * Never: more inputs or change than fit into one transaction; then the owner must consolidate.
 */

import { encodeAssets } from '../cardano/encode.ts';
import type { Utxo } from '../cardano/output.ts';
import { addValues, coins, subtractValue, type Value } from '../cardano/value.ts';
import type { AssetId } from '../market/asset.ts';
import { leastLovelace } from './cost.ts';
import type { ProtocolParameters } from './parameters.ts';
import type { PlannedOutput } from './plan.ts';

export const MOST_WALLET_INPUTS = 200;
/** Of inputs and of tokens that come back; leaves room for the largest launch. */
const MOST_SELECTED_BYTES = 9000;
const INPUT_BYTES = 38;
/** Of one change output; a value may have 5000. */
const BUNDLE_BYTES = 3500;

export interface SelectionNeed {
  /** What inputs and mints of the plan lack (above 0) or leave over (below 0), fee included. */
  readonly value: Value;
  readonly changeAddress: string;
}

export interface Selected {
  readonly outcome: 'selected';
  readonly utxos: readonly Utxo[];
  readonly change: readonly PlannedOutput[];
}

export type Selection =
  | Selected
  | { readonly outcome: 'poor' | 'scattered'; readonly message: string };

export function select(
  wallet: readonly Utxo[],
  need: SelectionNeed,
  parameters: ProtocolParameters,
): Selection {
  const free = wallet.filter(({ output }) => output.scriptHash === null);
  const gathered = gather(free, need, parameters);
  if (gathered !== null && fits(gathered.utxos.length, gathered.change)) return gathered;
  const all = addValues(coins(0n), ...free.map(({ output }) => output.value));
  const left = subtractValue(all, need.value);
  const tokens = [...left.assets].filter(([, amount]) => amount < 0n);
  if (tokens.length > 0) {
    return poor(tokens.map(([asset, amount]) => `${-amount} of ${asset}`).join(' and '));
  }
  const change = changeOutputs(left, need.changeAddress, parameters);
  if (!('length' in change)) return poor(`${change.lackLovelace} lovelace`);
  const message =
    `the wallet has enough, but its ${free.length} outputs and their tokens do not fit into one ` +
    'transaction: consolidate them first by a transfer to your own address';
  return { outcome: 'scattered', message };
}

function poor(lack: string): Selection {
  return { outcome: 'poor', message: `the wallet lacks ${lack}` };
}

function fits(inputs: number, change: readonly PlannedOutput[]): boolean {
  return holdsInOne(inputs, addValues(coins(0n), ...change.map(({ value }) => value)));
}

/** Whether so many inputs and what comes back of them leave room for the rest of a transaction. */
export function holdsInOne(inputs: number, back: Value): boolean {
  return inputs * INPUT_BYTES + encodeAssets(back.assets).length <= MOST_SELECTED_BYTES;
}

/** What is left as outputs, or the lovelace that it takes to let it stand. */
export function changeOutputs(
  left: Value,
  address: string,
  parameters: ProtocolParameters,
): readonly PlannedOutput[] | { readonly lackLovelace: bigint } {
  if (left.lovelace === 0n && left.assets.size === 0) return [];
  const bundles = bundled(left.assets, address, parameters);
  const outputs = bundles.length > 0 ? bundles : [holding(new Map(), address, parameters)];
  const least = outputs.reduce((sum, { value }) => sum + value.lovelace, 0n);
  const [first, ...more] = outputs;
  if (left.lovelace < least || first === undefined) {
    return { lackLovelace: least - left.lovelace };
  }
  const value = addValues(first.value, coins(left.lovelace - least));
  return [{ ...first, value }, ...more];
}

/** Tokens in as many outputs as they need, each with the least lovelace. */
export function bundled(
  assets: ReadonlyMap<AssetId, bigint>,
  address: string,
  parameters: ProtocolParameters,
): PlannedOutput[] {
  const bundles: Map<AssetId, bigint>[] = [];
  let bytes = BUNDLE_BYTES;
  for (const [asset, amount] of [...assets].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const alone = encodeAssets(new Map([[asset, amount]])).length;
    if (bytes + alone > BUNDLE_BYTES) {
      bundles.push(new Map());
      bytes = 0;
    }
    bytes += alone;
    bundles.at(-1)?.set(asset, amount);
  }
  return bundles.map((each) => holding(each, address, parameters));
}

function holding(
  assets: ReadonlyMap<AssetId, bigint>,
  address: string,
  parameters: ProtocolParameters,
): PlannedOutput {
  const bare = { address, value: { lovelace: 0n, assets }, datum: null };
  return { ...bare, value: { lovelace: leastLovelace(parameters, bare), assets } };
}

/** All that may be spent: what holds these assets, richest first, then pure ADA, then others. */
export function emptiest(
  wallet: readonly Utxo[],
  assets: ReadonlyMap<AssetId, bigint>,
): readonly Utxo[] {
  const free = new Set(wallet.filter(({ output }) => output.scriptHash === null));
  const wanted = new Set([...assets.keys()].flatMap((asset) => richestIn(asset, free)));
  return [...wanted, ...[...free].filter((utxo) => !wanted.has(utxo)).sort(forLovelace)];
}

/** null where the cap or the wallet ends before the need does. */
function gather(
  free: readonly Utxo[],
  { value: need, changeAddress }: SelectionNeed,
  parameters: ProtocolParameters,
): Selected | null {
  const chosen: Utxo[] = [];
  const left = new Set(free);
  let missing = need;
  const take = (utxo: Utxo): void => {
    chosen.push(utxo);
    left.delete(utxo);
    missing = subtractValue(missing, utxo.output.value);
  };
  const lacks = (asset: AssetId): boolean => (missing.assets.get(asset) ?? 0n) > 0n;
  for (const asset of need.assets.keys()) {
    for (const utxo of lacks(asset) ? richestIn(asset, left) : []) {
      if (!lacks(asset) || chosen.length >= MOST_WALLET_INPUTS) break;
      take(utxo);
    }
    if (lacks(asset)) return null;
  }
  for (const utxo of [null, ...[...left].sort(forLovelace)]) {
    if (chosen.length >= MOST_WALLET_INPUTS) return null;
    if (utxo !== null) take(utxo);
    if (missing.lovelace > 0n) continue;
    const surplus = subtractValue(coins(0n), missing);
    const change = changeOutputs(surplus, changeAddress, parameters);
    if ('length' in change) return { outcome: 'selected', utxos: chosen, change };
  }
  return null;
}

function richestIn(asset: AssetId, utxos: ReadonlySet<Utxo>): Utxo[] {
  const held = ({ output }: Utxo): bigint => output.value.assets.get(asset) ?? 0n;
  return [...utxos]
    .filter((utxo) => held(utxo) > 0n)
    .sort((a, b) => descending(held(a), held(b)) || poorestInTokens(a, b));
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
