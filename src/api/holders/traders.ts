/**
 * The traders of a token who made or traded the most. The fold keeps what each payment key made of
 * a token and which keys traded it; an answer reads all of them, in slices, at one position.
 * Source: protocol.md section 10.0.
 */
import Type from 'typebox';
import { balanceKey } from '../../engine/fold/holderRows.ts';
import { traderKey } from '../../engine/fold/traderRows.ts';
import { spotOf } from '../../engine/market/pool.ts';
import { unrealizedLovelace } from '../../engine/market/profit.ts';
import { assert } from '../../engine/runtime/assert.ts';
import {
  type PoolRecord,
  poolState,
  positionOf,
  type TraderRecord,
} from '../../engine/store/records.ts';
import { AssetIdShape, KeyHash, OneOf } from '../schemas/identifiers.ts';
import { Limit } from '../schemas/paging.ts';
import { eachUnder, type HeldState, type Steps } from '../schemas/slicedReads.ts';
import { ada } from './routes.ts';
import { ADA, BALANCE, COUNT, SIGNED_ADA } from './schema.ts';

const MAX_TRADERS = 100;
const SORTS = ['realized', 'unrealized', 'volume'] as const;

export const TradersQuery = Type.Object({
  asset: AssetIdShape,
  sort: Type.Optional({
    ...OneOf(SORTS),
    default: 'realized',
    description: 'The largest first; `volume` is spent and received ADA together. Ties: key.',
  }),
  limit: Limit(MAX_TRADERS, MAX_TRADERS),
});
type TradersQuery = Type.Static<typeof TradersQuery>;

const TopTrader = Type.Object({
  pkh: KeyHash,
  buys: COUNT,
  sells: COUNT,
  spentAda: ADA,
  receivedAda: ADA,
  balance: BALANCE,
  realizedPnlAda: SIGNED_ADA,
  unrealizedPnlAda: SIGNED_ADA,
});
export const TopTraders = Type.Array(TopTrader);
type TopTrader = Type.Static<typeof TopTrader>;

interface Ranked {
  readonly pkh: string;
  readonly row: Omit<TopTrader, 'balance'>;
  readonly value: bigint;
}

export function* topTraders(
  { rows }: Pick<HeldState, 'rows'>,
  pool: PoolRecord,
  { sort = 'realized', limit = MAX_TRADERS }: Omit<TradersQuery, 'asset'>,
): Steps<TopTrader[]> {
  const { token } = pool;
  const spot = spotOf(poolState(pool));
  let best: Ranked[] = [];
  const prefix = `${token}/`;
  yield* eachUnder(rows, 'token_traders', { prefix, most: Number.POSITIVE_INFINITY }, ({ key }) => {
    const pkh = key.slice(prefix.length);
    const trader = rows.record<TraderRecord>('traders', traderKey(pkh, token));
    assert(trader !== null, `${pkh} traded ${token}`);
    const position = positionOf(trader);
    const { spentLovelace, receivedLovelace, realizedLovelace } = position;
    const unrealized = unrealizedLovelace(position, spot);
    const values = {
      realized: realizedLovelace,
      unrealized,
      volume: spentLovelace + receivedLovelace,
    };
    const row = {
      pkh,
      buys: position.buyCount,
      sells: position.sellCount,
      spentAda: ada(spentLovelace),
      receivedAda: ada(receivedLovelace),
      realizedPnlAda: ada(realizedLovelace),
      unrealizedPnlAda: ada(unrealized),
    };
    best.push({ pkh, row, value: values[sort] });
    // Sorted now and then: all that may still be among the first stay.
    if (best.length > 4 * MAX_TRADERS) best = firstOf(best, limit);
  });
  return firstOf(best, limit).map(({ pkh, row: { realizedPnlAda, unrealizedPnlAda, ...row } }) => {
    const balance = rows.get('balances', balanceKey(pkh, token)) ?? '0';
    return { ...row, balance, realizedPnlAda, unrealizedPnlAda };
  });
}

function firstOf(all: readonly Ranked[], limit: number): Ranked[] {
  const sorted = all.toSorted(
    (a, b) => Number(b.value > a.value) - Number(b.value < a.value) || (a.pkh < b.pkh ? -1 : 1),
  );
  return sorted.slice(0, limit);
}
