/**
 * The tokens that the traders know, at most MAX_TOKENS: from the list of pools if the server has
 * one, else the tokens that they launched and hold, priced by quotes. Nothing here survives a
 * restart; it is read from the API again.
 */

import { ApiError } from '../client/apiError.ts';
import type { Client } from '../client/client.ts';
import type { LiquidityPoolInfo, QuoteAnswer } from '../client/types.ts';
import type { AssetId } from '../engine/market/asset.ts';
import { roundRatio } from '../engine/market/ratio.ts';
import type { Token } from './view.ts';

const MAX_TOKENS = 200;
const SUPPLY = 1_000_000_000n;
const PROBE_LOVELACE = 10_000_000n;
/** A token that cannot be quoted for this long does not belong to the launchpad. */
const PATIENCE_MS = 60_000;
/** The list has no more; a token that is not on a full one may still be there. */
const LIST_LENGTH = 100;
/** Until a list that was missing is asked for again. */
const LIST_AGAIN_MS = 60_000;

interface Known {
  readonly asset: AssetId;
  readonly sinceMs: number;
  marketCapLovelace: bigint | null;
  venue: 'CURVE' | 'AMM';
  /** It has been quoted or listed: it can be traded. */
  isOpen: boolean;
  isForeign: boolean;
  askedMs: number;
}

export class KnownTokens {
  readonly #client: Client;
  readonly #known = new Map<AssetId, Known>();
  #listFromMs = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Tokens of the launchpad, those not tradable yet included. */
  get size(): number {
    return [...this.#known.values()].filter(({ isForeign }) => !isForeign).length;
  }

  open(): readonly Token[] {
    return [...this.#known.values()].filter(({ isOpen }) => isOpen);
  }

  /** Seen in a launch or in a wallet. */
  add(asset: AssetId, nowMs: number): void {
    if (this.#known.has(asset)) return;
    if (this.#known.size >= MAX_TOKENS && !this.#forgetForeign()) return;
    this.#known.set(asset, {
      asset,
      sinceMs: nowMs,
      marketCapLovelace: null,
      venue: 'CURVE',
      isOpen: false,
      isForeign: false,
      askedMs: 0,
    });
  }

  /** Strangers may send any token to traders; such tokens must not displace tradable ones. */
  #forgetForeign(): boolean {
    const foreign = [...this.#known.values()].find(({ isForeign }) => isForeign);
    return foreign !== undefined && this.#known.delete(foreign.asset);
  }

  /** Reads the list, or else a quote of the token that was looked at longest ago. */
  async refresh(nowMs: number): Promise<void> {
    if (nowMs >= this.#listFromMs) {
      try {
        this.#listed((await this.#client.pools.list('New')).data, nowMs);
        return;
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 404) throw error;
        this.#listFromMs = nowMs + LIST_AGAIN_MS;
      }
    }
    const next = this.#longestAgo();
    if (next !== null) await this.#probe(next, nowMs);
  }

  #listed(rows: readonly LiquidityPoolInfo[], nowMs: number): void {
    const listed = new Set(rows.map(({ info }) => info.asset));
    for (const known of this.#known.values()) {
      if (rows.length >= LIST_LENGTH || listed.has(known.asset)) continue;
      // Not in a block yet, rolled back, or not a token of the launchpad.
      known.isOpen = false;
      known.isForeign = nowMs - known.sinceMs > PATIENCE_MS;
    }
    for (const { info, metrics, pool } of rows) {
      this.add(info.asset, Math.min(nowMs, (pool.createdOn ?? 0) * 1000));
      const known = this.#known.get(info.asset);
      if (known === undefined) continue;
      known.isOpen = true;
      known.isForeign = false;
      known.marketCapLovelace = BigInt(Math.round(metrics.marketCap));
      known.venue = pool.cpmmPoolId === null ? 'CURVE' : 'AMM';
    }
  }

  async #probe(known: Known, nowMs: number): Promise<void> {
    known.askedMs = nowMs;
    const query = { assetId: known.asset, side: 'BUY', slippage: '15' } as const;
    try {
      const amount = String(PROBE_LOVELACE);
      const { data } = await this.#client.build.quote({ ...query, amount });
      known.isOpen = true;
      known.isForeign = false;
      this.quoted(known.asset, data);
    } catch (error) {
      if (!(error instanceof ApiError) || error.isPassing) throw error;
      if (error.cause === 'MAX_TRADE_AMOUNT') return;
      known.isOpen = false;
      known.isForeign = nowMs - known.sinceMs > PATIENCE_MS;
    }
  }

  /** A quote has the price and the venue. */
  quoted(asset: AssetId, { price, venue }: Pick<QuoteAnswer, 'price' | 'venue'>): void {
    const known = this.#known.get(asset);
    const denominator = BigInt(price.denominator);
    if (known === undefined || denominator === 0n) return;
    const numerator = BigInt(price.numerator) * SUPPLY;
    known.marketCapLovelace = roundRatio({ numerator, denominator });
    known.venue = venue;
  }

  /** Tokens that are not tradable yet come first. */
  #longestAgo(): Known | null {
    const order = (a: Known, b: Known) =>
      Number(a.isForeign) - Number(b.isForeign) ||
      Number(a.isOpen) - Number(b.isOpen) ||
      a.askedMs - b.askedMs;
    const pending = [...this.#known.values()].sort(order);
    return pending[0] ?? null;
  }
}
