/** Fills, live: `Trades` of a token, `NewestTrades` of the market. */
import { hash } from 'node:crypto';
import Type from 'typebox';
import type { Fold } from '../../engine/fold/fold.ts';
import { POOLS_TAG, poolTag, tradesTag } from '../../engine/fold/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { unitsOf } from '../../engine/market/decimal.ts';
import { changePage } from '../../engine/store/changeIndex.ts';
import { filterKey } from '../schemas/filterKey.ts';
import { AdaBound, AssetIdShape, OneOf } from '../schemas/identifiers.ts';
import {
  type Changes,
  type DataOf,
  type Part,
  type Source,
  type Topic,
  topic,
} from '../topics/port.ts';
import { MAX_WINDOW, NewestWindow, type WindowTrade } from './newestWindow.ts';
import {
  TRADE_FIELDS,
  type TradeNode,
  TradesInput,
  TradesOutput,
  tradeOf,
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
const MAX_NEWEST = 50;
const FIRST_NEWEST = 20;

const MarketTrade = Type.Object(
  { asset: AssetIdShape, ticker: Type.String(), ...TRADE_FIELDS },
  { $id: 'MarketTrade' },
);
const NewestTradesInput = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_NEWEST, default: FIRST_NEWEST })),
  minQuote: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,20}$', description: 'Least amount moved, in lovelace.' }),
  ),
  side: Type.Optional(OneOf(['buy', 'sell'], { description: 'Only buys, or only sells.' })),
  graduated: Type.Optional(
    Type.Boolean({ description: 'Only trades on the AMM, or only those on a curve.' }),
  ),
  maxAge: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Most seconds from the launch to the trade; a launch that is not known fails.',
    }),
  ),
  minMarketCap: AdaBound('Lower bound of the market cap after it, in ADA.'),
  maxMarketCap: AdaBound('Upper bound of the market cap after it, in ADA.'),
});
type NewestTradesInput = Type.Static<typeof NewestTradesInput>;
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
  const window = new NewestWindow();
  return topic({
    name: 'NewestTrades',
    summary:
      'The newest trades of the whole market, whole each time. Trades that came and went between ' +
      'two updates are left out: `Trades` has every trade of a token. ' +
      `Filters apply to the newest ${MAX_WINDOW} trades; each trade is judged ` +
      'as it was when it happened, so no trade leaves because it grows older.',
    cadenceMs: NEWEST_CADENCE_MS,
    data: NewestTradesInput,
    update: NewestTradesOutput,
    open: (input) => new NewestSource(node, window, input),
  });
}

/** Each change of the market is a look at the whole window. */
const FILTERED_WEIGHT = 20;

class NewestSource implements Source<Newest, NewestPart> {
  readonly key: string;
  readonly weight: number;
  readonly tags = [POOLS_TAG];
  readonly #node: TradeNode;
  readonly #window: NewestWindow;
  readonly #limit: number;
  readonly #matches: (trade: WindowTrade) => boolean;
  /** The last answer, and the seq at which it became the answer. */
  #last: { readonly fold: Fold; readonly digest: string; readonly changedSeq: number } | null =
    null;

  constructor(
    node: TradeNode,
    window: NewestWindow,
    { limit = FIRST_NEWEST, ...filter }: NewestTradesInput,
  ) {
    this.key = `NewestTrades:${limit}:${filterKey(filter)}`;
    this.weight = Object.keys(filter).length > 0 ? FILTERED_WEIGHT : 1;
    this.#node = node;
    this.#window = window;
    this.#limit = limit;
    this.#matches = matcherOf(filter);
  }

  prepare(isOver: () => boolean): boolean {
    return this.#window.refresh(this.#node.fold, isOver);
  }

  snapshot(): Newest {
    this.prepare(() => false);
    return this.#window.newest(this.#limit, this.#matches);
  }

  since(seq: number): NewestPart[] | null {
    const { fold } = this.#node;
    const { store, directory } = fold;
    if (seq < store.horizonSeq) return null;
    const applied = store.checkpoint?.seq ?? 0;
    if (!directory.changedBetween(seq, applied)) return [];
    const data = this.snapshot();
    // Not the text: many sockets may each have a filter of their own.
    const digest = hash('sha1', JSON.stringify(data));
    const last = this.#last;
    const isSame = last !== null && last.fold === fold && last.digest === digest;
    const changedSeq = isSame ? last.changedSeq : applied;
    this.#last = { fold, digest, changedSeq };
    return changedSeq <= seq ? [] : [{ event: 'NewestTradesUpdate', seq: applied, data }];
  }
}

function matcherOf(filter: Omit<NewestTradesInput, 'limit'>): (trade: WindowTrade) => boolean {
  const { side, graduated, maxAge } = filter;
  const least = filter.minQuote === undefined ? null : BigInt(filter.minQuote);
  const [minCap, maxCap] = [filter.minMarketCap, filter.maxMarketCap].map((ada) => {
    return ada === undefined ? undefined : unitsOf(ada, 6);
  });
  return ({ trade, pool }) => {
    if (side !== undefined && trade.side !== side) return false;
    if (graduated !== undefined && (trade.isOnAmm ?? false) !== graduated) return false;
    if (least !== null && BigInt(trade.lovelace) < least) return false;
    if (maxAge !== undefined) {
      const { createdMs } = pool;
      if (createdMs === null || secondsBetween(createdMs, trade.atMs) > maxAge) return false;
    }
    if (minCap === undefined && maxCap === undefined) return true;
    const cap = BigInt(trade.spot.numerator) * BigInt(pool.supply);
    const denominator = BigInt(trade.spot.denominator);
    if (minCap !== undefined && cap < minCap * denominator) return false;
    return maxCap === undefined || cap <= maxCap * denominator;
  };
}

function secondsBetween(fromMs: number, toMs: number): number {
  return Math.floor(toMs / 1000) - Math.floor(fromMs / 1000);
}
