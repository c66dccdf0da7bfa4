/**
 * The chart: settings above it, the numbers of a bar in the legend, and keys that move the view.
 * Bars are drawn by the datafeed; numbers become floating point there, for pixels only.
 */
import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { PriceBar } from '../../client/index.ts';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { buyTokens, spot } from '../../engine/market/curve.ts';
import { formatRatio } from '../../engine/market/decimal.ts';
import { nameInId } from '../../engine/market/tokenName.ts';
import { Choices } from '../components/choices.tsx';
import { errorText } from '../errorText.ts';
import { money, product, shortMoney } from '../fiat.ts';
import { localized, short, subscriptZeros } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { sessionOf } from '../wallet/session.ts';
import { BarChart, type ChartView, type OwnTrade } from './barChart.ts';
import type { Drawn } from './followedBars.ts';
import { change, settings } from './settings.ts';
import { ChartToolbar } from './toolbar.tsx';
import type { LaunchPoint } from './tradeBars.ts';
import { type ChartTimes, timesOf, ZONES, zoneName } from './zone.ts';

/** Their bars are days of UTC, or longer. */
const DAYS: readonly string[] = ['day1', 'week1', 'month1'];

/** A younger token has few bars, and its trades tell more. */
const YOUNG_SECONDS = 1800;

/** `pool`: null where only replayed trades are known. */
export function Chart(props: { readonly asset: string; readonly pool: LiquidityPoolInfo | null }) {
  const { asset, pool } = props;
  const { time, network } = usePage();
  const view = useSignal<ChartView | null>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const createdOn = pool?.pool.createdOn ?? null;
  const isYoung = createdOn !== null && time.seconds.peek() - createdOn < YOUNG_SECONDS;
  const { zone, kind, resolution, young } = settings.value;
  const trades = useSignal(isYoung && young === 'trades');
  const launch = useMemo(() => launchOf(pool), [asset]);
  const drawn: Drawn = { asset, resolution: trades.value ? 'trades' : resolution, launch };
  const step = trades.value ? 'trade' : DAYS.includes(resolution) ? 'day' : 'minute';
  const times = useMemo(() => timesOf(zone, step), [zone, step]);
  const supply = pool === null ? null : (network.value?.supply ?? null);
  const capSupply = kind === 'mcap' ? supply : null;
  const chart = useChart({ drawn, canvas, view, times, supply: capSupply });
  const { count = 0, newest = null } = view.value ?? {};
  const words =
    newest === null
      ? t.chart.canvas
      : t.chart.described({ bars: count, close: localized(newest.close) });
  return (
    <>
      <ChartToolbar trades={pool === null ? null : trades} hasCaps={supply !== null} />
      <Legend view={view} times={times} supply={capSupply} isTrades={trades.value} />
      <div class="frame">
        <div
          ref={canvas}
          class="canvas"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move the chart
          tabIndex={0}
          role="img"
          aria-label={words}
          title={t.chart.keys}
          onKeyDown={(event) => {
            if (chart.current?.key(event.key) === true) event.preventDefault();
          }}
        />
        <div class="chart-note">{noteOf(view.value)}</div>
      </div>
      <footer class="chart-foot">
        <ZoneChoice />
        {/* Its licence asks for this notice and the link: see THIRD_PARTY.md. */}
        <a
          class="by small dim"
          href="https://www.tradingview.com/"
          target="_blank"
          rel="noopener noreferrer"
          lang="en"
        >
          TradingView Lightweight Charts™ © TradingView, Inc.
        </a>
      </footer>
    </>
  );
}

/** In which zone times are: a word where the reader's own is UTC, else a choice. */
function ZoneChoice() {
  const seconds = usePage().time.seconds.peek();
  const [own, utc] = ZONES.map((zone) => zoneName(zone, seconds));
  if (own === utc) {
    return (
      <span class="small dim" title={t.chart.zone}>
        {utc}
      </span>
    );
  }
  const options = ZONES.map((value) => ({ value, label: zoneName(value, seconds) }));
  return (
    <Choices
      name={t.chart.zone}
      options={options}
      value={settings.value.zone}
      choose={(zone) => change({ zone })}
    />
  );
}

interface ChartInput {
  readonly drawn: Drawn;
  readonly canvas: { readonly current: HTMLElement | null };
  readonly view: { value: ChartView | null };
  readonly times: ChartTimes;
  /** Supply, if market caps are shown; null: prices are shown. */
  readonly supply: bigint | null;
}

/** The chart that is drawn: another one for another token, interval or style. */
function useChart({ drawn, canvas, view, times, supply }: ChartInput) {
  const context = usePage();
  const chart = useRef<BarChart | null>(null);
  const { asset, resolution } = drawn;
  const { style, scale, indicators, lengths } = settings.value;
  const trades = useOwnTrades(asset);
  const graduation = graduationOf(context.pool.value, context.network.value?.supply ?? null);
  const made = [asset, resolution, style];
  useEffect(() => {
    if (canvas.current === null) return;
    const show = (now: ChartView) => {
      view.value = now;
    };
    const next = new BarChart({ canvas: canvas.current, context, drawn, style, show });
    chart.current = next;
    return () => next.close();
  }, made);
  useEffect(() => {
    const [factor, unit] = supply === null ? [1, ''] : [Number(supply), '₳'];
    chart.current?.notation(factor, unit);
  }, [...made, supply]);
  useEffect(() => chart.current?.scale(scale), [...made, scale]);
  useEffect(() => chart.current?.indicators(indicators, lengths), [...made, indicators, lengths]);
  useEffect(() => chart.current?.times(times), [...made, times]);
  useEffect(() => chart.current?.own(trades.value), [...made, trades.value]);
  useEffect(() => {
    const title = t.chart.graduation;
    chart.current?.graduation(graduation === null ? null : { price: graduation, title });
  }, [...made, graduation]);
  return chart;
}

