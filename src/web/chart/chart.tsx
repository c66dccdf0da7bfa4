/**
 * The chart: its settings above it, the numbers of a bar in its legend, and keys that move it. Bars
 * are drawn by the datafeed; numbers become floating point there, for pixels only.
 */
import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { buyTokens, spot } from '../../engine/market/curve.ts';
import { Choices } from '../components/choices.tsx';
import { errorText } from '../errorText.ts';
import { coins, dollars, money } from '../fiat.ts';
import { localized, short, subscriptZeros } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { sessionOf } from '../wallet/session.ts';
import { BarChart, type ChartView, type OwnTrade } from './barChart.ts';
import type { AnyBar } from './followedBars.ts';
import { type BarKind, change, settings } from './settings.ts';
import { ChartToolbar } from './toolbar.tsx';
import { type ChartTimes, timesOf, ZONES, zoneName } from './zone.ts';

/** Their bars are days of UTC, or longer. */
const DAYS: readonly string[] = ['day1', 'week1', 'month1'];

export function Chart({ asset }: { readonly asset: string }) {
  const view = useSignal<ChartView | null>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const { zone, resolution } = settings.value;
  const times = useMemo(() => timesOf(zone, DAYS.includes(resolution)), [zone, resolution]);
  const chart = useChart(asset, canvas, view, times);
  const { count = 0, newest = null } = view.value ?? {};
  const words =
    newest === null
      ? t.chart.canvas
      : t.chart.described({ bars: count, close: localized(newest.close) });
  return (
    <>
      <ChartToolbar />
      <Legend view={view} times={times} />
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

/** The chart that is drawn: another one for another pair, interval, kind or style. */
function useChart(
  asset: string,
  canvas: { readonly current: HTMLElement | null },
  view: { value: ChartView | null },
  times: ChartTimes,
) {
  const context = usePage();
  const chart = useRef<BarChart | null>(null);
  const { resolution, kind, style, scale, indicators, lengths } = settings.value;
  const trades = useOwnTrades(asset);
  const graduation = graduationOf(context.pool.value, context.network.value?.supply ?? null, kind);
  useEffect(() => {
    if (canvas.current === null) return;
    const show = (now: ChartView) => {
      view.value = now;
    };
    const deps = { canvas: canvas.current, context, asset, resolution, kind, style, show };
    const made = new BarChart(deps);
    chart.current = made;
    return () => made.close();
  }, [asset, resolution, kind, style]);
  useEffect(() => chart.current?.scale(scale), [asset, resolution, kind, style, scale]);
  useEffect(
    () => chart.current?.indicators(indicators, lengths),
    [asset, resolution, kind, style, indicators, lengths],
  );
  useEffect(() => chart.current?.times(times), [asset, resolution, kind, style, times]);
  useEffect(() => chart.current?.own(trades.value), [asset, resolution, kind, style, trades.value]);
  useEffect(() => {
    const title = t.chart.graduation;
    chart.current?.graduation(graduation === null ? null : { price: graduation, title });
  }, [asset, resolution, kind, style, graduation]);
  return chart;
}

interface LegendProps {
  readonly view: ReadonlySignal<ChartView | null>;
  readonly times: ChartTimes;
}

/** The numbers of one bar; exact ones on hover. */
function Legend({ view, times }: LegendProps) {
  const bar = view.value?.bar ?? null;
  const [open = '', high = '', low = '', close = ''] = t.chart.sides;
  return (
    <p class="legend code" aria-live="off">
      {bar !== null && (
        <>
          <span class="dim">{times.moment(bar.time)}</span>
          <Side name={open} value={bar.open} />
          <Side name={high} value={bar.high} look="high" />
          <Side name={low} value={bar.low} look="low" />
          <Side name={close} value={bar.close} look={directionOf(bar)} />
          {'volume' in bar && (
            <span title={`${localized(bar.volume)} ADA`}>
              <b>{t.chart.volume}</b>
              {volumeText(bar.volume)}
            </span>
          )}
          <span>
            <b>{t.chart.trades}</b>
            {bar.trades}
          </span>
          {!bar.final && <span class="dim">{t.chart.open}</span>}
        </>
      )}
    </p>
  );
}

function Side(props: { readonly name: string; readonly value: string; readonly look?: string }) {
  const { name, value, look } = props;
  return (
    <span class={look} title={`${localized(value)} ADA`}>
      <b>{name}</b>
      {money(value, subscriptZeros)}
    </span>
  );
}

/** Whole ADA of a decimal string; below one, the first digits. */
function volumeText(volume: string): string {
  const [whole = '0', fraction = ''] = volume.split('.');
  if (whole !== '0') return coins(BigInt(whole + fraction.padEnd(6, '0').slice(0, 6)));
  const text = money(volume, (decimal) => subscriptZeros(decimal, 3));
  return dollars.value === null ? `${text} ₳` : text;
}

function noteOf(view: ChartView | null): string {
  if (view?.error) return errorText(view.error);
  if (view === null || !view.isLoaded) return t.chart.loading;
  return view.count > 0 ? '' : t.chart.none;
}

/** Decimal strings compare by value: the longer whole part is the larger number. */
function directionOf({ open, close }: AnyBar): string {
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

/** Where the curve ends: the price, or the market cap, after the last coin that it takes. */
function graduationOf(
  info: LiquidityPoolInfo | null,
  supply: bigint | null,
  kind: BarKind,
): number | null {
  if (info === null || supply === null || info.pool.cpmmPoolId !== null) return null;
  const { aNum, bNum, adaCapThreshold } = info.pool;
  const curve = { aNum: BigInt(aNum), bNum: BigInt(bNum), supply };
  const { numerator, denominator } = spot(curve, buyTokens(curve, 0n, BigInt(adaCapThreshold)));
  const price = Number(numerator) / Number(denominator) / LOVELACE;
  return kind === 'price' ? price : price * Number(supply);
}

/**
 * A token of a server without a chain: there are trades that were replayed, so candlesticks, and
 * nothing else. It has no name but its asset id.
 */
export function ChartOnly({ asset }: { readonly asset: string }) {
  return (
    <>
      <h1 class="code cut" title={asset} tabIndex={-1}>
        {asset}
      </h1>
      <p class="dim small">{t.chart.replayed}</p>
      <section class="panel chart">
        <Chart asset={asset} />
      </section>
    </>
  );
}
