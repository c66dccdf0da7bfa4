/** How a token is spread: who holds much of it, what its author did, who bought with the launch. */
import Type from 'typebox';
import type { Fold } from '../../engine/fold/fold.ts';
import { traderKey } from '../../engine/fold/traderRows.ts';
import { percentOf } from '../../engine/market/profit.ts';
import {
  type PoolRecord,
  readRecord,
  type TradeRecord,
  type TraderRecord,
} from '../../engine/store/records.ts';
import { Amount } from '../schemas/identifiers.ts';
import { balanceOf } from './routes.ts';

const TOP_HOLDERS = 10;
/** More fills than a block has. */
const MOST_FILLS = 1_000;

const share = (what: string) =>
  Type.String({
    pattern: '^[0-9]+\\.[0-9]{2}$',
    description: `${what}, in percent of the supply outside the pool.`,
  });
const Bundled = Type.Object({
  keys: Type.Integer({ minimum: 0, description: 'Distinct payment keys.' }),
  percent: share('Tokens that these buys brought; above 100 where much was sold back'),
});
export const Insights = Type.Object({
  top10Percent: share('Tokens of the ten largest holders'),
  topHolderPercent: share('Tokens of the largest holder'),
  authorPercent: share('Tokens of all addresses with the author’s payment key'),
  authorSold: Type.Boolean({ description: 'A sell of the author’s payment key was filled.' }),
  authorSoldTokens: Type.String({ ...Amount, description: 'Tokens that these sells sold.' }),
  bundled: Type.Union([Bundled, Type.Null()], {
    description:
      'Buys in the block of the launch by other keys than the author’s; null where the launch ' +
      'came before the first block that this market follows.',
  }),
});
type Insights = Type.Static<typeof Insights>;

export function insightsOf(fold: Fold, pool: PoolRecord): Insights {
  const { store } = fold;
  const { token, author, supply, reserves } = pool;
  const outside = BigInt(supply) - BigInt(reserves.y);
  const percent = (tokens: bigint) => (outside === 0n ? '0.00' : percentOf(tokens, outside));
  const page = { order: 'ascending', offset: 0, limit: TOP_HOLDERS } as const;
  const top = store.page('holders', `${token}/`, page).map(({ value }) => BigInt(value));
  const text = author.pkh === '' ? null : store.get('traders', traderKey(author.pkh, token));
  const trader = text === null ? null : readRecord<TraderRecord>(text);
  return {
    top10Percent: percent(top.reduce((sum, tokens) => sum + tokens, 0n)),
    topHolderPercent: percent(top[0] ?? 0n),
    authorPercent: percent(author.pkh === '' ? 0n : balanceOf(fold, author.pkh, token)),
    authorSold: trader !== null && trader.sellCount > 0,
    authorSoldTokens: trader?.soldTokens ?? '0',
    bundled: bundledIn(fold, pool, percent),
  };
}

function bundledIn(
  { store }: Fold,
  { token, author, launchTx, createdMs }: PoolRecord,
  percent: (tokens: bigint) => string,
): Insights['bundled'] {
  if (launchTx === '') return null;
  const keys = new Set<string>();
  let bought = 0n;
  for (const { value } of store.withPrefix('trades', `${token}/`, MOST_FILLS)) {
    const { atMs, side, pkh, tokens } = readRecord<TradeRecord>(value);
    if (atMs !== createdMs) break;
    if (side !== 'buy' || pkh === '' || pkh === author.pkh) continue;
    keys.add(pkh);
    bought += BigInt(tokens);
  }
  return { keys: keys.size, percent: percent(bought) };
}
