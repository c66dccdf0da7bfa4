/**
 * A node that only reads: it applies the shared log and serves clients from its state. It has no
 * keys and no chain, never leads, and asks other nodes to build and submit (nodeCalls.ts).
 *
 * Assumes: other nodes of the market may lead. Without one, reads continue and get old.
 */

import type { TxBuildContext } from '../../api/builder/txBuildContext.ts';
import type { Devnet } from '../../api/devnet/routes.ts';
import { unavailableLookup } from '../../chain/foldUtxoLookup.ts';
import { Failure, Unavailable } from '../../engine/runtime/errors.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Reasons } from '../../engine/runtime/reasons.ts';
import type { AppDeps } from './appDeps.ts';
import type { ChainFeatures } from './chain.ts';
import type { Cluster } from './cluster.ts';
import { observeElection } from './election.ts';
import { imagesOf } from './images.ts';
import { forwardRoutes } from './nodeCalls.ts';
import type { OpenNode } from './openNode.ts';

export function openReader(
  appDeps: AppDeps,
  { node }: OpenNode,
  cluster: Cluster,
  reasons: Reasons,
  events: Events,
): ChainFeatures {
  const observed = observeElection(cluster, appDeps, node, reasons, events);
  const { state: roles, isStale, services } = observed;
  return {
    txContext: routesOnly(
      { images: imagesOf(appDeps, node, cluster), clock: appDeps.clock },
      () => {
        return node.fold.store;
      },
    ),
    devnet: appDeps.settings.NETWORK === 'devnet' ? noDevnet : null,
    forward: forwardRoutes(cluster, node, appDeps),
    stuckSteps: () => [],
    liveSinceMs: null,
    sync: null,
    roles,
    isStale: isStale,
    isReady: () => true,
    services,
  };
}

/** Makes the routes, whose handlers are replaced. A reader has only images and rows. */
function routesOnly(
  has: Pick<TxBuildContext, 'images' | 'clock'>,
  store: TxBuildContext['store'],
): TxBuildContext {
  return {
    ...has,
    store,
    utxos: unavailableLookup(),
    submitter: { submit: absent },
    builder: { build: absent },
    collateralKey: null,
    callersCollaterals: 0,
    cannotRunScripts: absent,
    parameters: absent,
    get deployment() {
      return absent();
    },
    get partialDeployment() {
      return absent();
    },
    get slots() {
      return absent();
    },
  };
}

const noDevnet: Devnet = { faucet: absent, fork: absent, mine: absent };

function absent(): never {
  throw new Unavailable(new Failure('NOT_READY', 'a reader has no chain: ask another node'));
}
