/** The contracts of source and submitter, through Ogmios to a chain of the test's own. */
import type { MakePlace } from '../../contracts/chainPlace.ts';
import { chainSourceContract } from '../../contracts/chainSource.ts';
import { chainSubmitterContract } from '../../contracts/chainSubmitter.ts';
import { bridgedChain, startBridgedPlace } from '../../support/ogmios/place.ts';
import { checkedMessages } from '../../support/ogmios/scene.ts';
import { until } from '../../support/until.ts';
import { startOgmios } from './ogmiosWorld.ts';

const place: MakePlace = async (scope) => {
  const sent = checkedMessages(scope);
  const bridged = await startBridgedPlace(scope, { includeCbor: true, ogmios: { sent } });
  const { bridge, ledger } = bridged;
  const ogmios = await startOgmios(scope, bridge.url);
  /** Where somebody follows, until the adapter's thread has heard of it. */
  const heard = () =>
    until(
      'the newest block is heard of',
      () => ogmios.tip() === null || ogmios.tip()?.hash === bridge.ogmios.chain.tip?.id,
    );
  return {
    chain: bridgedChain(ogmios, ledger),
    async mine(blocks) {
      await bridged.mine(blocks);
      await heard();
    },
    async fork(depth, resubmit) {
      await bridged.fork(depth, resubmit);
      await heard();
    },
  };
};

chainSourceContract('ogmios', place);
chainSubmitterContract('ogmios', place);
