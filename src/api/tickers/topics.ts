/** `Tickers`, live: tickers of given tokens, or the first of a sorted list. */
import { TICKERS_TAG } from '../../engine/fold/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { filterKey } from '../schemas/filterKey.ts';
import { ListSource } from '../topics/list.ts';
import { type Topic, topic } from '../topics/port.ts';
import { TickersInput, TickersUpdate, type TickerUpdate } from './schema.ts';
import { isBounded } from './select.ts';
import { type TickerNode, TickerViews } from './views.ts';

const CADENCE_MS = 1_000;
const PAGE = 100;
/** A list within bounds has its own order of the whole market. */
const BOUNDED_WEIGHT = 200;

export function tickerTopics(node: TickerNode): Topic[] {
  const views = TickerViews.of(node);
  return [
    topic({
      name: 'Tickers',
      cadenceMs: CADENCE_MS,
      summary:
        'Tickers of up to 500 tokens, or the first 100 of a list that is sorted as over HTTP, by ' +
        'volume24h unless `sort` is set, of the whole market or of the tokens within bounds: all ' +
        'in a snapshot, later only the tickers that changed or are new, each time with the whole ' +
        'order. `spark` is there in a snapshot, for a token that is new or was traded, and when ' +
        'a step of it ends; keep the one from before otherwise.',
      data: TickersInput,
      update: TickersUpdate,
      open({ assets, limit = PAGE, ...asked }) {
        if (assets === undefined) {
          const { sort = 'volume24h', order = 'desc', graduated, ...bounds } = asked;
          const side = graduated === undefined ? {} : { graduated: sideName(graduated) };
          const list = { ...bounds, sort, order, ...side };
          const key = `Tickers:${limit}:${filterKey(list)}`;
          const first = (isOver: () => boolean) => views.first(list, limit, isOver);
          return tickerSource(key, views, first, isBounded(list) ? BOUNDED_WEIGHT : 1);
        }
        const wanted = [...new Set(assets.map((asset) => asset.toLowerCase()))];
        const known = (isOver: () => boolean) =>
          views.render(wanted, isOver)
            ? wanted.filter((asset) => views.find(asset) !== null)
            : null;
        return tickerSource(`Tickers:${wanted.join()}`, views, known);
      },
    }),
  ];
}

/** As a query over HTTP says it. */
function sideName(graduated: boolean): 'true' | 'false' {
  return graduated ? 'true' : 'false';
}

/** Positions; a flush makes one, so it is at least half a minute. */
const REMEMBERED = 32;

/** `now`: the list; null: `isOver` came first, call again. */
function tickerSource(
  key: string,
  views: TickerViews,
  now: (isOver: () => boolean) => readonly AssetId[] | null,
  weight = 1,
) {
  return new ListSource<'TickersUpdate', TickerUpdate>({
    key,
    weight,
    event: 'TickersUpdate',
    tags: [TICKERS_TAG],
    remembered: REMEMBERED,
    state: () => views.fold,
    appliedSeq: () => views.appliedSeq,
    changedBetween: (from, to) => views.fold.tickers.changes.between(from, to),
    /** Sorts the list and renders its tokens. */
    prepare(isOver) {
      const assets = now(isOver);
      return assets !== null && views.render(assets, isOver);
    },
    order: () => now(() => false) ?? [],
    item(asset, seq) {
      const { tickers } = views.fold;
      if (seq !== null && !tickers.changedSince(asset, seq)) return null;
      const ticker = views.find(asset);
      if (ticker === null || seq === null || tickers.sparkChangedSince(asset, seq)) return ticker;
      const { spark: _, ...others } = ticker;
      return others;
    },
  });
}
