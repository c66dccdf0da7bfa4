/** The best of the market, and a tape of the newest trades, which moves only when there are any. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { LiquidityPoolInfo, Ticker, TickersQuery } from '../../client/types.ts';
import { Logo } from '../components/logo.tsx';
import { Age, Percent, Price } from '../components/numbers.tsx';
import { Spark } from '../components/spark.tsx';
import { shortAda, shortDecimal } from '../format.ts';
import { t } from '../messages.ts';
import { useMirror, usePage } from '../page.tsx';
import { routeHash } from '../route.ts';
import { nameOf } from './tickerTable.tsx';
import { useTickers } from './useTickers.ts';

const BEST = ['top', 'gainer', 'newest'] as const;
type Best = (typeof BEST)[number];

/** A gain is one that somebody traded at: 10 ADA in a day. */
const QUERIES: Readonly<Record<Best, TickersQuery>> = {
  top: { sort: 'marketCap', limit: 1 },
  gainer: { sort: 'change5m', minVolume24h: '10', limit: 1 },
  newest: { sort: 'createdOn', limit: 1 },
};
const AGAIN_MS = 5_000;

export function Hero() {
  return (
    <div class="hero">
      <div class="best">
        {BEST.map((which) => (
          <BestCard key={which} which={which} />
        ))}
      </div>
      <Tape />
    </div>
  );
}

function BestCard({ which }: { readonly which: Best }) {
  const { listing } = useTickers(QUERIES[which], AGAIN_MS);
  const what = t.home.best[which];
  const first = listing?.items[0];
  const ticker = which === 'gainer' && !hasRisen(first) ? undefined : first;
  if (ticker === undefined) {
    return (
      <div class={`best-card panel best-${which} ${listing === null ? 'coming' : ''}`}>
        <span class="crown">{what}</span>
        <span class="dim">{t.home.noBest[which]}</span>
      </div>
    );
  }
  const { asset, logoCID, spark } = ticker;
  const name = nameOf(ticker);
  return (
    <a
      class={`best-card panel best-${which}`}
      href={routeHash({ at: 'token', asset })}
      aria-label={t.home.bestIs(what, name)}
    >
      <span class="crown">
        {which === 'top' && '♛ '}
        {what}
      </span>
      <Spark closes={spark.closes} />
      <span class="who">
        <Logo asset={asset} ticker={ticker.ticker} logoCID={logoCID} />
        <strong class="cut">
          <bdi>{name}</bdi>
        </strong>
        <bdi class="dim ticker cut">{ticker.ticker}</bdi>
      </span>
      <span class="figures">
        <span class="figure">
          <Price value={ticker.price} />
        </span>
        <Fact which={which} ticker={ticker} />
      </span>
    </a>
  );
}

/** A young market has no gains yet: nothing in it is five minutes old. */
function hasRisen(ticker: Ticker | undefined): boolean {
  return Number(ticker?.change5m ?? 0) > 0;
}

/** Why the token is the best of its kind. */
function Fact({ which, ticker }: { readonly which: Best; readonly ticker: Ticker }) {
  const { change5m, change24h, marketCap, createdOn } = ticker;
  if (which === 'gainer') return <Percent value={change5m} />;
  if (which === 'newest') return createdOn === null ? null : <Age since={createdOn} />;
  return (
    <>
      <span>{marketCap === null ? '–' : shortDecimal(marketCap)}</span>
      <Percent value={change24h} />
    </>
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
