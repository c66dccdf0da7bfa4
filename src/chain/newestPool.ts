/** A pool's newest output, mempool included: the state on which quotes and batches are based. */

import { datumOf, type OutputRef, parseRef, type Utxo } from '../cardano/codec/output.ts';
import { readAmmData, readPoolData, readSplashPool } from '../cardano/datums/datums.ts';
import type { PartialDeployment } from '../cardano/datums/deployment.ts';
import type { UtxoLookup } from '../cardano/ledger/port.ts';
import type { AssetId } from '../engine/market/asset.ts';
import type { PoolState } from '../engine/market/pool.ts';
import { areSplashFees } from '../engine/market/splash.ts';
import { type PoolRecord, readRecord } from '../engine/store/records.ts';
import type { StateStore } from '../engine/store/state.ts';

export interface NewestPool {
  readonly ref: OutputRef;
  readonly address: string;
  readonly nft: AssetId;
  readonly token: AssetId;
  readonly state: PoolState;
  /** Key hash of the only executor that may move this pool or fill an order on it; null: any. */
  readonly executor: string | null;
  readonly utxo: Utxo;
  /** As launched. */
  readonly record: PoolRecord;
}

/** null: no block holds such a pool, or its output is unreadable. */
export async function newestPool(
  token: AssetId,
  store: StateStore,
  utxos: UtxoLookup,
  deployment: Pick<PartialDeployment, 'fees'>,
): Promise<NewestPool | null> {
  const text = store.get('pools', token);
  if (text === null) return null;
  const record = readRecord<PoolRecord>(text);
  const { supply } = record;
  const nft = record.ammNft ?? record.nft;
  const from = parseRef(record.ref);
  const utxo = from === null ? null : await utxos.newestOf(from, nft);
  if (utxo === null) return null;
  const read =
    record.ammNft === undefined
      ? readPool(utxo, token, BigInt(supply), deployment)
      : readSplash(utxo, token, BigInt(supply));
  if (read === null) return null;
  const { ref, output } = utxo;
  return { ref, address: output.address, nft, token, ...read, utxo, record };
}

function readPool(
  { output }: Utxo,
  token: AssetId,
  supply: bigint,
  { fees }: Pick<PartialDeployment, 'fees'>,
): Pick<NewestPool, 'state' | 'executor'> | null {
  const data = datumOf(output);
  const y = output.value.assets.get(token) ?? 0n;
  const x = output.value.lovelace - fees.poolKeepLovelace;
  const curve = readPoolData(data);
  if (curve?.token === token) {
    const { aNum, bNum, capLovelace, executor } = curve;
    const thresholdLovelace = capLovelace - fees.poolKeepLovelace;
    const terms = { curve: { aNum, bNum, supply }, thresholdLovelace };
    return { state: { venue: 'CURVE', x, y, ...terms }, executor };
  }
  const amm = readAmmData(data);
  if (amm?.token !== token) return null;
  const { owedLovelace: owed, executor } = amm;
  return { state: { venue: 'AMM', x: x - owed, y, owed, supply }, executor };
}

/** null: a pool of Splash cannot trade with this value or with these fees. */
function readSplash(
  { output }: Utxo,
  token: AssetId,
  supply: bigint,
): Pick<NewestPool, 'state' | 'executor'> | null {
  const datum = readSplashPool(datumOf(output));
  if (datum?.token !== token || !areSplashFees(datum.fees)) return null;
  const x = output.value.lovelace - datum.earnedLovelace;
  const y = (output.value.assets.get(token) ?? 0n) - datum.earnedTokens;
  if (x <= 0n || y <= 0n) return null;
  return { state: { venue: 'AMM', x, y, owed: 0n, supply, splash: datum.fees }, executor: null };
}
