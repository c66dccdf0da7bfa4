/**
 * Compares the market's answers about outputs with the answers of an index of the same chain: for
 * transactions that are pending, in blocks, and undone by a fork.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OutputRef, parseRef, refText } from '../../src/cardano/codec/output.ts';
import { effectsOf } from '../../src/cardano/ledger/mempool.ts';
import type { UtxoLookup, UtxoState } from '../../src/cardano/ledger/port.ts';
import { KupoLookup } from '../../src/chain/kupo/kupo.ts';
import { MempoolOverlay } from '../../src/chain/mempoolOverlay.ts';
import type { ChainStream, Point } from '../../src/chain/port.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { ADA, DevnetWorld } from '../e2e/devnet/world.ts';
import type { Scope } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';

/** An index of the devnet, with every output that its chain or its mempool ever had. */
class Index {
  readonly refs = new Map<string, OutputRef>();
  readonly lookup: UtxoLookup;
  readonly #view = new MempoolOverlay();
  #tip: Point | null = null;

  constructor(url: string) {
    this.lookup = new KupoLookup({
      url,
      tip: () => this.#tip,
      overlay: this.#view,
      clock: systemClock,
      observer: { kupoAsked: () => {}, kupoHealth: () => {} },
      limits: { deadlineMs: 60_000 },
    });
  }

  static async start(scope: Scope, { app, chain }: DevnetWorld): Promise<Index> {
    const index = new Index(app.app.devnet?.kupo ?? assert.fail('the devnet serves Kupo'));
    const stream = await chain.open([]);
    assert(stream !== null);
    const following = index.#follow(stream);
    scope.after(async () => {
      await stream.close();
      await following;
    });
    return index;
  }

  async #follow(stream: ChainStream): Promise<void> {
    for (let event = await stream.next(); event !== null; event = await stream.next()) {
      if (event.kind === 'back') {
        if (event.point?.hash !== this.#tip?.hash) this.#view.clear();
        this.#tip = event.point;
        continue;
      }
      const transactions = event.kind === 'forward' ? event.block.transactions : event.added;
      for (const tx of transactions)
        for (const { ref } of effectsOf(tx).made) this.refs.set(refText(ref), ref);
      if (event.kind === 'mempool') this.#view.apply(event);
      else {
        this.#tip = event.block.point;
        this.#view.confirm(transactions, event.block.point.slot);
      }
    }
  }
}

function shown(states: readonly UtxoState[], refs: readonly OutputRef[]): unknown[] {
  return refs.map((ref, at) => {
    const state = states[at];
    // An index may not know the content of an output that is spent.
    return [refText(ref), state?.state === 'unspent' ? state : state?.state];
  });
}

/** Asked until both have the same chain and the same mempool. */
async function untilSame(world: DevnetWorld, index: Index, least: readonly string[]) {
  const { utxos } = world.kit.txContext;
  const ask = async () => {
    const refs = [...index.refs.values()];
    const own = shown(await utxos.byRefs(refs), refs);
    const told = shown(await index.lookup.byRefs(refs), refs);
    const known = least.every((ref) => index.refs.has(ref));
    return { known, differing: own.filter((state, at) => !same(state, told[at])) };
  };
  await untilAsked('both answer the same', ask, (now) => now.known && now.differing.length === 0);
}

function same(a: unknown, b: unknown): boolean {
  try {
    assert.deepStrictEqual(a, b);
    return true;
  } catch {
    return false;
  }
}

test('market outputs are answered as an index answers them', { timeout: 120_000 }, async (t) => {
  const world = await DevnetWorld.start(t);
  const index = await Index.start(t, world);
  const alice = await world.funded('alice', 500, 4);
  const { asset } = await world.launch(alice, { initialLovelace: 20n * ADA });
  const { utxos } = world.kit.txContext;
  const pool = () => parseRef(world.pool(asset).ref) ?? assert.fail('the pool has an output');
  const first = pool();
  const { nft } = world.pool(asset);
  await untilSame(world, index, [refText(first)]);

  const buy = { assetId: asset, side: 'BUY', amount: 10n * ADA, slippage: 'infinity' } as const;
  const placed = await alice.order(buy);
  await untilSame(world, index, [placed.id]);
  await world.mine();
  await world.wanted(placed.id);
  await untilSame(world, index, [placed.id]);
  // Each reads the mempool for itself.
  const newest = () => Promise.all([utxos.newestOf(first, nft), index.lookup.newestOf(first, nft)]);
  const [pending] = await untilAsked(
    'both see the pool move on in the mempool',
    newest,
    (found) => {
      const [own, told] = found;
      return own !== null && refText(own.ref) !== refText(first) && same(own, told);
    },
  );
  await world.mine();
  assert.deepEqual(pool(), pending?.ref);
  await untilSame(world, index, [refText(pool())]);

  await world.fork(2, 'none');
  assert.deepEqual(pool(), first, 'the fill is undone');
  await untilSame(world, index, []);
  assert.deepEqual(await utxos.newestOf(first, nft), await index.lookup.newestOf(first, nft));

  const [again] = await world.filled(alice, buy);
  await untilSame(world, index, [again.id, refText(pool())]);
});
