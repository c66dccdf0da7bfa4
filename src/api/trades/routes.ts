/** Trades of a token, newest first: schemas, rows and routes (api.md section 2). */
import Type from 'typebox';
import type { Fold } from '../../engine/actors/fold.ts';
import { tradesTag } from '../../engine/actors/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { readRecord, type TradeRecord } from '../../engine/store/records.ts';
import type { Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import { Amount, AssetIdShape, TxHash } from '../schemas/identifiers.ts';
import { KeptPages } from '../schemas/keptPages.ts';
import { Limit } from '../schemas/paging.ts';

const TradeId = Type.String({
  pattern: '^[0-9]{12}\\.[0-9]{6}\\.[0-9]{4}$',
  description: 'Place in the chain: slot, transaction, fill. Sorts; unique for the token.',
});
const Price = Type.String({ description: 'ADA per token.' });

const TradeRow = Type.Object(
  {
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
  },
  { $id: 'TradeRow' },
);

const TradesQuery = Type.Object({
  asset: AssetIdShape,
  before: Type.Optional({ ...TradeId, description: 'Only trades older than this one.' }),
  limit: Limit(100, 500),
});
export const TradesInput = Type.Object({ asset: AssetIdShape });
const Removed = Type.Object({ id: TradeId, removed: Type.Literal(true) });
export const TradesOutput = Type.Union([Type.Array(Type.Union([TradeRow, Removed])), Type.Null()], {
  description: 'Newest first; after a rollback also `{id, removed: true}`.',
});

export function tradeRoutes(node: TradeNode): Route[] {
  const pages = new KeptPages(node);
  return [
    route({
      method: 'GET',
      path: '/v1/trades',
      operationId: 'trades',
      tag: 'Trades',
      summary: 'Trades of a token, newest first',
      description: 'For older ones give the last `id` as `before`: nothing is missed or repeated.',
      query: TradesQuery,
      answers: { 200: { description: 'Trades', schema: Type.Array(TradeRow) } },
      causes: ['ASSET_NOT_FOUND'],
      rate: 'read',
      needsSync: true,
      positioned: true,
      etag: true,
      handle({ query: { asset, limit, before } }) {
        const { fold } = node;
        const token = asset.toLowerCase();
        if (fold.directory.find(token) === null) {
          return new Failure('ASSET_NOT_FOUND', `No token ${token} was launched here.`);
        }
        const render = () => Buffer.from(JSON.stringify(tradesOf(fold, token, limit, before)));
        return { body: pages.of(tradesTag(token), `${limit} ${before ?? ''}`, render) };
      },
    }),
  ];
}

/** Read `fold` each time: a new epoch replaces it. */
export interface TradeNode {
  readonly fold: Fold;
}

type TradeRow = ReturnType<typeof rowOf>;

/** Older than the trade `before`, where it is given; it need not be there any more. */
export function tradesOf(
  { store }: Fold,
  token: AssetId,
  limit: number,
  before?: string,
): TradeRow[] {
  const after = before === undefined ? {} : { after: `${token}/${before}` };
  const page = { order: 'descending', offset: 0, limit, ...after } as const;
  const rows = store.page('trades', `${token}/`, page);
  return rows.map(({ key, value }) => rowOf(key.slice(token.length + 1), value));
}

/** null: a rollback took it away. */
export function tradeOf({ store }: Fold, token: AssetId, id: string): TradeRow | null {
  const text = store.get('trades', `${token}/${id}`);
  return text === null ? null : rowOf(id, text);
}

function rowOf(id: string, text: string) {
  const { side, tokens, lovelace, tx, pkh, atMs, spot } = readRecord<TradeRecord>(text);
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
