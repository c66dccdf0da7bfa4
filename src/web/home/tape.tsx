/** A tape of the newest trades, which moves only when there are any. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Client } from '../../client/index.ts';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { shortAda } from '../format.ts';
import { t } from '../messages.ts';
import { useMirror, usePage } from '../page.tsx';
import { routeHash } from '../route.ts';

interface Traded {
  readonly key: string;
  readonly asset: string;
  readonly ticker: string;
  readonly isUp: boolean;
  readonly lovelace: number;
}

const MOST_TRADED = 14;
/** Whose trades are asked for, to begin with. */
const FIRST_TOKENS = 3;
const FIRST_TRADES = 5;
/** Each update has every pool that was traded; more of them are faster than one reads. */
const OPTIONS = { maxHz: 1 };

/** Trades as pools show them: what was added to a pool's volume, and where its market cap went. */
export function Tape() {
  const { client } = usePage();
  const latest = useMirror('latest', () => client.pools('Latest', OPTIONS), []).value;
  const tape = useSignal<readonly Traded[]>([]);
  const before = useRef<ReadonlyMap<string, LiquidityPoolInfo> | null>(null);
  const pools = latest?.isLoaded === true ? latest.mirror.state : null;
  const isBegun = pools !== null;
  useEffect(() => {
    if (pools === null) return;
    const ended = new AbortController();
    const traded = pools.filter(({ metrics }) => metrics.totalTxCount > 0).slice(0, FIRST_TOKENS);
    void newestOf(client, traded, ended.signal).then((newest) => {
      // What came meanwhile is newer.
      tape.value = [...tape.value, ...newest].slice(0, MOST_TRADED);
    });
    return () => ended.abort();
  }, [isBegun]);
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

/** Trades before the first look; those that cannot be had are left out. */
async function newestOf(
  client: Client,
  pools: readonly LiquidityPoolInfo[],
  signal: AbortSignal,
): Promise<readonly Traded[]> {
  const asked = pools.map(async ({ info: { asset, ticker } }) => {
    const query = { asset, limit: FIRST_TRADES };
    const { data } = await client.trades.list(query, { signal });
    return data.map(({ id, time, side, quoteAmount }) => {
      const isUp = side === 'buy';
      return { key: `${asset} ${id}`, asset, ticker, isUp, lovelace: Number(quoteAmount), time };
    });
  });
  const answers = await Promise.allSettled(asked);
  return answers
    .flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    .toSorted((a, b) => b.time - a.time);
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
