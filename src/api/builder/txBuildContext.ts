/** The context in which routes build transactions, and the steps that several routes share. */

import { type Address, keyAddressProblem, parseKeyAddress } from '../../cardano/codec/address.ts';
import { toHex } from '../../cardano/codec/hex.ts';
import type { OutputRef, Utxo } from '../../cardano/codec/output.ts';
import type { SlotConfig } from '../../cardano/codec/slots.ts';
import type { Deployment, PartialDeployment } from '../../cardano/datums/deployment.ts';
import type { Key } from '../../cardano/keys/keys.ts';
import type { ProtocolParameters } from '../../cardano/ledger/parameters.ts';
import type { SubmitOutcome, UtxoLookup } from '../../cardano/ledger/port.ts';
import {
  lookUpCallersCollateral,
  lookUpNamed,
  lookUpWallet,
  parseUnspent,
  serverKeyHashes,
  walletCollateral,
} from '../../cardano/transactions/chainData.ts';
import type { PlannedCollateral, TransactionPlan } from '../../cardano/transactions/plan.ts';
import { type Builder, type BuiltTransaction, failureOf } from '../../cardano/transactions/port.ts';
import { signCollateral } from '../../cardano/transactions/signing.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { type Cause, Failure, invalid } from '../../engine/runtime/errors.ts';
import type { StateStore } from '../../engine/store/state.ts';
import type { Route } from '../gateway/port.ts';
import type { ImageStore } from '../images/port.ts';

export interface TxBuildContext {
  /** Throws `Unavailable` if a part of it is unknown. */
  readonly deployment: Deployment;
  /** The known parts of the deployment, enough for orders, cancels and transfers. */
  readonly partialDeployment: PartialDeployment;
  readonly slots: SlotConfig;
  readonly utxos: UtxoLookup;
  /** A Failure: nothing can be submitted now. */
  readonly submitter: { submit(bytes: Uint8Array): Promise<SubmitOutcome | Failure> };
  readonly builder: Builder;
  /**
   * The reason why no transaction that runs a script, or pays to one, can be built; null: it can.
   */
  cannotRunScripts(): Failure | null;
  /** The protocol parameters to build with. */
  parameters(): ProtocolParameters;
  readonly images: ImageStore;
  /** Clock of the chain: the wall clock, or the newest block's where blocks come on demand. */
  readonly clock: Pick<Clock, 'nowMs'>;
  /** null: the caller brings the collateral. */
  readonly collateralKey: Key | null;
  /** Outputs of ours that may be collateral of callers' transactions; 0: none. */
  readonly callersCollaterals: number;
  /** Call it each time: a new epoch replaces the store. */
  store(): StateStore;
}

/** Settings that all building routes share. */
export const BUILDS = {
  method: 'POST',
  tag: 'Builder',
  rate: 'build',
  needsSync: true,
  positioned: false,
  exclusive: true,
} as const satisfies Partial<Route>;

/** Asks the server to look up the wallet. */
export const SERVER_WALLET = 'splash-wallet';

/**
 * Outputs named by the caller; absent, null, '' and SERVER_WALLET ask for a lookup by the server.
 */
type NamedUtxos = string | readonly string[] | null | undefined;

export function readAddress(
  { partialDeployment }: TxBuildContext,
  text: string,
  path: string,
): Address | Failure {
  const { addressNetwork } = partialDeployment;
  const address = parseKeyAddress(text, addressNetwork);
  return address ?? invalid(path, keyAddressProblem(text, addressNetwork));
}

/** The outputs that the caller may spend: the named ones, or the wallet's, looked up here. */
export async function walletUtxos(
  { utxos, partialDeployment }: TxBuildContext,
  owner: Address,
  named: NamedUtxos,
): Promise<readonly Utxo[] | Failure> {
  const refs = parseNamedUtxos(named, 'body.utxos');
  if (refs instanceof Failure) return refs;
  if (refs === null) return lookUpWallet(utxos, partialDeployment, owner, 'body');
  return lookUpNamed(utxos, partialDeployment, refs, 'body.utxos');
}

/** The outputs that a caller names, not looked up yet; null where none is named. */
export function parseNamedUtxos(
  named: NamedUtxos,
  path: string,
): readonly OutputRef[] | null | Failure {
  if (named == null || named === '' || named === SERVER_WALLET) return null;
  const texts = typeof named === 'string' ? [named] : named;
  const refs = texts.map(parseUnspent);
  const bad = refs.indexOf(null);
  if (bad >= 0) return invalid(`${path}.${bad}`, 'This is no CBOR of [input, output] (CIP-30).');
  return refs.flatMap((ref) => ref ?? []);
}

interface Collateral {
  readonly planned: PlannedCollateral;
  /** The server's: it signs for it. */
  readonly isOurs: boolean;
}

/** The collateral that the caller names, else one set aside here, else an output of the wallet. */
export async function chooseCollateral(
  { utxos, partialDeployment, collateralKey, callersCollaterals }: TxBuildContext,
  returnAddress: string,
  named: readonly string[] | null | undefined,
  wallet: readonly Utxo[],
): Promise<Collateral | Failure> {
  if (named == null || named.length === 0) {
    if (collateralKey !== null) {
      const { hash } = collateralKey;
      const most = callersCollaterals;
      const ours = await lookUpCallersCollateral(utxos, hash, partialDeployment, most);
      if (ours !== null) return { planned: ours, isOurs: true };
    }
    const planned = walletCollateral(wallet, returnAddress);
    return planned === null
      ? new Failure('OPERATIONS_CONFIG', NO_COLLATERAL)
      : { planned, isOurs: false };
  }
  const refs = parseNamedUtxos(named, 'body.collaterals');
  if (refs instanceof Failure) return refs;
  const found = await lookUpNamed(utxos, partialDeployment, refs ?? [], 'body.collaterals');
  if (found instanceof Failure) return found;
  return { planned: { utxos: found, returnAddress }, isOurs: false };
}

const NO_COLLATERAL =
  'this node has set no collateral aside for callers, and the wallet has no output for it: put ' +
  'ADA there; where the node runs, see COLLATERAL_KEY_FILE and CALLERS_COLLATERALS';

/** Builds; a refusal becomes a failure with this cause and note. */
export async function build(
  { builder }: TxBuildContext,
  plan: TransactionPlan,
  cause: Cause,
  note?: string,
): Promise<BuiltTransaction | Failure> {
  const outcome = await builder.build(plan);
  if (outcome instanceof Failure || outcome.outcome === 'built') return outcome;
  return failureOf(outcome, cause, note);
}

/** CBOR for the caller, with the server's signature where the collateral is the server's. */
export function cborForCaller(
  { partialDeployment, collateralKey }: TxBuildContext,
  built: BuiltTransaction,
  collateral: Collateral,
): string | Failure {
  if (!collateral.isOurs || collateralKey === null) return toHex(built.bytes);
  const bytes = signCollateral(built, {
    serverKeyHashes: serverKeyHashes(partialDeployment),
    collateral: collateral.planned.utxos,
    collateralKey,
  });
  return bytes instanceof Failure ? bytes : toHex(bytes);
}
