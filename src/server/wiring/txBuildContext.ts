/**
 * The context of the building routes. Getters throw for unknown parts (fields of a foreign
 * deployment, missing keys, parameters of a node that does not answer), so that only a route that
 * needs such a part fails, and names the part.
 */

import type { TxBuildContext } from '../../api/builder/txBuildContext.ts';
import {
  type Deployment,
  lackingForFills,
  type NetworkDeployment,
  type PartialDeployment,
} from '../../cardano/datums/deployment.ts';
import type { Key } from '../../cardano/keys/keys.ts';
import type { LedgerTerms } from '../../cardano/ledger/parameters.ts';
import { type LiveBuilder, unknownParameters } from '../../cardano/transactions/liveBuilder.ts';
import { recordedRoles } from '../../chain/settings.ts';
import { type Cause, Failure, Unavailable } from '../../engine/runtime/errors.ts';
import type { Settings } from '../settings/table.ts';

type Plain = Pick<TxBuildContext, 'utxos' | 'builder' | 'images' | 'clock' | 'store' | 'submitter'>;

export function txBuildContextOf(
  plain: Plain,
  network: NetworkDeployment,
  live: LiveBuilder,
  collateralKey: Key | null,
  settings: Pick<Settings, 'CALLERS_COLLATERALS'>,
): TxBuildContext {
  const terms = () => live.parameters ?? fail(unknownParameters());
  return {
    ...plain,
    collateralKey,
    callersCollaterals: settings.CALLERS_COLLATERALS,
    cannotRunScripts: () => {
      const why = live.cannotRunScripts;
      return why === null ? null : new Failure('PROTOCOL_CONFIG', why);
    },
    parameters: () => terms().parameters,
    get slots(): LedgerTerms['slots'] {
      return terms().slots;
    },
    get deployment(): Deployment {
      const { complete, mismatch } = network;
      if (mismatch !== null) return refuse(mismatch, MISMATCH);
      const known = complete ?? refuse('PROTOCOL_CONFIG', incomplete(network));
      return { ...known, ...recordedRoles(plain.store, known) };
    },
    get partialDeployment(): PartialDeployment {
      const { partial, mismatch } = network;
      if (mismatch !== null) return refuse(mismatch, MISMATCH);
      const known = partial ?? refuse('PROTOCOL_CONFIG', incomplete(network));
      // We protect our collateral key on a foreign deployment, too.
      const { collateralKeyHash } = known;
      return {
        ...{ ...known, ...recordedRoles(plain.store, known) },
        collateralKeyHash: collateralKey?.hash ?? collateralKeyHash,
      };
    },
  };
}

const MISMATCH = 'the deployment of this node is of another network: correct DEPLOYMENT_FILE';

function incomplete({ network, missing, partial }: NetworkDeployment): string {
  const what = `not enough is known of the launchpad on ${network} for this`;
  const isEarlier = partial !== null && lackingForFills(partial).length > 0;
  const rest = isEarlier
    ? 'it is of an earlier version, so deploy again; cancels and transfers are built without it'
    : 'orders, cancels and transfers are built without it';
  return `${what} (${missing.join(', ')}): ${rest}`;
}

function refuse(cause: Cause, message: string): never {
  return fail(new Failure(cause, message));
}

function fail(failure: Failure): never {
  throw new Unavailable(failure);
}
