/** Trades of a token, newest first: schemas, rows and routes (protocol.md section 2). */
import Type from 'typebox';
import type { Fold } from '../../engine/fold/fold.ts';
import { tradesTag } from '../../engine/fold/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { KeyedRow, KeySpan } from '../../engine/store/keyedRows.ts';
import { readRecord, type TradeRecord } from '../../engine/store/records.ts';
import type { Answer, Route, SlicedAnswer } from '../gateway/port.ts';
import { type InputOf, route } from '../gateway/route.ts';
import { Format, listOf } from '../schemas/format.ts';
import { Amount, AssetIdShape, KeyHash, OneOf, TxHash } from '../schemas/identifiers.ts';
import { PageCache } from '../schemas/pageCache.ts';
import { Limit } from '../schemas/paging.ts';
import { type HeldState, SlicedReads, type Steps } from '../schemas/slicedReads.ts';
import { keysOf, placesOf, refuseSpan, SPAN } from '../schemas/timeSpan.ts';

const TradeId = Type.String({
  pattern: '^[0-9]{12}\\.[0-9]{6}\\.[0-9]{4}$',
  description: 'Place in the chain: slot, transaction, fill. Sorts; unique for the token.',
});
const Price = Type.String({ description: 'ADA per token.' });

export const TRADE_FIELDS = {
  id: TradeId,
  time: Type.Integer({ description: 'Unix seconds.' }),
  side: Type.Union([Type.Literal('buy'), Type.Literal('sell')]),
  price: Type.String({
    description: 'ADA per token: coin over tokens moved, percent fee left out.',
  }),
  baseAmount: Type.String({ ...Amount, description: 'Tokens moved.' }),
  quoteAmount: Type.String({ ...Amount, description: 'Lovelace moved.' }),
  txHash: TxHash,
  pkh: Type.String({ description: 'Payment key of the trader; empty where it cannot be told.' }),
  spotAfter: Price,
};
const TradeRow = Type.Object(TRADE_FIELDS, { $id: 'TradeRow' });

const TradesQuery = Type.Object({
  asset: AssetIdShape,
  before: Type.Optional({ ...TradeId, description: 'Only trades older than this one.' }),
  limit: Limit(100, 500),
  format: Format,
  ...SPAN,
  pkh: Type.Optional({ ...KeyHash, description: 'Only trades of this payment key.' }),
  side: Type.Optional(
    OneOf(['buy', 'sell'], { description: 'Only buys, or only sells: `buy` or `sell`.' }),
  ),
  minQuote: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,20}$',
      description: 'Only trades that moved at least this amount: an integer, lovelace.',
    }),
  ),
});
type TradesQuery = InputOf<typeof TradesQuery>;
export const TradesInput = Type.Object({ asset: AssetIdShape });
const Removed = Type.Object({ id: TradeId, removed: Type.Literal(true) });
export const TradesOutput = Type.Union([Type.Array(Type.Union([TradeRow, Removed])), Type.Null()], {
  description: 'Newest first; after a rollback also `{id, removed: true}`.',
});

/** With a filter, one answer reads at most `maxRead` trades. */
export function tradeRoutes(node: TradeNode, maxRead = MAX_READ): Route[] {
  const pages = new PageCache(node);
  const reads = new SlicedReads(node);
  return [
    route({
      method: 'GET',
      path: '/v1/trades',
      operationId: 'trades',
      tag: 'Trades',
      summary: 'Trades of a token, newest first',
      description: DESCRIPTION,
      query: TradesQuery,
      answers: {
        200: { description: 'Trades', schema: Type.Array(TradeRow), headers: NEXT_BEFORE },
      },
      causes: ['ASSET_NOT_FOUND'],
      rate: 'read',
      needsSync: true,
      positioned: true,
      etag: true,
      csv: { file: 'trades', row: TradeRow, rows: listOf },
      handle: ({ query }) => answer(node, { pages, reads, maxRead }, query),
    }),
  ];
}

const DESCRIPTION =
  'For older ones give the last `id` as `before`: nothing is missed or repeated. An answer reads ' +
  '10,000 trades at most: where a filter (`pkh`, `side`, `minQuote`) finds too few among them, ' +
  'the header `X-Next-Before` says where to go on, as `before`, also when the answer is empty.';
const NEXT_BEFORE = {
  'X-Next-Before': 'Go on with it as `before`; only when a filter left trades unread.',
};
const MAX_READ = 10_000;

interface Reading {
  readonly pages: PageCache;
  readonly reads: SlicedReads;
  readonly maxRead: number;
}

