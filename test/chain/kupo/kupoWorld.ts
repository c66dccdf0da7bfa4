/** Kupo's lookup over a test's own chain, whose blocks reach a fake Kupo and a mempool view. */
import assert from 'node:assert/strict';
import type { UtxoLookup } from '../../../src/cardano/ledger/port.ts';
import type { KupoHealth } from '../../../src/chain/kupo/answers.ts';
import { type KupoLimits, KupoLookup } from '../../../src/chain/kupo/kupo.ts';
import { MempoolOverlay } from '../../../src/chain/mempoolOverlay.ts';
import type { ChainStream, Point } from '../../../src/chain/port.ts';
import { type Clock, systemClock } from '../../../src/engine/runtime/clock.ts';
import type { ChainPlace } from '../../contracts/chainPlace.ts';
import { FakeKupo } from '../../support/kupo/fake.ts';
import { startChain } from '../../support/ledgerWorld.ts';
import type { Scope } from '../../support/server.ts';
import type { TestChain } from '../../support/testChain.ts';
import { until } from '../../support/until.ts';

export interface KupoPlace {
  readonly ledger: TestChain;
  readonly kupo: FakeKupo;
  readonly lookup: KupoLookup;
  readonly overlay: MempoolOverlay;
  readonly outcomes: string[];
  readonly healths: (KupoHealth | null)[];
  /** The newest block that is served. */
  served(): Point | null;
  /** How often the whole mempool was told: at the start, and after each fork. */
  wholes(): number;
  /** Everything that the ledger has said so far is served. */
  settled(): Promise<void>;
}

/** The part of a follower that lookups depend on. */
class Served {
  readonly overlay = new MempoolOverlay();
  tip: Point | null = null;
  wholes = 0;
  pumping: Promise<void> = Promise.resolve();

  async follow(stream: ChainStream): Promise<void> {
    for (;;) {
      const event = await stream.next();
      if (event === null) return;
      if (event.kind === 'forward') {
        this.tip = event.block.point;
        this.overlay.confirm(event.block.transactions, event.block.point.slot);
      } else if (event.kind === 'back') {
        if (event.point?.hash !== this.tip?.hash) this.overlay.clear();
        this.tip = event.point;
      } else {
        this.overlay.apply(event);
        if (event.whole) this.wholes += 1;
      }
    }
  }
}

/** Stops in reverse order, so that nothing follows a stopped ledger. */
function backwards(test: Scope): Scope {
  const ends: (() => void | Promise<void>)[] = [];
  test.after(async () => {
    for (const end of ends.toReversed()) await end();
  });
  return { after: (end) => void ends.push(end) };
}

export async function kupoPlace(
  test: Scope,
  limits: Partial<KupoLimits> = {},
  clock: Clock = systemClock,
): Promise<KupoPlace> {
  const scope = backwards(test);
  const ledger = await startChain(test);
  const kupo = await FakeKupo.begin(scope, { source: ledger, genesis: ledger.genesis });
  const served = new Served();
  const stream = await ledger.open([]);
  assert.ok(stream);
  served.pumping = served.follow(stream);
  scope.after(async () => {
    await stream.close();
    await served.pumping;
  });
  await until('the mempool was told once', () => served.wholes > 0);
  const outcomes: string[] = [];
  const healths: (KupoHealth | null)[] = [];
  const observer = {
    kupoAsked: (outcome: string) => void outcomes.push(outcome),
    kupoHealth: (health: KupoHealth | null) => void healths.push(health),
  };
  const { overlay } = served;
  const tip = () => served.tip;
  const options = { url: kupo.url, tip, overlay, clock, observer };
  const lookup = new KupoLookup({ ...options, limits: { deadlineMs: 60_000, ...limits } });
  const settled = async () => {
    const { tip: newest } = await ledger.tip();
    await until('the newest block is served', () => served.tip?.hash === newest?.hash);
  };
  return {
    ledger,
    kupo,
    lookup,
    overlay,
    outcomes,
    healths,
    served: tip,
    settled,
    wholes: () => served.wholes,
  };
}

/** Where the contracts are run on a lookup over this Kupo. */
export function contractPlace(
  { ledger, overlay, wholes }: KupoPlace,
  lookup: UtxoLookup,
  settled: () => Promise<void>,
): ChainPlace {
  const chain = {
    open: ledger.open.bind(ledger),
    async submit(bytes: Uint8Array) {
      const outcome = await ledger.submit(bytes);
      if (outcome.outcome === 'accepted') {
        await until('it waits', () => overlay.mempool.has(outcome.txHash));
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
      await settled();
    },
    async fork(depth, resubmit) {
      const before = wholes();
      assert.ok('takenBack' in (await ledger.fork(depth, { resubmit })));
      await until('the mempool is read again', () => wholes() > before);
      await settled();
    },
  };
}
