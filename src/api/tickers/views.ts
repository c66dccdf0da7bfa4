/** Tickers as clients see them, rendered once per change, and the lists that sort them. */
import type { Fold } from '../../engine/fold/fold.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { VersionedCache } from '../../engine/runtime/versionedCache.ts';
import { TokenDay } from './day.ts';
import { pageOf, type Ranking, Rankings } from './rankings.ts';
import type { Ticker } from './schema.ts';
import type { TickerFilter, TickerSort } from './select.ts';
import { viewTicker } from './view.ts';

/** Read `fold` each time: a new epoch replaces it. */
export interface TickerNode {
  readonly fold: Fold;
}

interface Version {
  readonly fold: Fold;
  /** The last entry after which a ticker was known to be right. */
  readonly seq: number;
}

/** Lists overlap, and most tokens are on no list that a client reads. */
const REMEMBERED = 5_000;
const BY_VOLUME = { sort: 'volume24h', order: 'desc' } as const;

const ofNodes = new WeakMap<TickerNode, TickerViews>();

export class TickerViews {
  readonly #node: TickerNode;
  readonly #rankings = new Rankings();
  readonly #rendered = new VersionedCache<AssetId, Ticker, Version>({ max: REMEMBERED });

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

  /** null: `isOver` came before the list was made; call again. */
  list(question: TickerSort & TickerFilter, isOver: () => boolean): Ranking | null {
    return this.#rankings.list(this.fold, question, isOver);
  }

  /** The first of a list. null: `isOver` came first; call again. */
  first(
    question: TickerSort & TickerFilter,
    limit: number,
    isOver: () => boolean,
  ): readonly AssetId[] | null {
    const list = this.list(question, isOver);
    return list === null ? null : pageOf(list, 0, limit);
  }

  /** The first `count` by volume, until `isOver`. True: they are all rendered. */
  readFirst(count: number, isOver: () => boolean): boolean {
    const assets = this.first(BY_VOLUME, count, isOver);
    return assets !== null && this.render(assets, isOver);
  }

  /** Renders tickers, until `isOver`. True: all are rendered. */
  render(assets: Iterable<AssetId>, isOver: () => boolean): boolean {
    const { fold } = this;
    for (const asset of assets) {
      if (this.#known(asset) !== null) continue;
      const isRead =
        !isOver() &&
        TokenDay.read(fold, asset, isOver) &&
        TokenDay.readTraders(fold, asset, isOver);
      if (!isRead) return false;
      this.find(asset);
    }
    return true;
  }

  /** Keeps the lists in step, until `isOver`. True: they are. */
  refresh(isOver: () => boolean): boolean {
    return this.#rankings.refresh(this.fold, isOver);
  }

  of(day: TokenDay): Ticker {
    return this.#known(day.asset) ?? this.#render(day);
  }

  /** In their order; unknown tokens are left out. */
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
    const { fold, appliedSeq: seq } = this;
    const isSame = (before: Version) =>
      before.fold === fold && !fold.tickers.changedSince(asset, before.seq);
    return this.#rendered.find(asset, { fold, seq }, isSame) ?? null;
  }

  #render(day: TokenDay): Ticker {
    const { fold, appliedSeq: seq } = this;
    const known = this.#rendered.last(day.asset);
    // The prices of its steps are most of the work, and a minute that leaves changes none.
    const keepsSpark =
      known?.version.fold === fold && !fold.tickers.sparkChangedSince(day.asset, known.version.seq);
    const ticker = viewTicker(day, keepsSpark ? known.value.spark : undefined);
    return this.#rendered.set(day.asset, { fold, seq }, ticker);
  }
}
