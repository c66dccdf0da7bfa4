/** The contract of unspent-output lookups, on Kupo. */
import assert from 'node:assert/strict';
import { chainLookupContract } from '../../contracts/chainLookup.ts';
import type { MakePlace } from '../../contracts/chainPlace.ts';
import { until } from '../../support/until.ts';
import { kupoPlace } from './place.ts';

const place: MakePlace = async (scope) => {
  const kupo = await kupoPlace(scope);
  const { ledger, lookup, waiting } = kupo;
  const chain = {
    open: ledger.open.bind(ledger),
    async submit(bytes: Uint8Array) {
      const outcome = await ledger.submit(bytes);
      if (outcome.outcome === 'accepted') {
        await until('it waits', () => waiting.mempool.has(outcome.txHash));
      }
      return outcome;
    },
    byPaymentKey: lookup.byPaymentKey.bind(lookup),
    byAsset: lookup.byAsset.bind(lookup),
    newestOf: lookup.newestOf.bind(lookup),
    byRefs: lookup.byRefs.bind(lookup),
  };
  return {
    chain,
    async mine(blocks) {
      await ledger.mine(blocks);
      await kupo.settled();
    },
    async fork(depth, resubmit) {
      const before = kupo.wholes();
      assert.ok('takenBack' in (await ledger.fork(depth, { resubmit })));
      await until('the mempool is told anew', () => kupo.wholes() > before);
      await kupo.settled();
    },
  };
};

chainLookupContract('kupo', place);
