/** The contracts of source, submitter and lookup, through the devnet's Ogmios and Kupo. */
import assert from 'node:assert/strict';
import { KupoLookup } from '../../src/chain/kupo/kupo.ts';
import { MempoolOverlay } from '../../src/chain/mempoolOverlay.ts';
import type { ChainStream, Point } from '../../src/chain/port.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { startOgmios } from '../chain/ogmios/ogmiosWorld.ts';
import { chainLookupContract } from '../contracts/chainLookup.ts';
import type { MakePlace } from '../contracts/chainPlace.ts';
import { chainSourceContract } from '../contracts/chainSource.ts';
import { chainSubmitterContract } from '../contracts/chainSubmitter.ts';
import { startDevnet } from '../support/devnetNode.ts';
import { until } from '../support/until.ts';

/** The part of a follower that lookups depend on. */
class Followed {
  readonly pending = new MempoolOverlay();
  tip: Point | null = null;
  wholes = 0;

  async follow(stream: ChainStream): Promise<void> {
    for (let event = await stream.next(); event !== null; event = await stream.next()) {
      if (event.kind === 'forward') {
        this.tip = event.block.point;
        this.pending.confirm(event.block.transactions, event.block.point.slot);
      } else if (event.kind === 'back') {
        if (event.point?.hash !== this.tip?.hash) this.pending.clear();
        this.tip = event.point;
      } else {
        this.pending.apply(event);
        if (event.whole) this.wholes += 1;
      }
    }
  }
}

const place: MakePlace = async (scope) => {
  const { node, ogmiosUrl, kupoUrl } = await startDevnet(scope);
  const ogmios = await startOgmios(scope, ogmiosUrl);
  const stream = await ogmios.open([]);
  assert.ok(stream);
  const followed = new Followed();
  const following = followed.follow(stream);
  scope.after(async () => {
    await stream.close();
    await following;
  });
  await until('the mempool was shown once', () => followed.wholes > 0);
  const observer = { kupoAsked: () => {}, kupoHealth: () => {} };
  const lookup = new KupoLookup({
    url: kupoUrl,
    tip: () => followed.tip,
    overlay: followed.pending,
    clock: systemClock,
    observer,
    limits: { deadlineMs: 60_000 },
  });
  const heard = () => {
    const hash = () => node.chain.tip?.id ?? null;
    return until('the newest block is followed', () => (followed.tip?.hash ?? null) === hash());
  };
  return {
    chain: {
      open: ogmios.open.bind(ogmios),
      async submit(bytes) {
        const outcome = await ogmios.submit(bytes);
        const { mempool } = followed.pending;
        if (outcome.outcome === 'accepted') {
          await until(
            'it is pending',
            () => mempool.has(outcome.txHash) || node.chain.isInBlock(outcome.txHash),
          );
        }
        return outcome;
      },
      byPaymentKey: lookup.byPaymentKey.bind(lookup),
      byAsset: lookup.byAsset.bind(lookup),
      newestOf: lookup.newestOf.bind(lookup),
      byRefs: lookup.byRefs.bind(lookup),
    },
    async mine(blocks) {
      assert.equal(typeof (await node.mine(blocks)), 'number');
      await heard();
    },
    async fork(depth, resubmit) {
      const before = followed.wholes;
      assert.equal(typeof (await node.fork(depth, resubmit)), 'number');
      await until('the mempool is shown again', () => followed.wholes > before);
      await heard();
    },
  };
};

chainSourceContract('devnet', place);
chainSubmitterContract('devnet', place);
chainLookupContract('devnet', place);