interface LegendProps {
  readonly view: ReadonlySignal<ChartView | null>;
  readonly times: ChartTimes;
  readonly supply: bigint | null;
  readonly isTrades: boolean;
}

/** The numbers of one bar, or of one trade; exact ones on hover. */
function Legend({ view, times, supply, isTrades }: LegendProps) {
  const bar = view.value?.bar ?? null;
  const [open = '', high = '', low = '', close = ''] = t.chart.sides;
  return (
    <p class="legend code" aria-live="off">
      {bar !== null && (
        <>
          <span class="dim">{times.moment(bar.time)}</span>
          {!isTrades && (
            <>
              <Side name={open} value={bar.open} supply={supply} />
              <Side name={high} value={bar.high} supply={supply} look="high" />
              <Side name={low} value={bar.low} supply={supply} look="low" />
            </>
          )}
          <Side
            name={isTrades ? t.chart.after : close}
            value={bar.close}
            supply={supply}
            look={directionOf(bar)}
          />
          <span title={`${localized(bar.volume)} ADA`}>
            <b>{t.chart.volume}</b>
            {shortMoney(bar.volume)}
          </span>
          {!isTrades && (
            <span>
              <b>{t.chart.trades}</b>
              {bar.trades}
            </span>
          )}
          {!bar.final && <span class="dim">{t.chart.open}</span>}
        </>
      )}
    </p>
  );
}

interface SideProps {
  readonly name: string;
  readonly value: string;
  readonly supply: bigint | null;
  readonly look?: string;
}

/** Digits of a price, as elsewhere on the page. */
const PRICE_DIGITS = 4;

function Side({ name, value, supply, look }: SideProps) {
  return (
    <span class={look} title={`${localized(value)} ADA`}>
      <b>{name}</b>
      {supply === null
        ? money(value, (text) => subscriptZeros(text, PRICE_DIGITS))
        : shortMoney(product(value, String(supply)))}
    </span>
  );
}

function noteOf(view: ChartView | null): string {
  if (view?.error) return errorText(view.error);
  if (view === null || !view.isLoaded) return t.chart.loading;
  return view.count > 0 ? '' : t.chart.none;
}

/** Decimal strings compare by value: the longer whole part is the larger number. */
function directionOf({ open, close }: PriceBar): string {
  if (open === close) return '';
  const [openWhole = '', openRest = ''] = open.split('.');
  const [closeWhole = '', closeRest = ''] = close.split('.');
  if (openWhole.length !== closeWhole.length) {
    return closeWhole.length > openWhole.length ? 'up' : 'down';
  }
  return closeWhole + closeRest > openWhole + openRest ? 'up' : 'down';
}

/** Own orders of this token that were filled. */
function useOwnTrades(asset: string): ReadonlySignal<readonly OwnTrade[]> {
  const { orders } = sessionOf(usePage());
  return useComputed(() =>
    orders.value.orders.flatMap((order) => {
      const { from, to, status, evaluatedAt, fromAmount, toAmount } = order;
      if ((from !== asset && to !== asset) || status !== 'Evaluated') return [];
      const isBuy = from === '.';
      const text = isBuy
        ? t.chart.bought({ tokens: short(toAmount) })
        : t.chart.sold({ tokens: short(fromAmount) });
      return evaluatedAt === null ? [] : [{ time: evaluatedAt, isBuy, text }];
    }),
  );
}

const LOVELACE = 1_000_000;

/** Where the curve ends: the price after the last coin that it takes, for the eye. */
function graduationOf(info: LiquidityPoolInfo | null, supply: bigint | null): number | null {
  if (info === null || supply === null || info.pool.cpmmPoolId !== null) return null;
  const { aNum, bNum, adaCapThreshold } = info.pool;
  const curve = { aNum: BigInt(aNum), bNum: BigInt(bNum), supply };
  const { numerator, denominator } = spot(curve, buyTokens(curve, 0n, BigInt(adaCapThreshold)));
  return Number(numerator) / Number(denominator) / LOVELACE;
}

/** Where a line of trades begins; null where the launch is not known. */
function launchOf(info: LiquidityPoolInfo | null): LaunchPoint | null {
  if (info === null || info.pool.createdOn === null || info.metrics.since !== null) return null;
  const { aNum, bNum, createdOn } = info.pool;
  const curve = { aNum: BigInt(aNum), bNum: BigInt(bNum), supply: 0n };
  const { numerator, denominator } = spot(curve, 0n);
  return { time: createdOn, price: formatRatio(numerator, denominator * BigInt(LOVELACE)) };
}

/**
 * A token of a server without a chain: there are trades that were replayed, so candlesticks, and
 * nothing else. It has no name but what its asset id spells.
 */
export function ChartOnly({ asset }: { readonly asset: string }) {
  const name = nameInId(asset);
  return (
    <>
      <h1 class="cut" title={asset} tabIndex={-1}>
        <bdi>{name ?? asset}</bdi>
      </h1>
      {name !== null && <p class="code cut">{asset}</p>}
      <p class="dim small">{t.chart.replayed}</p>
      <section class="panel chart">
        <Chart asset={asset} pool={null} />
      </section>
    </>
  );
}
