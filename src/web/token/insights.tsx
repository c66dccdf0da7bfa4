/**
 * Facts to know before buying: large holders, the author's sales, and buyers who bought with the
 * launch. Each line says in words whether it is a reason for caution.
 */
import type { LiquidityPoolInfo, TokenInsightsAnswer } from '../../client/types.ts';
import { useAsked } from '../asked.ts';
import { ErrorBox } from '../components/errorBox.tsx';
import { Icon } from '../components/icon.tsx';
import { Panel } from '../components/panel.tsx';
import { localized, short } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';

/** From this percent of the supply outside the pool on, one holder can move the price. */
const LARGE_HOLDER = 10;
const LARGE_TOP = 50;
const LARGE_AUTHOR = 10;
const LARGE_BUNDLE = 5;

interface Flag {
  readonly name: string;
  readonly value: string;
  readonly meaning: string;
  readonly isCaution: boolean;
}

export function Insights({ pool }: { readonly pool: LiquidityPoolInfo }) {
  const { client } = usePage();
  const { asset } = pool.info;
  const { data, error } = useAsked(
    'insights',
    async (signal) => (await client.holders.insights(asset, { signal })).data,
    [asset],
    pool,
  ).value;
  const flags = data === null ? [] : flagsOf(data);
  const cautions = flags.filter(({ isCaution }) => isCaution).length;
  return (
    <Panel
      class="insights"
      title={t.token.insights}
      side={<span class="side">{data === null ? '' : cautionWords(cautions)}</span>}
    >
      <ul class="flags">
        {flags.map(({ name, value, meaning, isCaution }) => (
          <li key={name} class={isCaution ? 'caution-flag' : ''} title={meaning}>
            <Icon name={isCaution ? 'caution' : 'check'} />
            <span>
              <span class="unseen">{isCaution ? t.token.caution : t.token.fine}: </span>
              {name}
            </span>
            <b class="num">{value}</b>
          </li>
        ))}
      </ul>
      <p class="hint base">{t.token.flags.outside}</p>
      {error !== null && <ErrorBox error={error} />}
    </Panel>
  );
}

function cautionWords(cautions: number): string {
  return cautions === 0 ? t.token.noCautions : t.token.cautions(cautions);
}

function flagsOf(insights: TokenInsightsAnswer): readonly Flag[] {
  const { top10Percent, topHolderPercent, authorPercent, authorSold, bundled } = insights;
  const words = t.token.flags;
  const shareOf = (name: keyof typeof words.shares, percent: string, limit: number): Flag => ({
    name: words.shares[name],
    value: `${localized(percent)}%`,
    meaning: words.outside,
    isCaution: Number(percent) > limit,
  });
  const flags = [
    shareOf('top10', top10Percent, LARGE_TOP),
    shareOf('topHolder', topHolderPercent, LARGE_HOLDER),
    shareOf('author', authorPercent, LARGE_AUTHOR),
    {
      name: words.authorSold,
      value: authorSold ? words.sold({ tokens: short(insights.authorSoldTokens) }) : words.no,
      meaning: words.authorSoldMeans,
      isCaution: authorSold,
    },
  ];
  if (bundled === null) return flags;
  const bundle = {
    name: words.bundled,
    value:
      bundled.keys === 0
        ? words.none
        : words.bundle(bundled.keys, { percent: localized(bundled.percent) }),
    meaning: words.bundledMeans,
    isCaution: bundled.keys > 0 && Number(bundled.percent) > LARGE_BUNDLE,
  };
  return [...flags, bundle];
}
