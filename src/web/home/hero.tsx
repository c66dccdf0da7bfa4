/** The top of the market, and a tape of the newest trades, which moves only when there are any. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { Logo } from '../components/logo.tsx';
import { ada, shortAda } from '../format.ts';
import { t } from '../messages.ts';
import { useMirror, usePage } from '../page.tsx';
import { routeHash } from '../route.ts';
import { progressOf } from '../token/progress.ts';

export function Hero() {
  const { client } = usePage();
  const top = useMirror(() => client.topPool(), []).value;
  const pool = top?.mirror.state ?? null;
  return (
    <div class="hero">
      {pool === null ? <NoTop isLoaded={top?.isLoaded ?? false} /> : <Top pool={pool} />}
      <Tape />
    </div>
  );
}

function NoTop({ isLoaded }: { readonly isLoaded: boolean }) {
  return (
    <div class={isLoaded ? 'top-pool panel' : 'top-pool panel coming'}>
      <span class="crown">{t.home.top}</span>
      <strong>{t.home.noTop}</strong>
    </div>
  );
}

function Top({ pool }: { readonly pool: LiquidityPoolInfo }) {
  const { info, metrics } = pool;
  const { asset, name, ticker, logoCID } = info;
  const filled = progressOf(pool);
  return (
    <a
      class="top-pool panel"
      href={routeHash({ at: 'token', asset })}
      aria-label={t.home.topIs(name)}
    >
      <span class="crown">♛ {t.home.top}</span>
      <span class="who">
        <Logo asset={asset} ticker={ticker} logoCID={logoCID} />
        <strong class="cut">
          <bdi>{name}</bdi>
        </strong>
        <bdi class="dim">{ticker}</bdi>
      </span>
      <Figure name={t.home.columns.marketCap} value={ada(metrics.marketCap, 0)} />
      <Figure name={t.home.columns.progress} value={`${filled}%`} />
      <Figure name={t.home.columns.volume} value={ada(metrics.totalVolumeAda, 0)} />
      <Figure name={t.home.columns.trades} value={String(metrics.totalTxCount)} />
    </a>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <span class="fig">
      <span class="dim small">{name}</span>
      <span class="figure">{value}</span>
    </span>
  );
}

interface Traded {
  readonly key: string;
  readonly asset: string;
  readonly ticker: string;
  readonly isUp: boolean;
  readonly lovelace: number;
}

const MOST_TRADED = 14;

/** Trades as pools show them: what was added to a pool's volume, and where its market cap went. */
function Tape() {
  const { client } = usePage();
  const latest = useMirror(() => client.pools('Latest'), []).value;
  const tape = useSignal<readonly Traded[]>([]);
  const before = useRef<ReadonlyMap<string, LiquidityPoolInfo> | null>(null);
  const pools = latest?.isLoaded === true ? latest.mirror.state : null;
  useEffect(() => {
    if (pools === null) return;
    const known = before.current;
    before.current = new Map(pools.map((pool) => [pool.info.asset, pool]));
    const news = pools.slice(0, MOST_TRADED).flatMap((pool) => tradedOf(pool, known));
    if (news.length > 0) tape.value = [...news, ...tape.value].slice(0, MOST_TRADED);
  }, [pools]);
  return (
    <ol class="ticker-tape" aria-label={t.home.tape}>
      {tape.value.map(({ key, asset, ticker, isUp, lovelace }) => (
        <li key={key}>
          <a href={routeHash({ at: 'token', asset })} tabIndex={-1}>
            <bdi>{ticker}</bdi>
            <span class={isUp ? 'up' : 'down'}>
              {isUp ? '▲' : '▼'} {shortAda(lovelace)}
            </span>
          </a>
        </li>
      ))}
    </ol>
  );
}

/** What was traded since the last look; at the first look nothing is known of single trades. */
function tradedOf(
  { info, metrics }: LiquidityPoolInfo,
  known: ReadonlyMap<string, LiquidityPoolInfo> | null,
): readonly Traded[] {
  const { asset, ticker } = info;
  if (known === null) return [];
  const before = known.get(asset)?.metrics;
  const lovelace = metrics.totalVolumeAda - (before?.totalVolumeAda ?? 0);
  if (metrics.totalTxCount <= (before?.totalTxCount ?? 0) || lovelace <= 0) return [];
  const isUp = metrics.marketCap >= (before?.marketCap ?? 0);
  return [{ key: `${asset} ${metrics.totalTxCount}`, asset, ticker, isUp, lovelace }];
}