function answer(
  node: TradeNode,
  { pages, reads, maxRead }: Reading,
  query: TradesQuery,
): Answer | Failure | SlicedAnswer {
  const { fold } = node;
  const { limit, before, from, to } = query;
  const refused = refuseSpan(query);
  if (refused !== null) return refused;
  const token = query.asset.toLowerCase();
  if (fold.directory.find(token) === null) {
    return new Failure('ASSET_NOT_FOUND', `No token ${token} was launched here.`);
  }
  const isWanted = filterOf(query);
  if (isWanted === null && from === undefined && to === undefined) {
    const render = () => Buffer.from(JSON.stringify(tradesOf(fold, token, limit, before)));
    return { body: pages.of(tradesTag(token), `${limit} ${before ?? ''}`, render) };
  }
  const most = isWanted === null ? limit : maxRead;
  return reads.answer(({ rows }) => wantedOf(rows, { token, query, most, isWanted }));
}

const ROWS_A_STEP = 100;

interface Wanted {
  readonly token: AssetId;
  readonly query: TradesQuery;
  /** Most rows to read. */
  readonly most: number;
  /** null: all. */
  readonly isWanted: ((text: string) => boolean) | null;
}

/** Reads back from the newest one until there are enough. */
function* wantedOf(
  rows: HeldState['rows'],
  { token, query, most, isWanted }: Wanted,
): Steps<Answer> {
  const { limit } = query;
  const timeMs = ({ value }: KeyedRow) => readRecord<TradeRecord>(value).atMs;
  const places = yield* placesOf(query, { rows, table: 'trades', lists: [token], timeMs });
  const span = keysOf(token, places);
  const shown: TradeRow[] = [];
  let [read, before, isEnd] = [0, query.before, false];
  while (read < most && shown.length < limit && !isEnd) {
    const size = Math.min(ROWS_A_STEP, most - read);
    const page = rows.pages('trades')(`${token}/`, rangeOf(token, size, before, span));
    for (const row of page) {
      const isShown = shown.length < limit && (isWanted === null || isWanted(row.value));
      if (isShown) shown.push(tradeRow(token, row));
    }
    read += page.length;
    isEnd = page.length < size;
    const last = page.at(-1);
    before = last === undefined ? before : idOf(token, last.key);
    yield;
  }
  const isAll = isWanted === null || shown.length >= limit || isEnd || before === undefined;
  const headers = isAll ? {} : { 'X-Next-Before': before ?? '' };
  return { body: JSON.stringify(shown), headers };
}

/** null: all are wanted. */
function filterOf({ pkh, side, minQuote }: TradesQuery): ((text: string) => boolean) | null {
  if (pkh === undefined && side === undefined && minQuote === undefined) return null;
  const key = pkh?.toLowerCase();
  const least = BigInt(minQuote ?? '0');
  return (text) => {
    const trade = readRecord<TradeRecord>(text);
    if (key !== undefined && trade.pkh !== key) return false;
    return (side === undefined || trade.side === side) && BigInt(trade.lovelace) >= least;
  };
}

function rangeOf(token: AssetId, limit: number, before?: string, span: KeySpan = {}) {
  const after = before === undefined ? {} : { after: `${token}/${before}` };
  return { order: 'descending', offset: 0, limit, ...span, ...after } as const;
}

/** The trade's id, from the key of a row of `trades`. */
export function idOf(token: AssetId, key: string): string {
  return key.slice(token.length + 1);
}

/** Read `fold` each time: a new epoch replaces it. */
export interface TradeNode {
  readonly fold: Fold;
}

type TradeRow = ReturnType<typeof viewTrade>;

/** Older than the trade `before`, where it is given; it need not be there any more. */
export function tradesOf(
  { store }: Fold,
  token: AssetId,
  limit: number,
  before?: string,
): TradeRow[] {
  const rows = store.page('trades', `${token}/`, rangeOf(token, limit, before));
  return rows.map((row) => tradeRow(token, row));
}

/** null: a rollback took it away. */
export function tradeOf({ store }: Fold, token: AssetId, id: string): TradeRow | null {
  const text = store.get('trades', `${token}/${id}`);
  return text === null ? null : viewTrade(id, readRecord<TradeRecord>(text));
}

export function tradeRow(token: AssetId, { key, value }: KeyedRow) {
  return viewTrade(idOf(token, key), readRecord<TradeRecord>(value));
}

/** As clients see it. */
export function viewTrade(
  id: string,
  { side, tokens, lovelace, tx, pkh, atMs, spot }: TradeRecord,
) {
  return {
    id,
    time: Math.floor(atMs / 1000),
    side,
    price: formatPrice(BigInt(lovelace), BigInt(tokens)),
    baseAmount: tokens,
    quoteAmount: lovelace,
    txHash: tx,
    pkh,
    spotAfter: formatPrice(BigInt(spot.numerator), BigInt(spot.denominator)),
  };
}
