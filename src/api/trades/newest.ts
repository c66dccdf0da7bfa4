/**
 * `NewestTrades`: the newest trades of the whole market, live and whole each time. In a busy market
 * every update has other trades, and in a quiet one there are few updates.
 */
import Type from 'typebox';
import type { Fold } from '../../engine/actors/fold.ts';
import { POOLS_TAG } from '../../engine/actors/streamTags.ts';
import { AssetIdShape } from '../schemas/identifiers.ts';
import { type DataOf, type Part, type Source, type Topic, topic } from '../topics/port.ts';
import { TRADE_FIELDS, type TradeNode, tradeRow } from './routes.ts';

const CADENCE_MS = 100;
const MOST = 50;
const FIRST = 20;
/** Pools that may be looked at: of those that were traded or launched last. */
const MOST_POOLS = 1_000;

const MarketTrade = Type.Object(
  { asset: AssetIdShape, ticker: Type.String(), ...TRADE_FIELDS },
  { $id: 'MarketTrade' },
);
const NewestTradesInput = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST, default: FIRST })),
});
const NewestTradesOutput = Type.Array(MarketTrade, {
  description: 'Newest first; those of one slot by their place in the block.',
});

type Newest = DataOf<typeof NewestTradesOutput>;
type NewestPart = Part<'NewestTradesUpdate', Newest>;

export function newestTradesTopic(node: TradeNode): Topic {
  return topic({
    name: 'NewestTrades',
    summary:
      'The newest trades of the whole market, whole each time. It says what is traded now, and ' +
      'leaves out what came and went between two updates: `Trades` has every trade of a token.',
    cadenceMs: CADENCE_MS,
    data: NewestTradesInput,
    update: NewestTradesOutput,
    open: ({ limit = FIRST }) => newestSource(node, limit),
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
