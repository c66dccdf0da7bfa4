/** `Tickers`, live: those of given tokens, or the first of a sorted list. */
import { crc32 } from 'node:zlib';
import { TICKERS_TAG } from '../../engine/fold/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { type DataOf, type Part, type Source, type Topic, topic } from '../topics/port.ts';
import { TickersInput, TickersUpdate, type TickerUpdate } from './schema.ts';
import { type TickerNode, TickerViews } from './views.ts';

const CADENCE_MS = 1_000;
const PAGE = 100;

type Update = DataOf<typeof TickersUpdate>;
type TickersPart = Part<'TickersUpdate', Update>;

export function tickerTopics(node: TickerNode): Topic[] {
  const views = TickerViews.of(node);
  return [
    topic({
      name: 'Tickers',
      cadenceMs: CADENCE_MS,
      summary:
        'Tickers of up to 500 tokens, or the first 100 of a list that is sorted as over HTTP, by ' +
        'volume24h unless `sort` is set, of the whole market or of the tokens within bounds: all ' +
        'of them in a snapshot, later those that changed or are new, each time with the order of ' +
        'all. `spark` is there in a snapshot, for a token that is new or was traded, and when ' +
        'a step of it ends; keep the one from before otherwise.',
      data: TickersInput,
      update: TickersUpdate,
      open({ assets, limit = PAGE, ...asked }) {
        if (assets === undefined) {
          const { sort = 'volume24h', order = 'desc', graduated, ...bounds } = asked;
          const side = graduated === undefined ? {} : { graduated: sideName(graduated) };
          const list = { ...bounds, sort, order, ...side };
          const key = `Tickers:${limit}:${listName(list)}`;
          const first = (isOver: () => boolean) => views.first(list, limit, isOver);
          return new TickerSource(key, views, first);
        }
        const wanted = [...new Set(assets.map((asset) => asset.toLowerCase()))];
        const known = (isOver: () => boolean) =>
          views.render(wanted, isOver)
            ? wanted.filter((asset) => views.find(asset) !== null)
            : null;
        return new TickerSource(`Tickers:${wanted.join()}`, views, known);
      },
    }),
  ];
}

/** The same for the same list, however a client orders its fields. */
function listName(list: object): string {
  return JSON.stringify(Object.entries(list).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** As a query over HTTP says it. */
function sideName(graduated: boolean): 'true' | 'false' {
  return graduated ? 'true' : 'false';
}

interface Given {
  readonly seq: number;
  readonly assets: readonly AssetId[];
}

/** Positions; a flush makes one, so it is at least half a minute. */
const REMEMBERED = 32;

/**
 * What a client had at a position cannot be told from the rows, so the lists that were given out
 * are remembered, the last of them. For a position without one all tickers are the answer.
 */
class TickerSource implements Source<Update, TickersPart> {
  readonly key: string;
  readonly tags = [TICKERS_TAG];
  readonly #views: TickerViews;
  /** null: `isOver` came first; call again. */
  readonly #now: (isOver: () => boolean) => readonly AssetId[] | null;
  /** Oldest first. */
  #given: Given[] = [];
  #fold: TickerViews['fold'] | null = null;

  constructor(
    key: string,
    views: TickerViews,
    now: (isOver: () => boolean) => readonly AssetId[] | null,
  ) {
    this.key = key;
    this.#views = views;
    this.#now = now;
  }

  /** Puts the list in order and renders what is on it. */
  prepare(isOver: () => boolean): boolean {
    const assets = this.#now(isOver);
    return assets !== null && this.#views.render(assets, isOver);
  }

  snapshot(): Update {
    const assets = this.#list();
    return updateOf(assets, this.#views.ofAssets(assets));
  }

  since(seq: number): readonly TickersPart[] | null {
    const { fold, appliedSeq } = this.#views;
    if (seq < fold.store.horizonSeq) return null;
    const { tickers } = fold;
    if (!tickers.changes.between(seq, appliedSeq)) return [];
    const assets = this.#list();
    const before = this.#listAt(seq);
    const had = new Set(before);
    const items = assets.flatMap((asset): TickerUpdate[] => {
      const isNew = !had.has(asset);
      if (!isNew && !tickers.changedSince(asset, seq)) return [];
      const ticker = this.#views.find(asset);
      if (ticker === null) return [];
      if (isNew || tickers.sparkChangedSince(asset, seq)) return [ticker];
      const { spark: _, ...others } = ticker;
      return [others];
    });
    const isSame = before !== null && before.join() === assets.join();
    if (items.length === 0 && isSame) return [];
    const gone = assets.length === 0 ? ({ isSnapshot: true } as const) : {};
    return [{ event: 'TickersUpdate', seq: appliedSeq, data: updateOf(assets, items), ...gone }];
  }

  #list(): readonly AssetId[] {
    const { fold, appliedSeq } = this.#views;
    if (fold !== this.#fold) this.#given = [];
    this.#fold = fold;
    const assets = this.#now(() => false) ?? [];
    this.#given.push({ seq: appliedSeq, assets });
    if (this.#given.length > REMEMBERED) this.#given.shift();
    return assets;
  }

  /** null: not known. */
  #listAt(seq: number): readonly AssetId[] | null {
    const given = this.#given.findLast((list) => list.seq <= seq);
    const { changes } = this.#views.fold.tickers;
    return given === undefined || changes.between(given.seq, seq) ? null : given.assets;
  }
}

function updateOf(order: readonly AssetId[], items: readonly TickerUpdate[]): Update {
  return { items, order, crc32: crc32(order.join(',')) };
}
