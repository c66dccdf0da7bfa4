/** Tickers as clients see them, rendered once per change, and the lists that sort them. */
import { LRUCache } from 'lru-cache';
import type { Fold } from '../../engine/actors/fold.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { TokenDay } from './day.ts';
import { Rankings } from './rankings.ts';
import type { Ticker } from './schema.ts';
import type { TickerSort } from './select.ts';
import { viewTicker } from './view.ts';

/** Read `fold` each time: a new epoch replaces it. */
export interface TickerNode {
  readonly fold: Fold;
}

interface Rendered {
  readonly fold: Fold;
  /** The entry after which it was rendered. */
  readonly seq: number;
  readonly ticker: Ticker;
}

/** Lists overlap, and most tokens are on none that is looked at. */
const REMEMBERED = 5_000;

const ofNodes = new WeakMap<TickerNode, TickerViews>();

export class TickerViews {
  readonly #node: TickerNode;
  readonly #rankings = new Rankings();
  readonly #rendered = new LRUCache<AssetId, Rendered>({ max: REMEMBERED });

  private constructor(node: TickerNode) {
    this.#node = node;
  }

  /** One for routes and topics of a node: both show the same lists. */
  static of(node: TickerNode): TickerViews {
    const views = ofNodes.get(node) ?? new TickerViews(node);
    ofNodes.set(node, views);
    return views;
  }

  get fold(): Fold {
    return this.#node.fold;
  }

  get appliedSeq(): number {
    return this.fold.store.checkpoint?.seq ?? 0;
  }

  list(sort: TickerSort): ReturnType<Rankings['list']> {
    return this.#rankings.list(this.fold, sort);
  }

  of(day: TokenDay): Ticker {
    return this.#known(day.asset) ?? this.#render(day);
  }

  /** In their order; those that are not known here are left out. */
  ofAssets(assets: Iterable<AssetId>): Ticker[] {
    const tickers: Ticker[] = [];
    for (const asset of assets) {
      const ticker = this.find(asset);
      if (ticker !== null) tickers.push(ticker);
    }
    return tickers;
  }

  /** null: neither launched nor traded here. */
  find(asset: AssetId): Ticker | null {
    const known = this.#known(asset);
    if (known !== null) return known;
    const day = TokenDay.of(this.fold, asset);
    return day === null ? null : this.#render(day);
  }

  #known(asset: AssetId): Ticker | null {
    const { fold } = this;
    const known = this.#rendered.get(asset);
    const isSame = known?.fold === fold && fold.tickers.changedSeq(asset) <= known.seq;
    return isSame ? known.ticker : null;
  }

  #render(day: TokenDay): Ticker {
    const ticker = viewTicker(day);
    this.#rendered.set(day.asset, { fold: this.fold, seq: this.appliedSeq, ticker });
    return ticker;
  }
}
