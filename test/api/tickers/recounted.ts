/** The tickers that a made market must have. */

import type { Action, MadeBlock } from '../../chain/foldMarket.ts';
import { type ModelPool, SUPPLY, THRESHOLD } from '../../chain/foldState.ts';
import { spotAt } from '../../chain/foldTruth.ts';
import { trustTruth } from '../../chain/trustTruth.ts';
import { halfUp, type Ratio } from '../../e2e/api/exact.ts';
import { type CountedTrade, recount } from '../../support/tickerRecount.ts';

/** The fields of a row of `/v1/trades` that a recount reads. */
export interface TradeRow {
  readonly time: number;
  readonly side: string;
  readonly quoteAmount: string;
  readonly pkh: string;
}

/** More than a test makes of one pool. */
export const MAX_TRADES = 500;

export function launchBy(user: number, buy: number): Action {
  return { do: 'launch', user, buy };
}
export function trade(side: 'buy' | 'sell', amount: number, { pool = 0, user = 1 } = {}): Action[] {
  return [
    { do: 'place', user, pool, side, amount },
    { do: 'execute', pool },
  ];
}

/** `rows`: all trades of the pool as `/v1/trades` lists them, the newest first. */
export function recountedTicker(
  pool: ModelPool,
  rows: readonly TradeRow[],
  marketMs: number,
  blocks: readonly MadeBlock[],
) {
  const trades = rows.toReversed().map((row, index): CountedTrade => {
    const made = pool.trades[index];
    if (made === undefined) throw new Error(`trade ${index} of ${pool.token} was not made`);
    return {
      atMs: row.time * 1000,
      isBuy: row.side === 'buy',
      lovelace: BigInt(row.quoteAmount),
      pkh: row.pkh,
      before: ratio(spotAt(made.before)),
      after: ratio(spotAt(made.after)),
    };
  });
  const { venue, x, y, owed } = pool;
  const spot = ratio(spotAt({ venue, x: String(x), y: String(y), owed: String(owed) }));
  const token = {
    asset: pool.token,
    name: 'tok',
    ticker: 'TOK',
    logoCID: 'bafkreitest',
    createdMs: pool.createdMs,
    isGraduated: pool.graduatedMs !== null,
    spot,
    marketCapLovelace: halfUp({ n: spot.n * SUPPLY, d: spot.d }),
    reserveLovelace: x,
    progress: progressOf(pool),
    trust: trustTruth(blocks, pool.token),
    trades,
  };
  return recount(token, marketMs);
}

function ratio({ top, bottom }: { readonly top: bigint; readonly bottom: bigint }): Ratio {
  return { n: top, d: bottom };
}

function progressOf({ x, graduatedMs }: ModelPool): string {
  if (graduatedMs !== null || x >= THRESHOLD) return '100';
  const hundredths = String((x * 10_000n) / THRESHOLD).padStart(3, '0');
  return `${hundredths.slice(0, -2)}.${hundredths.slice(-2)}`.replace(/\.?0+$/, '');
}
