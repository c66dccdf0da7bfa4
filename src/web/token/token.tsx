/** One token: chart, trading, orders, trades, the curve, holders, locks, and its description. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { Chart } from '../chart/chart.tsx';
import { ErrorBox } from '../components/errorBox.tsx';
import { cancelFrame, nextFrame } from '../frames.ts';
import { t } from '../messages.ts';
import { useMirror, usePage } from '../page.tsx';
import { PhoneBar } from '../trade/phoneBar.tsx';
import { side } from '../trade/sizes.ts';
import { TradePanel } from '../trade/tradePanel.tsx';
import { Coming } from './coming.tsx';
import { Curve } from './curve.tsx';
import { FollowTrades } from './followTrades.tsx';
import { TokenHeader } from './header.tsx';
import { Insights } from './insights.tsx';
import { OrderBook } from './orderBook.tsx';
import { Pressure } from './pressure.tsx';
import { Tabs } from './tabs.tsx';
import { FollowTicker } from './ticker.tsx';

/** Mounted for one token; `pool` of the context follows it. */
export function Token({ asset }: { readonly asset: string }) {
  const { client, pool } = usePage();
  const followed = useMirror('pool', () => client.pool(asset), [asset]).value;
  const info = followed?.mirror.state ?? null;
  useEffect(() => {
    pool.value = info;
  }, [info]);
  useEffect(
    () => () => {
      pool.value = null;
      side.value = 'buy';
    },
    [],
  );
  if (info !== null) return <Parts pool={info} />;
  if (followed?.error) return <ErrorBox error={followed.error} />;
  // Nothing is asked for a token that is not there: the server would refuse it.
  return followed?.isLoaded === true ? <Unknown asset={asset} /> : <Coming />;
}

function Parts({ pool }: { readonly pool: LiquidityPoolInfo }) {
  const { asset } = pool.info;
  const turn = useTurns();
  const after = (place: number, part: ComponentChildren) => (turn > place ? part : null);
  return (
    <>
      <FollowTicker asset={asset} />
      <FollowTrades asset={asset} />
      <TokenHeader pool={pool} />
      <div class={turn > LAST_TURN ? 'token-columns' : 'token-columns coming'}>
        <div class="main-column">
          <section class="panel chart" aria-label={t.token.chart}>
            {after(0, <Chart asset={asset} pool={pool} />)}
          </section>
          <div class="below">
            {after(2, <Curve pool={pool} />)}
            {after(4, <OrderBook asset={asset} />)}
          </div>
          {after(3, <Tabs pool={pool} />)}
        </div>
        <div class="side-column">
          {after(1, <TradePanel pool={pool} />)}
          {after(2, <Insights asset={asset} />)}
          {after(2, <Pressure />)}
        </div>
      </div>
      <PhoneBar />
    </>
  );
}

const LAST_TURN = 4;

/** Parts come one after the other, as frames have room for them; shown when all are there. */
function useTurns(): number {
  const turn = useSignal(1);
  useEffect(() => {
    const step = () => {
      turn.value += 1;
      if (turn.value <= LAST_TURN) nextFrame(step);
    };
    nextFrame(step);
    return () => cancelFrame(step);
  }, []);
  return turn.value;
}

function Unknown({ asset }: { readonly asset: string }) {
  return (
    <div class="panel">
      <div class="empty" role="status">
        <h1>{t.token.unknown}</h1>
        {t.token.unknownWhy} <span class="code">{asset}</span>
        <div>
          <a class="button" href="#/">
            {t.token.toMarket}
          </a>
        </div>
      </div>
    </div>
  );
}
