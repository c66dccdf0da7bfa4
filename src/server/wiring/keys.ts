/** The keys of a node of a market, and what it may do with them. */
import type { NetworkDeployment } from '../../cardano/datums/deployment.ts';
import { type Key, keyOf } from '../../cardano/keys/keys.ts';
import type { KeySecrets } from '../settings/keyFiles.ts';
import type { Secret } from '../settings/secrets.ts';

export interface ChainKeys {
  /** Of the executor, the fee address and the collateral; none: orders are not filled here. */
  readonly executing: readonly Key[];
  /** null: callers bring their own collateral. */
  readonly collateral: Key | null;
  /** Why the executor's key was given and fills no order all the same; null: nothing to say. */
  readonly idleBecause: string | null;
}

const NO_COLLATERAL = 'it needs a collateral key as well: set COLLATERAL_KEY_FILE';

/** Throws where a key is not the one that the deployment names. */
export function keysOf(secrets: KeySecrets, network: NetworkDeployment): ChainKeys {
  const [executor, fee, collateral] = (['executor', 'fee', 'collateral'] as const).map((name) =>
    checked(name, secrets[name], network),
  );
  if (!executor || !fee)
    return { executing: [], collateral: collateral ?? null, idleBecause: null };
  if (!collateral) return { executing: [], collateral: null, idleBecause: NO_COLLATERAL };
  const { complete, missing } = network;
  const idleBecause =
    complete !== null ? null : `not enough is known of the launchpad (${missing.join(', ')})`;
  return { executing: [executor, fee, collateral], collateral, idleBecause };
}

function checked(
  name: 'executor' | 'fee' | 'collateral',
  secret: Secret | null,
  { network, complete }: NetworkDeployment,
): Key | null {
  if (secret === null) return null;
  const key = keyOf(secret.reveal());
  const expected = complete?.[`${name}KeyHash`] ?? key.hash;
  if (key.hash === expected) return key;
  throw new Error(
    `the ${name} key that was given has the hash ${key.hash}, the deployment on ${network} names ` +
      `${expected}: give the key that it was deployed with, or leave it out`,
  );
}
