/**
 * Who executes and where fees go now: what the newest settings output says. Its place is a row of
 * the fold, so it goes back with the chain; before the first rotation it is the deployment's own.
 */

import { formatAddress, parseAddress } from '../cardano/codec/address.ts';
import { datumOf, type OutputRef, parseRef, type Utxo } from '../cardano/codec/output.ts';
import { readSettingsData } from '../cardano/datums/datums.ts';
import {
  type Deployment,
  type PartialDeployment,
  settingsAddress,
  settingsNft,
} from '../cardano/datums/deployment.ts';
import type { UtxoLookup } from '../cardano/ledger/port.ts';
import { SETTINGS } from '../engine/actors/chainRows.ts';
import { readRecord, type SettingsRecord } from '../engine/store/records.ts';
import type { StateStore } from '../engine/store/state.ts';

/** What settings change in a deployment. */
export type Roles = Pick<Deployment, 'executorKeyHash' | 'feeKeyHash' | 'feeAddress'>;

export interface Settings {
  readonly roles: Roles;
  /** What a transaction that reads them refers to. */
  readonly utxo: Utxo;
}

/** The mempool included; null: they are not where they count, and trading has stopped. */
export async function newestSettings(
  store: StateStore,
  utxos: UtxoLookup,
  deployment: Deployment,
): Promise<Settings | null> {
  const ref = parseRef(recorded(store)?.ref ?? '') ?? deployment.settings.ref;
  return newestSettingsOf(ref, utxos, deployment);
}

/** `ref`: an output that held them in a block. */
export async function newestSettingsOf(
  ref: OutputRef,
  utxos: UtxoLookup,
  { settings, addressNetwork }: Deployment,
): Promise<Settings | null> {
  const utxo = await utxos.newestOf(ref, settingsNft(settings));
  if (utxo === null || utxo.output.address !== settingsAddress(settings, addressNetwork)) {
    return null;
  }
  const datum = readSettingsData(datumOf(utxo.output), addressNetwork);
  if (datum === null) return null;
  const feeAddress = formatAddress(datum.fee);
  const roles = { executorKeyHash: datum.executor, feeKeyHash: datum.fee.payment.hash, feeAddress };
  return { roles, utxo };
}

/** As the blocks have them; null: as in the deployment. */
export function recordedRoles(
  store: () => StateStore,
  { settings }: Pick<PartialDeployment, 'settings'>,
): Roles | null {
  const record = settings === undefined ? null : recorded(store());
  if (record === null) return null;
  const { executor: executorKeyHash, feeAddress } = record;
  const feeKeyHash = parseAddress(feeAddress)?.payment.hash ?? '';
  return { executorKeyHash, feeKeyHash, feeAddress };
}

function recorded(store: StateStore): SettingsRecord | null {
  const text = store.get('market', SETTINGS);
  return text === null ? null : readRecord<SettingsRecord>(text);
}
