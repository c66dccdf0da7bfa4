/** The keys of a node on a real network, and what it may do with them. */
import type { NetworkDeployment } from '../cardano/deployment.ts';
import type { Key } from '../cardano/keys.ts';
import type { World } from './world.ts';

export interface RealKeys {
  /** Of the executor and the fee address; none: orders are not filled here. */
  readonly executing: readonly Key[];
  /** null: callers bring their own collateral. */
  readonly collateral: Key | null;
}

export function realKeys(_world: World, _network: NetworkDeployment): RealKeys {
  return { executing: [], collateral: null };
}
