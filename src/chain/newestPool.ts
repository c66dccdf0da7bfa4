/** A pool as its newest output says it, the mempool included: what quotes and batches begin at. */
import { readAmmData, readPoolData } from '../cardano/datums.ts';
import type { Deployment } from '../cardano/deployment.ts';
import { datumOf, type OutputRef, type Utxo } from '../cardano/output.ts';
import type { AssetId } from '../market/asset.ts';
import type { PoolState } from '../market/pool.ts';
import { type PoolRecord, readRecord } from '../store/records.ts';
import type { StateStore } from '../store/state.ts';
import type { UtxoLookup } from './port.ts';

export interface NewestPool {
  readonly ref: OutputRef;
  readonly address: string;
  readonly nft: AssetId;
  readonly token: AssetId;
  readonly state: PoolState;
  readonly utxo: Utxo;
  /** What the launch said. */
  readonly record: PoolRecord;
}

/** null: no such pool in a block, or its output cannot be read. */
export async function newestPool(
  token: AssetId,
  store: StateStore,
  utxos: UtxoLookup,
  deployment: Deployment,
): Promise<NewestPool | null> {
  const text = store.get('pools', token);
  if (text === null) return null;
  const record = readRecord<PoolRecord>(text);
  const { nft, supply } = record;
  const [utxo] = await utxos.byAsset(nft, 'newest');
  if (utxo === undefined) return null;
  const state = stateOf(utxo, token, BigInt(supply), deployment);
  if (state === null) return null;
  const { ref, output } = utxo;
  return { ref, address: output.address, nft, token, state, utxo, record };
}

function stateOf(
  { output }: Utxo,
  token: AssetId,
  supply: bigint,
  { fees }: Deployment,
): PoolState | null {
  const data = datumOf(output);
  const y = output.value.assets.get(token) ?? 0n;
  const x = output.value.lovelace - fees.poolKeepLovelace;
  const curve = readPoolData(data);
  if (curve?.token === token) {
    const { aNum, bNum, capLovelace } = curve;
    const thresholdLovelace = capLovelace - fees.poolKeepLovelace;
    return { venue: 'CURVE', x, y, curve: { aNum, bNum, supply }, thresholdLovelace };
  }
  const amm = readAmmData(data);
  if (amm?.token !== token) return null;
  return { venue: 'AMM', x: x - amm.owedLovelace, y, owed: amm.owedLovelace, supply };
}
