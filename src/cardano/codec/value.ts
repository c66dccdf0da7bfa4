/**
 * The value of an output: lovelace and other assets, exact. An asset with amount 0 is not there.
 */
import type { AssetId } from '../../engine/market/asset.ts';

export interface Value {
  readonly lovelace: bigint;
  readonly assets: ReadonlyMap<AssetId, bigint>;
}

export const NOTHING: Value = { lovelace: 0n, assets: new Map() };

export function coins(lovelace: bigint): Value {
  return { lovelace, assets: NOTHING.assets };
}

export function asValue(lovelace: bigint, assets: Iterable<readonly [AssetId, bigint]>): Value {
  const kept = new Map<AssetId, bigint>();
  for (const [asset, amount] of assets) {
    const sum = (kept.get(asset) ?? 0n) + amount;
    if (sum === 0n) kept.delete(asset);
    else kept.set(asset, sum);
  }
  return { lovelace, assets: kept };
}

export function amountOf(value: Value, asset: AssetId): bigint {
  return asset === '.' ? value.lovelace : (value.assets.get(asset) ?? 0n);
}

export function addValues(...values: readonly Value[]): Value {
  let lovelace = 0n;
  for (const value of values) lovelace += value.lovelace;
  return asValue(
    lovelace,
    values.flatMap(({ assets }) => [...assets]),
  );
}

/** May go below zero: a difference, not a holding. */
export function subtractValue(from: Value, what: Value): Value {
  const negated: [AssetId, bigint][] = [...what.assets].map(([asset, amount]) => [asset, -amount]);
  return asValue(from.lovelace - what.lovelace, [...from.assets, ...negated]);
}

export function equalValues(a: Value, b: Value): boolean {
  if (a.lovelace !== b.lovelace || a.assets.size !== b.assets.size) return false;
  for (const [asset, amount] of a.assets) if (b.assets.get(asset) !== amount) return false;
  return true;
}
