/** The trade tape: fills of a token, newest first. */
import type { Fold } from '../../engine/actors/fold.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import { readRecord, type TradeRecord } from '../../engine/store/records.ts';

/** `fold` is asked anew each time, a new epoch replaces it. */
export interface TapeNode {
  readonly fold: Fold;
}

export type TradeRow = ReturnType<typeof rowOf>;

/** Older than the trade `before`, where it is given; it need not be there any more. */
export function tradesOf(
  { store }: Fold,
  token: AssetId,
  limit: number,
  before?: string,
): TradeRow[] {
  const after = before === undefined ? {} : { after: `${token}/${before}` };
  const wish = { order: 'descending', offset: 0, limit, ...after } as const;
  const rows = store.page('trades', `${token}/`, wish);
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
