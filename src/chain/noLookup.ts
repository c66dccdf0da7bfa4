/** Where there is no index of outputs: the chain is followed, and wallets are unknown. */

import type { UtxoLookup } from '../cardano/ledger/port.ts';
import { Failure, Unavailable } from '../engine/runtime/errors.ts';

export function unavailableLookup(): UtxoLookup {
  const refuse = async (): Promise<never> => {
    const what = 'this node has no index of outputs, so it knows no wallet and builds nothing: ';
    throw new Unavailable(new Failure('NOT_READY', `${what}set KUPO_URL where it runs`));
  };
  return { byPaymentKey: refuse, byAsset: refuse, newestOf: refuse, byRefs: refuse };
}
