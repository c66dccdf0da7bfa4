/**
 * Shares of a token that its author, its first buyers and its largest holders have.
 * Source: protocol.md sections 9.4 and 10.2. The fold keeps the sums (fold/trustRows).
 */
import Type from 'typebox';
import type { Fold } from '../../engine/fold/fold.ts';
import { traderKey } from '../../engine/fold/traderRows.ts';
import { shareOutside, topTokens } from '../../engine/market/trust.ts';
import {
  type PoolRecord,
  readRecord,
  type TradeRecord,
  type TraderRecord,
} from '../../engine/store/records.ts';
import { Amount } from '../schemas/identifiers.ts';

/** More fills than a block has. */
const MAX_FILLS = 1_000;

const share = (what: string) =>
  Type.String({
    pattern: '^[0-9]+\\.[0-9]{2}$',
    description: `${what}, in percent of the supply outside the pool.`,
  });
const groupOf = (who: string, what = 'Their present holdings') =>
  Type.Union(
    [
      Type.Object({
        keys: Type.Integer({ minimum: 0, description: 'Distinct payment keys.' }),
        percent: share(what),
      }),
      Type.Null(),
    ],
    {
      description: `${who} null where the launch came before the first block followed here.`,
    },
  );
export const Insights = Type.Object(
  {
    holders: Type.Integer({
      minimum: 0,
      description: 'Payment keys, and addresses without one, that hold tokens.',
    }),
    top10Percent: share('Tokens of the ten largest holders'),
    largestPercent: share('Tokens of the largest holder'),
    topHolderPercent: share('The same as `largestPercent`'),
    lockedPercent: share('Tokens in vesting locks'),
    author: Type.Object({
      percent: share('Tokens that the author’s payment key holds now'),
      sold: Type.String({ ...Amount, description: 'Tokens that its filled sells ever sold.' }),
      launches: Type.Integer({ minimum: 0, description: 'Other tokens that this key launched.' }),
      graduated: Type.Integer({ minimum: 0, description: 'How many of them have graduated.' }),
    }),
    authorPercent: share('The same as `author.percent`'),
    authorSold: Type.Boolean({ description: 'A sell of the author’s payment key was filled.' }),
    authorSoldTokens: Type.String({ ...Amount, description: 'The same as `author.sold`.' }),
    bundlers: groupOf(
      'Keys other than the author’s with a filled buy that was placed in the block of the ' +
        'launch, behind it. The key of an order is the one that its payment goes to.',
    ),
    snipers: groupOf(
      'The same for the three blocks after the launch block; a bundler is no sniper.',
    ),
    insiders: groupOf(
      'Payment keys other than the author’s that the launch transaction paid tokens to, or that ' +
        'gained tokens in a transaction in which the author’s key lost some. Tokens from ' +
        'fills of orders and from withdrawn locks do not count.',
    ),
    bundled: groupOf(
      'Buys that were **filled** in the block of the launch by other keys than the author’s.',
      'Tokens that these buys brought; above 100 where much was sold back',
    ),
  },
  { $id: 'Insights' },
);
type Insights = Type.Static<typeof Insights>;

export const HELD =
  'A key holds its confirmed tokens and the tokens in its own open sell orders; tokens in ' +
  'vesting locks are separate. An address without a payment key holds for itself.';

export function insightsOf(fold: Fold, pool: PoolRecord): Insights {
  const { store, directory } = fold;
  const { token, author, trust, launchHeight, graduatedMs } = pool;
  const percent = (tokens: bigint | string) => shareOutside(pool, BigInt(tokens));
  const groupIn = ({ keys, tokens }: typeof trust.snipers) =>
    launchHeight === null ? null : { keys, percent: percent(tokens) };
  const text = author.pkh === '' ? null : store.get('traders', traderKey(author.pkh, token));
  const trader = text === null ? null : readRecord<TraderRecord>(text);
  const { launches, graduated } = directory.author(author.pkh) ?? { launches: 1, graduated: 0 };
  const sold = trader?.soldTokens ?? '0';
  const [largest = '0'] = trust.top;
  const own = { percent: percent(trust.author), sold };
  return {
    holders: trust.holders,
    top10Percent: percent(topTokens(trust)),
    largestPercent: percent(largest),
    topHolderPercent: percent(largest),
    lockedPercent: percent(trust.locked),
    author: {
      ...own,
      launches: author.pkh === '' ? 0 : launches - 1,
      graduated: author.pkh === '' ? 0 : graduated - (graduatedMs === null ? 0 : 1),
    },
    authorPercent: own.percent,
    authorSold: trader !== null && trader.sellCount > 0,
    authorSoldTokens: sold,
    bundlers: groupIn(trust.bundlers),
    snipers: groupIn(trust.snipers),
    insiders: groupIn(trust.insiders),
    bundled: bundledIn(fold, pool),
  };
}

function bundledIn({ store }: Fold, pool: PoolRecord): Insights['bundled'] {
  const { token, author, launchTx, createdMs } = pool;
  if (launchTx === '') return null;
  const keys = new Set<string>();
  let bought = 0n;
  for (const { value } of store.withPrefix('trades', `${token}/`, MAX_FILLS)) {
    const { atMs, side, pkh, tokens } = readRecord<TradeRecord>(value);
    if (atMs !== createdMs) break;
    if (side !== 'buy' || pkh === '' || pkh === author.pkh) continue;
    keys.add(pkh);
    bought += BigInt(tokens);
  }
  return { keys: keys.size, percent: shareOutside(pool, bought) };
}
