/** Keys that made or traded the most of the token; asked for again when the pool moved. */
import { useSignal } from '@preact/signals';
import type { LiquidityPoolInfo, TokenTradersAnswer } from '../../client/types.ts';
import { Choices } from '../components/choices.tsx';
import { ErrorBox } from '../components/errorBox.tsx';
import { ends, grouped, short } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { useQuery } from '../useQuery.ts';
import { lookOf, moneyText, signed } from '../wallet/gainText.ts';
import { TabPart } from './tabPart.tsx';

const SORTS = ['realized', 'unrealized', 'volume'] as const;
type Sort = (typeof SORTS)[number];

export function Traders({ pool }: { readonly pool: LiquidityPoolInfo }) {
  const { client } = usePage();
  const { asset, poolAuthor } = pool.info;
  const sort = useSignal<Sort>('realized');
  const { data, error } = useQuery(
    'traders',
    async (signal) => (await client.holders.traders({ asset, sort: sort.value }, { signal })).data,
    [asset, sort.value],
    pool,
  ).value;
  const words = t.token.topTraders;
  return (
    <TabPart
      class="top-traders"
      title={t.token.traderList}
      tools={
        <Choices
          name={words.sort}
          options={SORTS.map((value) => ({ value, label: words.sorts[value] }))}
          value={sort.value}
          choose={(value) => {
            sort.value = value;
          }}
        />
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <section class="traders" tabIndex={0} aria-label={t.token.traderList}>
        <table>
          <thead>
            <tr>
              {words.columns.map((name, index) => (
                <th key={name} scope="col" class={index === 0 ? '' : 'num'}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data?.map((row) => (
              <TraderRow key={row.pkh} row={row} isAuthor={row.pkh === poolAuthor.pkh} />
            ))}
          </tbody>
        </table>
      </section>
      {data?.length === 0 && <p class="empty">{t.token.noTrades}</p>}
      {error !== null && <ErrorBox error={error} />}
    </TabPart>
  );
}

interface TraderRowProps {
  readonly row: TokenTradersAnswer[number];
  readonly isAuthor: boolean;
}

function TraderRow({ row, isAuthor }: TraderRowProps) {
  const { pkh, buys, sells, spentAda, receivedAda, balance } = row;
  return (
    <tr data-key={pkh}>
      <td>
        <span class="code" title={pkh}>
          {ends(pkh, 4)}
        </span>{' '}
        <span class="mark">{isAuthor ? t.token.authorMark : ''}</span>
      </td>
      <td class="num">
        {grouped(String(buys))} / {grouped(String(sells))}
      </td>
      <td class="num">{moneyText(spentAda)}</td>
      <td class="num">{moneyText(receivedAda)}</td>
      <td class="num">{short(balance)}</td>
      <td class={`num ${lookOf(row.realizedPnlAda)}`}>{signed(row.realizedPnlAda)}</td>
      <td class={`num ${lookOf(row.unrealizedPnlAda)}`}>{signed(row.unrealizedPnlAda)}</td>
    </tr>
  );
}
