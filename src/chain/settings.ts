/**
 * The executor's key and the fee address, read from the newest settings output. The fold keeps
 * which output that is in a row, so a roll-back restores it. Before the first rotation, the
 * deployment file gives both.
 */

import { formatAddress, parseAddress } from '../cardano/codec/address.ts';
import { datumOf, type OutputRef, parseRef, refText, type Utxo } from '../cardano/codec/output.ts';
import { readSettingsData } from '../cardano/datums/datums.ts';
import {
  type Deployment,
  type PartialDeployment,
  settingsAddress,
  settingsNft,
} from '../cardano/datums/deployment.ts';
import type { Key } from '../cardano/keys/keys.ts';
import type { UtxoLookup } from '../cardano/ledger/port.ts';
import { SETTINGS } from '../engine/fold/chainRows.ts';
import { Unavailable } from '../engine/runtime/errors.ts';
import { readRecord, type SettingsRecord } from '../engine/store/records.ts';
import type { StateStore } from '../engine/store/state.ts';

/** The fields of a deployment that settings replace. */
export type Roles = Pick<Deployment, 'executorKeyHash' | 'feeKeyHash' | 'feeAddress'>;

interface Settings {
  readonly roles: Roles;
  /** The settings output, which transactions refer to. */
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

export interface SettingsWatchObserver {
  /** Called when it changes; null: it may trade. */
  executorMayNotTrade(why: string | null): void;
}

interface SettingsWatchDeps {
  store(): StateStore;
  readonly utxos: UtxoLookup;
  readonly deployment: Deployment;
  readonly keys: readonly Pick<Key, 'hash'>[];
}

const TAKEN_AWAY =
  'the settings are not at the script of their signers: nothing trades until they are put back';

/**
 * Says when the settings change, and whether this node's keys may still trade. Orders can be
 * refunded and cancelled in any case.
 */
export class SettingsWatch {
  readonly #deps: SettingsWatchDeps;
  readonly #observer: SettingsWatchObserver;
  /** Their output when last looked at; null: none. */
  #ref: string | null | undefined;
  #problem: string | null = null;

  constructor(deps: SettingsWatchDeps, observer: SettingsWatchObserver) {
    this.#deps = deps;
    this.#observer = observer;
  }

  /** Whether they are others than at the last call; the first call says no. */
  async changed(): Promise<boolean> {
    const settings = await this.#newest().catch(ifUnavailable);
    if (settings === undefined) return false;
    const ref = settings === null ? null : refText(settings.utxo.ref);
    const isChanged = this.#ref !== undefined && this.#ref !== ref;
    this.#ref = ref;
    this.#report(this.#problemWith(settings));
    return isChanged;
  }

  async roles(): Promise<Roles> {
    return (await this.#newest())?.roles ?? this.#deps.deployment;
  }

  /** This node stops leading: another one trades. */
  stop(): void {
    this.#report(null);
  }

  #newest(): Promise<Settings | null> {
    const { store, utxos, deployment } = this.#deps;
    return newestSettings(store(), utxos, deployment);
  }

  #problemWith(settings: Settings | null): string | null {
    if (settings === null) return TAKEN_AWAY;
    const { executorKeyHash } = settings.roles;
    if (this.#deps.keys.some(({ hash }) => hash === executorKeyHash)) return null;
    return (
      `the settings name the executor ${executorKeyHash}, whose key this node does not have: ` +
      'give it with EXECUTOR_KEY_FILE'
    );
  }

  #report(problem: string | null): void {
    if (problem !== this.#problem) this.#observer.executorMayNotTrade(problem);
    this.#problem = problem;
  }
}

/** The index does not answer: nothing is known of the settings now. */
function ifUnavailable(error: unknown): undefined {
  if (error instanceof Unavailable) return undefined;
  throw error;
}
