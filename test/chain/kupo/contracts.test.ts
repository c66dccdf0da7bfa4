/** The contract of unspent-output lookups, on Kupo. */
import { chainLookupContract } from '../../contracts/chainLookup.ts';
import { contractPlace, kupoPlace } from './kupoWorld.ts';

chainLookupContract('kupo', async (scope) => {
  const kupo = await kupoPlace(scope);
  return contractPlace(kupo, kupo.lookup, kupo.settled);
});
