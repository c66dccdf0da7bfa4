/** The contracts of the chain's ports, on the embedded ledger. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { chainLookupContract } from '../contracts/chainLookup.ts';
import type { MakePlace } from '../contracts/chainPlace.ts';
import { chainSourceContract } from '../contracts/chainSource.ts';
import { chainSubmitterContract } from '../contracts/chainSubmitter.ts';
import { chainsInTurn } from '../support/ledgerWorld.ts';

const begun = chainsInTurn(after);

const place: MakePlace = async () => {
  const chain = await begun();
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
