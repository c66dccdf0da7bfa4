/**
 * The chain of a market in the test's process, as strangers reach it: blocks and mempool through
 * the devnet's Ogmios, nothing left out; it submits and looks up through the same objects as the
 * market's routes.
 */
import type { OutputRef } from '../../../src/cardano/codec/output.ts';
import type { SlotConfig } from '../../../src/cardano/codec/slots.ts';
import type { Deployment } from '../../../src/cardano/datums/deployment.ts';
import type {
  SubmitOutcome,
  Submitter,
  UtxoLookup,
  UtxoView,
} from '../../../src/cardano/ledger/port.ts';
import type { OgmiosChain } from '../../../src/chain/ogmios/ogmios.ts';
import type { ChainSource, ChainStream, ChainTip, Point } from '../../../src/chain/port.ts';
import { Failure, Unavailable } from '../../../src/engine/runtime/errors.ts';
import type { ChainFeatures } from '../../../src/server/wiring/chain.ts';
import type { Scope } from '../../support/server.ts';
import { openOgmios, tipAt } from './wholeChain.ts';

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
    this.#source ??= openOgmios(this.#scope, this.#ogmiosUrl);
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
  tip(): Promise<{ readonly tip: ChainTip | null; readonly slot: number }> {
    return tipAt(this.#ogmiosUrl);
  }
}
