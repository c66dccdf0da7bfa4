/** Which rows of a list are shown, and the pages of the trades among them. */
import type { TradeRow, TradesQuery } from '../../client/types.ts';

export const SIDES = ['all', 'buy', 'sell'] as const;

export interface RowFilter {
  readonly side: (typeof SIDES)[number];
  readonly minLovelace: bigint;
  readonly isOwn: boolean;
  /** Payment key of the one wallet that is shown; null: of all. */
  readonly maker: string | null;
}

export const NO_FILTER: RowFilter = { side: 'all', minLovelace: 0n, isOwn: false, maker: null };

export function isFiltered({ side, minLovelace, isOwn, maker }: RowFilter): boolean {
  return side !== 'all' || minLovelace > 0n || isOwn || maker !== null;
}

/** `pkh`: whose trades; null: of all. */
export function isWithin(trade: TradeRow, filter: RowFilter, pkh: string | null): boolean {
  const { side, minLovelace } = filter;
  return (
    (side === 'all' || trade.side === side) &&
    BigInt(trade.quoteAmount) >= minLovelace &&
    (pkh === null || trade.pkh === pkh)
  );
}

interface PageQuery extends TradesQuery {
  readonly limit: number;
}

export function queryOf(
  asset: string,
  limit: number,
  { side, minLovelace }: RowFilter,
  pkh: string | null,
): PageQuery {
  return {
    asset,
    limit,
    ...(side === 'all' ? {} : { side }),
    ...(minLovelace === 0n ? {} : { minQuote: String(minLovelace) }),
    ...(pkh === null ? {} : { pkh }),
  };
}

interface TradesAnswer {
  readonly data: readonly TradeRow[];
  /** Not all were read: where to continue, as `before`. */
  readonly nextBefore: string | null;
}

export interface TradesPage {
  readonly rows: readonly TradeRow[];
  /** Where older ones begin, as `before`; null: there are none. */
  readonly next: string | null;
}

/** For one press of the button. */
const MAX_ANSWERS = 5;

/** Asks again where an answer has no rows, though not all trades were read. */
export async function tradesPage(
  list: (query: TradesQuery) => Promise<TradesAnswer>,
  query: PageQuery,
): Promise<TradesPage> {
  let before: string | null = null;
  for (let answers = 1; ; answers += 1) {
    const { data, nextBefore } = await list(before === null ? query : { ...query, before });
    const last = data.length < query.limit ? null : data.at(-1);
    const next = nextBefore ?? last?.id ?? null;
    if (data.length > 0 || next === null || answers === MAX_ANSWERS) return { rows: data, next };
    before = next;
  }
}
