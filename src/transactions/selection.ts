/**
 * Which outputs of a wallet a transaction spends beside those it must.
 *
 * Few and large first: for each token the outputs that hold most of it, then pure ADA, then mixed
 * outputs, the poorest in tokens first. What is left goes back as change, tokens in bundles that a
 * value may hold. Outputs that hold a script are never touched.
 * Never: more inputs or change than fit into one transaction; then the owner must consolidate.
 */
import type { Utxo } from '../cardano/output.ts';
import { addValues, coins, subtractValue, type Value } from '../cardano/value.ts';
import type { AssetId } from '../market/asset.ts';
import { leastLovelace } from './cost.ts';
import { bundle } from './encode.ts';
import type { ProtocolParameters } from './parameters.ts';
import type { PlannedOutput } from './plan.ts';

export const MOST_WALLET_INPUTS = 80;
/** Of the tokens that come back; with the inputs above this leaves room for everything else. */
export const MOST_CHANGE_BYTES = 7000;
/** Of one change output; a value may have 5000. */
const BUNDLE_BYTES = 3500;

export interface SelectionNeed {
  /** What inputs and mints of the plan lack (above 0) or leave over (below 0), fee included. */
  readonly value: Value;
  readonly changeAddress: string;
}

export type Selection =
  | {
      readonly outcome: 'selected';
      readonly utxos: readonly Utxo[];
      readonly change: readonly PlannedOutput[];
    }
  | { readonly outcome: 'poor' | 'scattered'; readonly message: string };

export function select(
  wallet: readonly Utxo[],
  need: SelectionNeed,
  parameters: ProtocolParameters,
): Selection {
  const free = wallet.filter(({ output }) => output.scriptHash === null);
  const capped = gather(free, need, parameters, MOST_WALLET_INPUTS);
  if (capped.outcome === 'selected') {
    const bytes = capped.change.reduce((sum, { value }) => sum + tokenBytes(value), 0);
    if (bytes <= MOST_CHANGE_BYTES) return capped;
  }
  const whole = gather(free, need, parameters, Number.POSITIVE_INFINITY);
  if (whole.outcome !== 'selected') return whole;
  const message =
    `the wallet has enough, but scattered over ${free.length} outputs; one transaction takes ` +
    `about ${MOST_WALLET_INPUTS}: consolidate them first by a transfer to your own address`;
  return { outcome: 'scattered', message };
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
    const alone = bundle([[asset, amount]]).length;
    if (bytes + alone > BUNDLE_BYTES) {
      bundles.push(new Map());
      bytes = 0;
    }
    bytes += alone;
    bundles.at(-1)?.set(asset, amount);
  }
  return bundles.map((each) => holding(each, address, parameters));
}

export function tokenBytes({ assets }: Value): number {
  return bundle(assets).length;
}

function holding(
  assets: ReadonlyMap<AssetId, bigint>,
  address: string,
  parameters: ProtocolParameters,
): PlannedOutput {
  const bare = { address, value: { lovelace: 0n, assets }, datum: null };
  return { ...bare, value: { lovelace: leastLovelace(parameters, bare), assets } };
}

/** All that may be spent: first what holds these assets, richest first, then pure ADA, then others. */
export function emptiest(
  wallet: readonly Utxo[],
  assets: ReadonlyMap<AssetId, bigint>,
): readonly Utxo[] {
  const free = new Set(wallet.filter(({ output }) => output.scriptHash === null));
  const wanted = new Set([...assets.keys()].flatMap((asset) => richestIn(asset, free)));
  return [...wanted, ...[...free].filter((utxo) => !wanted.has(utxo)).sort(forLovelace)];
}

function gather(
  free: readonly Utxo[],
  { value: need, changeAddress }: SelectionNeed,
  parameters: ProtocolParameters,
  most: number,
): Selection {
  const chosen: Utxo[] = [];
  const left = new Set(free);
  let missing = need;
  const take = (utxo: Utxo): void => {
    chosen.push(utxo);
    left.delete(utxo);
    missing = subtractValue(missing, utxo.output.value);
  };
  for (const [asset, amount] of need.assets) {
    if (amount <= 0n) continue;
    for (const utxo of richestIn(asset, left)) {
      if ((missing.assets.get(asset) ?? 0n) <= 0n) break;
      if (chosen.length >= most) return poor(missing);
      take(utxo);
    }
    if ((missing.assets.get(asset) ?? 0n) > 0n) return poor(missing);
  }
  const byLovelace = [...left].sort(forLovelace);
  for (;;) {
    const surplus = subtractValue(coins(0n), missing);
    const change = changeOutputs(surplus, changeAddress, parameters);
    if (surplus.lovelace >= 0n && 'length' in change) {
      return { outcome: 'selected', utxos: chosen, change };
    }
    const next = byLovelace.shift();
    if (next === undefined || chosen.length >= most) {
      return poor('length' in change ? missing : { ...missing, lovelace: change.lackLovelace });
    }
    take(next);
  }
}

function richestIn(asset: AssetId, utxos: ReadonlySet<Utxo>): Utxo[] {
  const held = ({ output }: Utxo): bigint => output.value.assets.get(asset) ?? 0n;
  return [...utxos]
    .filter((utxo) => held(utxo) > 0n)
    .sort((a, b) => descending(held(a), held(b)) || poorestInTokens(a, b));
}

function forLovelace(a: Utxo, b: Utxo): number {
  return poorestInTokens(a, b) || descending(a.output.value.lovelace, b.output.value.lovelace);
}

function poorestInTokens(a: Utxo, b: Utxo): number {
  return a.output.value.assets.size - b.output.value.assets.size;
}

function descending(a: bigint, b: bigint): number {
  return a === b ? 0 : a > b ? -1 : 1;
}

/** Tokens are looked for first: when they lack, how much lovelace there is is not known yet. */
function poor({ lovelace, assets }: Value): Selection {
  const tokens = [...assets].filter(([, amount]) => amount > 0n);
  const lacks =
    tokens.length === 0
      ? `${lovelace} lovelace`
      : tokens.map(([asset, amount]) => `${amount} of ${asset}`).join(' and ');
  return { outcome: 'poor', message: `the wallet lacks ${lacks}` };
}
