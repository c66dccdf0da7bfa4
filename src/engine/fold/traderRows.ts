/**
 * The buys and sells of each payment key with each token. A buy costs what its order offered and
 * the executor's fee, but not the deposit, which comes back; an initial buy what entered the pool.
 * A sell brings the payment beyond the deposit.
 */
import type { AssetId } from '../market/asset.ts';
import type { MarketEvent } from '../market/events.ts';
import { afterBuy, afterSell, NO_POSITION, type Position } from '../market/profit.ts';
import {
  type OrderFill,
  type OrderRecord,
  type PoolRecord,
  positionOf,
  type TraderRecord,
} from '../store/records.ts';
import type { RowDraft } from './rowDraft.ts';

export const traderKey = (pkh: string, token: AssetId) => `${pkh}/${token}`;
/** In `counts`: keys that traded the token; they stand in `token_traders`, `<token>/<key>`. */
export const tradersOf = (token: AssetId) => `traders/${token}`;
/** A row must hold something; its key says all. */
const TRADED = '1';

export function tradeOrder(
  rows: RowDraft,
  { pkh, token, side }: OrderRecord,
  { amount, received, feeLovelace }: Pick<OrderFill, 'amount' | 'received' | 'feeLovelace'>,
  atMs: number,
): void {
  const [offered, got] = [BigInt(amount), BigInt(received)];
  move(rows, { pkh, token }, atMs, (position) =>
    side === 'buy'
      ? afterBuy(position, got, offered + BigInt(feeLovelace))
      : afterSell(position, offered, got),
  );
}

/** Records a launch's initial buy. */
export function tradeLaunch(
  rows: RowDraft,
  { author, token }: PoolRecord,
  { tokens, lovelace }: MarketEvent & { kind: 'filled' },
  atMs: number,
): void {
  // Not every launch names its creator.
  if (author.pkh === '') return;
  move(rows, { pkh: author.pkh, token }, atMs, (position) =>
    afterBuy(position, BigInt(tokens), BigInt(lovelace)),
  );
}

function move(
  rows: RowDraft,
  { pkh, token }: { readonly pkh: string; readonly token: AssetId },
  atMs: number,
  trade: (before: Position) => Position,
): void {
  const key = traderKey(pkh, token);
  const before = rows.record<TraderRecord>('traders', key);
  if (before === null) {
    rows.set('token_traders', `${token}/${pkh}`, TRADED);
    rows.count(tradersOf(token), 1);
  }
  const after = trade(before === null ? NO_POSITION : positionOf(before));
  const record: TraderRecord = {
    buyCount: after.buyCount,
    sellCount: after.sellCount,
    boughtTokens: String(after.boughtTokens),
    soldTokens: String(after.soldTokens),
    spentLovelace: String(after.spentLovelace),
    receivedLovelace: String(after.receivedLovelace),
    openTokens: String(after.openTokens),
    openCostLovelace: String(after.openCostLovelace),
    realizedLovelace: String(after.realizedLovelace),
    firstMs: before?.firstMs ?? atMs,
    lastMs: atMs,
  };
  rows.put('traders', key, record);
}
