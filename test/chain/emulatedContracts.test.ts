/** The contracts of the chain's ports, on the embedded ledger. */
import assert from 'node:assert/strict';
import { chainLookupContract } from '../contracts/chainLookup.ts';
import type { MakePlace } from '../contracts/chainPlace.ts';
import { chainSourceContract } from '../contracts/chainSource.ts';
import { chainSubmitterContract } from '../contracts/chainSubmitter.ts';
import { startChain } from '../support/ledgerWorld.ts';

const place: MakePlace = async (scope) => {
  const chain = await startChain(scope);
  return {
    chain,
    async mine(blocks) {
      await chain.mine(blocks);
    },
    async fork(depth, resubmit) {
      assert.ok('takenBack' in (await chain.fork(depth, { resubmit })));
    },
  };
};

chainSourceContract('embedded', place);
chainSubmitterContract('embedded', place);
chainLookupContract('embedded', place);
