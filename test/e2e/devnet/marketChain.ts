/**
 * The chain of a market in the test's process, as strangers reach it: blocks and mempool through
 * the devnet's Ogmios, nothing left out; submits and lookups by what the market's routes use.
 */
import assert from 'node:assert/strict';
import type { OutputRef } from '../../../src/cardano/codec/output.ts';
import type { SlotConfig } from '../../../src/cardano/codec/slots.ts';
import type { Deployment } from '../../../src/cardano/datums/deployment.ts';
import type {
  SubmitOutcome,
  Submitter,
  UtxoLookup,
  UtxoView,
} from '../../../src/cardano/ledger/port.ts';
import { OgmiosChain } from '../../../src/chain/ogmios/ogmios.ts';
import type { ChainSource, ChainStream, ChainTip, Point } from '../../../src/chain/port.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure, Unavailable } from '../../../src/engine/runtime/errors.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import type { ChainFeatures } from '../../../src/server/wiring/chain.ts';
import type { Scope } from '../../support/server.ts';

type Page = Parameters<UtxoLookup['byPaymentKey']>[2];

export class MarketChain implements ChainSource, Submitter, UtxoLookup {
  readonly #scope: Scope;
  readonly #ogmiosUrl: string;
  readonly #kit: ChainFeatures;
  #source: Promise<OgmiosChain> | null = null;

  constructor(scope: Scope, ogmiosUrl: string, kit: ChainFeatures) {
    this.#scope = scope;
    this.#ogmiosUrl = ogmiosUrl;
    this.#kit = kit;
  }

  get deployment(): Deployment {
    return this.#kit.txContext.deployment;
  }

  get slotConfig(): SlotConfig {
    return this.#kit.txContext.slots;
  }

  async open(points: readonly Point[]): Promise<ChainStream | null> {
    this.#source ??= this.#start();
    return (await this.#source).open(points);
  }

  async submit(bytes: Uint8Array): Promise<SubmitOutcome> {
    const outcome = await this.#kit.txContext.submitter.submit(bytes);
    if (outcome instanceof Failure) throw new Unavailable(outcome);
    return outcome;
  }

  byPaymentKey(keyHash: string, view: UtxoView, page?: Page) {
    return this.#kit.txContext.utxos.byPaymentKey(keyHash, view, page);
  }

  byAsset(asset: string, view: UtxoView) {
    return this.#kit.txContext.utxos.byAsset(asset, view);
  }

  newestOf(ref: OutputRef, asset: string) {
    return this.#kit.txContext.utxos.newestOf(ref, asset);
  }

  byRefs(refs: readonly OutputRef[]) {
    return this.#kit.txContext.utxos.byRefs(refs);
  }

  /** The devnet's newest block; the market may not have it yet. */
  async tip(): Promise<{ readonly tip: ChainTip | null; readonly slot: number }> {
    const answer = await fetch(`${this.#ogmiosUrl.replace(/^ws/, 'http')}/health`);
    // trust: Ogmios' health
    const { lastKnownTip } = (await answer.json()) as {
      lastKnownTip: { slot: number; id: string; height: number } | 'origin' | null;
    };
    if (lastKnownTip === null || lastKnownTip === 'origin') return { tip: null, slot: 0 };
    const { slot, id, height } = lastKnownTip;
    return { tip: { slot, hash: id, height }, slot };
  }

  async #start(): Promise<OgmiosChain> {
    const source = new OgmiosChain({
      url: this.#ogmiosUrl,
      deployment: null,
      watched: () => ({ tokens: [], watched: [] }),
      clock: systemClock,
      rng: seededRng(7),
      observer: {
        nodeConnected: () => {},
        nodeLost: () => {},
        partPassedOver: () => {},
        ogmiosFailed: (error) => assert.fail(String(error)),
      },
    });
    this.#scope.after(() => source.stop());
    await source.start();
    return source;
  }
}
