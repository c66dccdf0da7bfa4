/**
 * Where the contracts of the chain's ports run on an adapter of Ogmios: a chain of the test's own
 * behind a fake. The caller adds the adapter; lookups are the ledger's own.
 */
import assert from 'node:assert/strict';
import type { Submitter, UtxoLookup } from '../../../src/cardano/ledger/port.ts';
import type { ChainSource } from '../../../src/chain/port.ts';
import type { ChainPlace } from '../../contracts/chainPlace.ts';
import { startChain } from '../ledgerWorld.ts';
import type { Scope } from '../server.ts';
import type { TestChain } from '../testChain.ts';
import { Bridge, type BridgeOptions } from './bridge.ts';

export interface BridgedPlace extends Omit<ChainPlace, 'chain'> {
  readonly ledger: TestChain;
  readonly bridge: Bridge;
}

/** Blocks and forks are served when `mine` and `fork` resolve. */
export async function startBridgedPlace(
  scope: Scope,
  options: BridgeOptions = {},
): Promise<BridgedPlace> {
  const ledger = await startChain(scope);
  const bridge = new Bridge(ledger, options);
  await bridge.start();
  scope.after(() => bridge.stop());
  return {
    ledger,
    bridge,
    async mine(blocks) {
      await ledger.mine(blocks);
      await bridge.settled();
    },
    async fork(depth, resubmit) {
      assert.ok('takenBack' in (await ledger.fork(depth, { resubmit })));
      await bridge.settled();
    },
  };
}

/** The adapter's source and submitter, the ledger's lookup. */
export function bridgedChain(
  adapter: ChainSource & Submitter,
  ledger: UtxoLookup,
): ChainPlace['chain'] {
  return {
    open: (points) => adapter.open(points),
    submit: (bytes) => adapter.submit(bytes),
    byPaymentKey: (keyHash, view, page) => ledger.byPaymentKey(keyHash, view, page),
    byAsset: (asset, view) => ledger.byAsset(asset, view),
    newestOf: (ref, asset) => ledger.newestOf(ref, asset),
    byRefs: (refs) => ledger.byRefs(refs),
  };
}
