/** Fills, live: `Trades` of a token, `NewestTrades` of the market. */
import Type from 'typebox';
import type { Fold } from '../../engine/fold/fold.ts';
import { POOLS_TAG, poolTag, tradesTag } from '../../engine/fold/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { changePage } from '../../engine/store/changeIndex.ts';
import { AssetIdShape } from '../schemas/identifiers.ts';
import {
  type Changes,
  type DataOf,
  type Part,
  type Source,
  type Topic,
  topic,
} from '../topics/port.ts';
import {
  TRADE_FIELDS,
  type TradeNode,
  TradesInput,
  TradesOutput,
  tradeOf,
  tradeRow,
  tradesOf,
} from './routes.ts';

const CADENCE_MS = 5;
const PAGE = 100;

type Trades = DataOf<typeof TradesOutput>;
type TradesPart = Part<'TradesUpdate', Trades>;

export function tradeTopics(node: TradeNode): Topic[] {
  return [
    topic({
      name: 'Trades',
      summary: 'Trades of a token as they come into blocks; `{id, removed: true}` when undone.',
      cadenceMs: CADENCE_MS,
      data: TradesInput,
      update: TradesOutput,
      open: ({ asset }) => new TradeSource(node, asset.toLowerCase()),
    }),
    newestTradesTopic(node),
  ];
}

class TradeSource implements Source<Trades, TradesPart> {
  readonly key: string;
  readonly tags: readonly string[];
  readonly #node: TradeNode;
  readonly #token: AssetId;

  constructor(node: TradeNode, token: AssetId) {
    this.key = `Trades:${token}`;
    this.tags = [tradesTag(token), poolTag(token)];
    this.#node = node;
    this.#token = token;
  }

  snapshot(): Trades {
    const { fold } = this.#node;
    if (fold.directory.find(this.#token) === null) return null;
    return tradesOf(fold, this.#token, PAGE);
  }

  since(seq: number): Changes<TradesPart> | null {
    const { fold } = this.#node;
    const { store } = fold;
    if (seq < store.horizonSeq) return null;
    const applied = store.checkpoint?.seq ?? 0;
    const { changes, completeTo } = changePage(applied, (limit) =>
      store.changedSince(tradesTag(this.#token), seq, limit),
    );
    const isGone = fold.directory.mayBeGone(this.#token, seq, applied);
    const gone = { event: 'TradesUpdate', seq: applied, data: null, isSnapshot: true } as const;
    const empty = isGone && completeTo === applied ? [gone] : [];
    if (changes.length === 0) return { parts: empty, completeTo };
    const ids = changes.map(({ ref }) => ref).sort();
    const data = ids
      .reverse()
      .map((id) => tradeOf(fold, this.#token, id) ?? { id, removed: true as const });
    return { parts: [{ event: 'TradesUpdate', seq: completeTo, data }, ...empty], completeTo };
  }
}

const NEWEST_CADENCE_MS = 100;
const MOST_NEWEST = 50;
const FIRST_NEWEST = 20;
/** Pools that may be looked at: of those that were traded or launched last. */
const MOST_POOLS = 1_000;

const MarketTrade = Type.Object(
  { asset: AssetIdShape, ticker: Type.String(), ...TRADE_FIELDS },
  { $id: 'MarketTrade' },
);
const NewestTradesInput = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_NEWEST, default: FIRST_NEWEST })),
});
const NewestTradesOutput = Type.Array(MarketTrade, {
  description: 'Newest first; trades of one slot by their place in the block.',
});

type Newest = DataOf<typeof NewestTradesOutput>;
type NewestPart = Part<'NewestTradesUpdate', Newest>;

/**
 * The newest trades of the whole market, whole each time: in a busy market every update has other
 * trades, and in a quiet one there are few updates.
 */
function newestTradesTopic(node: TradeNode): Topic {
  return topic({
    name: 'NewestTrades',
    summary:
      'The newest trades of the whole market, whole each time. It says what is traded now, and ' +
      'leaves out what came and went between two updates: `Trades` has every trade of a token.',
    cadenceMs: NEWEST_CADENCE_MS,
    data: NewestTradesInput,
    update: NewestTradesOutput,
    open: ({ limit = FIRST_NEWEST }) => newestSource(node, limit),
  });
}

function newestSource(node: TradeNode, limit: number): Source<Newest, NewestPart> {
  const snapshot = () => newestTrades(node.fold, limit);
  return {
    key: `NewestTrades:${limit}`,
    tags: [POOLS_TAG],
    snapshot,
    since(seq) {
      const { store, directory } = node.fold;
      if (seq < store.horizonSeq) return null;
      const applied = store.checkpoint?.seq ?? 0;
      if (!directory.changedBetween(seq, applied)) return [];
      return [{ event: 'NewestTradesUpdate', seq: applied, data: snapshot() }];
    },
  };
}

type Row = Newest[number];

/** Exact as far as it looks: a pool further down was last traded before all that are found. */
function newestTrades({ directory, store }: Fold, limit: number): Newest {
  const pageOf = store.pages('trades');
  let found: readonly Row[] = [];
  let left = MOST_POOLS;
  directory.walk('Latest', ({ pool: { token, ticker, lastTradeMs } }) => {
    left -= 1;
    if (lastTradeMs === null) return left > 0;
    const last = found.length < limit ? undefined : found.at(-1);
    if (last !== undefined && Math.floor(lastTradeMs / 1000) < last.time) return false;
    const from = last === undefined ? {} : { from: `${token}/${last.id}` };
    const rows = pageOf(`${token}/`, { order: 'descending', offset: 0, limit, ...from });
    const trades = rows.map((row) => ({ asset: token, ticker, ...tradeRow(token, row) }));
    found = [...found, ...trades].sort(newestFirst).slice(0, limit);
    return left > 0;
  });
  return found;
}

function newestFirst(a: Row, b: Row): number {
  if (a.id !== b.id) return a.id > b.id ? -1 : 1;
  return a.asset < b.asset ? -1 : 1;
}
