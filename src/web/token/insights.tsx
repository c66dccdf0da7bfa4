/**
 * Facts to know before buying, live: large holders, the author's sales and other launches, and who
 * bought with the launch or right after it. Each line says in words whether it is a reason for
 * caution. All shares have one base, written below.
 */
import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { TokenInsightsAnswer } from '../../client/types.ts';
import { ErrorBox } from '../components/errorBox.tsx';
import { Icon } from '../components/icon.tsx';
import { Panel } from '../components/panel.tsx';
import { localized, short } from '../format.ts';
import { t } from '../messages.ts';
import { useMirror, usePage } from '../page.tsx';
import { LARGE } from '../trust.ts';

/** An author with so many launches, none of them graduated, gets a warning. */
const MANY_LAUNCHES = 3;

interface Flag {
  readonly name: string;
  readonly value: string;
  readonly meaning: string;
  readonly isCaution: boolean;
}

/** Reasons for caution that the panel below names; null until they are known. */
const cautions: Signal<number | null> = signal<number | null>(null);

const PANEL = 'before-you-buy';

/** Their number beside the name, where it is seen without scrolling; leads to the panel. */
export function RiskLine() {
  const count = cautions.value;
  // Its room is kept until it is known: what is below would jump.
  if (count === null) {
    return (
      <span class="risk-line small coming" aria-hidden="true">
        <Icon name="caution" />
        {t.token.insights}: {cautionWords(1)}
      </span>
    );
  }
  const isFine = count === 0;
  return (
    <button
      type="button"
      class={isFine ? 'risk-line small' : 'risk-line small caution-flag'}
      title={t.token.insights}
      onClick={() => document.getElementById(PANEL)?.scrollIntoView({ block: 'center' })}
    >
      <Icon name={isFine ? 'check' : 'caution'} />
      {t.token.insights}: {cautionWords(count)}
    </button>
  );
}

export function Insights({ asset }: { readonly asset: string }) {
  const { client } = usePage();
  const followed = useMirror('insights', () => client.watchInsights(asset), [asset]).value;
  const data = followed?.mirror.state ?? null;
  const flags = data === null ? [] : flagsOf(data);
  const count = data === null ? null : flags.filter(({ isCaution }) => isCaution).length;
  useEffect(() => {
    cautions.value = count;
    return () => {
      cautions.value = null;
    };
  }, [count]);
  return (
    <Panel
      id={PANEL}
      class="insights"
      title={t.token.insights}
      side={<span class="side">{count === null ? '' : cautionWords(count)}</span>}
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
      <p class="hint base">{t.trust.base}</p>
      {data === null && followed?.error ? <ErrorBox error={followed.error} /> : null}
    </Panel>
  );
}

function cautionWords(count: number): string {
  return count === 0 ? t.token.noCautions : t.token.cautions(count);
}

const GROUPS = ['bundlers', 'snipers', 'insiders'] as const;

function flagsOf(insights: TokenInsightsAnswer): readonly Flag[] {
  const { author, top10Percent, largestPercent, lockedPercent } = insights;
  const words = t.token.flags;
  const share = (name: keyof typeof words.shares, percent: string, isCaution: boolean): Flag => ({
    name: words.shares[name],
    value: `${localized(percent)}%`,
    meaning: t.trust.base,
    isCaution,
  });
  return [
    share('top10', top10Percent, Number(top10Percent) > LARGE.top10),
    share('topHolder', largestPercent, Number(largestPercent) > LARGE.largest),
    share('author', author.percent, Number(author.percent) > LARGE.author),
    {
      name: words.authorSold,
      value: author.sold === '0' ? words.no : words.sold({ tokens: short(author.sold) }),
      meaning: words.authorSoldMeans,
      isCaution: author.sold !== '0',
    },
    {
      name: words.launches,
      value:
        author.launches === 0
          ? words.none
          : words.launched(author.launches, { graduated: String(author.graduated) }),
      meaning: words.launchesMean,
      isCaution: author.launches >= MANY_LAUNCHES && author.graduated === 0,
    },
    ...GROUPS.flatMap((name) => groupFlag(name, insights)),
    share('locked', lockedPercent, false),
  ];
}

/** Nothing where the launch was not seen. */
function groupFlag(name: (typeof GROUPS)[number], insights: TokenInsightsAnswer): readonly Flag[] {
  const group = insights[name];
  if (group === null) return [];
  const words = t.token.flags;
  const { keys, percent } = group;
  return [
    {
      name: words.groups[name],
      value: keys === 0 ? words.none : words.keys(keys, { percent: localized(percent) }),
      meaning: words.groupsMean[name],
      isCaution: Number(percent) > LARGE[name],
    },
  ];
}
