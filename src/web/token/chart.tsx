/**
 * The chart: what can be chosen above it, the numbers of a bar in its legend, and keys that move
 * it. Bars are drawn by the datafeed; numbers become floating point there, for pixels only.
 */
import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { buyTokens, spot } from '../../engine/market/curve.ts';
import { CHART_RESOLUTIONS, type ChartResolution } from '../../engine/market/resolution.ts';
import { Choices } from '../components/choices.tsx';
import { errorText } from '../errorText.ts';
import { ada, moment, short, subscriptZeros } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { storedSignal } from '../stored.ts';
import { sessionOf } from '../wallet/session.ts';
import {
  type AnyBar,
  BarChart,
  type BarKind,
  type BarStyle,
  type ChartView,
  type OwnTrade,
  type Scale,
} from './barChart.ts';
import { INDICATORS, type IndicatorName } from './indicators.ts';

interface Settings {
  readonly resolution: ChartResolution;
  readonly kind: BarKind;
  readonly style: BarStyle;
  readonly scale: Scale;
  readonly indicators: readonly IndicatorName[];
}

const KINDS: readonly BarKind[] = ['price', 'mcap'];
const STYLES: readonly BarStyle[] = ['candles', 'line', 'area'];
const SCALES: readonly Scale[] = ['normal', 'log', 'percent'];
const FIRST: Settings = {
  resolution: 'min1',
  kind: 'price',
  style: 'candles',
  scale: 'normal',
  indicators: [],
};

/** How the reader wants charts, on every token. */
const settings = storedSignal<Settings>('chart', FIRST, (kept) => {
  if (typeof kept !== 'object' || kept === null) return null;
  const named = <T,>(name: string, all: readonly T[], first: T) =>
    all.find((each) => each === Reflect.get(kept, name)) ?? first;
  const chosen: unknown = Reflect.get(kept, 'indicators');
  const isChosen = (name: IndicatorName) => Array.isArray(chosen) && chosen.includes(name);
  return {
    resolution: named('resolution', CHART_RESOLUTIONS, FIRST.resolution),
    kind: named('kind', KINDS, FIRST.kind),
    style: named('style', STYLES, FIRST.style),
    scale: named('scale', SCALES, FIRST.scale),
    indicators: INDICATORS.filter(isChosen),
  };
});

function change(part: Partial<Settings>): void {
  settings.value = { ...settings.value, ...part };
}

export function Chart({ asset }: { readonly asset: string }) {
  const view = useSignal<ChartView | null>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const chart = useChart(asset, canvas, view);
  const { count = 0, newest = null } = view.value ?? {};
  const words = newest === null ? t.chart.canvas : t.chart.described(count, newest.close);
  return (
    <>
      <Toolbar />
      <Legend view={view} />
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
      {/* Its licence asks for this notice and the link: see THIRD_PARTY.md. */}
      <a
        class="by small dim"
        href="https://www.tradingview.com/"
        target="_blank"
        rel="noopener noreferrer"
      >
        TradingView Lightweight Charts™ © TradingView, Inc.
      </a>
    </>
  );
}

/** The chart that is drawn: another one for another pair, interval, kind or style. */
function useChart(
  asset: string,
  canvas: { readonly current: HTMLElement | null },
  view: { value: ChartView | null },
) {
  const context = usePage();
  const chart = useRef<BarChart | null>(null);
  const { resolution, kind, style, scale, indicators } = settings.value;
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
    () => chart.current?.indicators(indicators),
    [asset, resolution, kind, style, indicators],
  );
  useEffect(() => chart.current?.own(trades.value), [asset, resolution, kind, style, trades.value]);
  useEffect(() => {
    const title = t.chart.graduation;
    chart.current?.graduation(graduation === null ? null : { price: graduation, title });
  }, [asset, resolution, kind, style, graduation]);
  return chart;
}

function Toolbar() {
  const { resolution, kind, style, scale } = settings.value;
  const styles = STYLES.map((value) => ({ value, label: t.chart[value] }));
  return (
    <header>
      <Choices
        name={t.chart.interval}
        options={CHART_RESOLUTIONS.map((value) => pair(value, t.chart.intervals[value]))}
        value={resolution}
        choose={(chosen) => change({ resolution: chosen })}
      />
      <div class="chart-tools">
        <Choices
          name={t.chart.kind}
          options={KINDS.map((value) => pair(value, t.chart[value]))}
          value={kind}
          choose={(chosen) => change({ kind: chosen })}
        />
        <Choices
          name={t.chart.style}
          options={styles}
          value={style}
          choose={(chosen) => change({ style: chosen })}
        />
        <Choices
          name={t.chart.scale}
          options={SCALES.map((value) => pair(value, t.chart[value]))}
          value={scale}
          choose={(chosen) => change({ scale: chosen })}
        />
        <Indicators />
      </div>
    </header>
  );
}

function pair<T>(value: T, [label = '', meaning = '']: readonly string[]) {
  return { value, label, meaning };
}

function Indicators() {
  const { indicators } = settings.value;
  const toggle = (name: IndicatorName, isOn: boolean) =>
    change({
      indicators: INDICATORS.filter((each) => (each === name ? isOn : indicators.includes(each))),
    });
  return (
    <details class="menu">
      <summary class="button plain-button">
        {t.chart.indicators}
        {indicators.length > 0 && <span class="mark">{indicators.length}</span>}
      </summary>
      <div class="menu-list">
        {INDICATORS.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={indicators.includes(name)}
              onChange={({ currentTarget }) => toggle(name, currentTarget.checked)}
            />
            <span class={`swatch ${name}`} aria-hidden="true" />
            {t.chart[name]}
          </label>
        ))}
      </div>
    </details>
  );
}

/** The numbers of one bar; exact ones on hover. */
function Legend({ view }: { readonly view: ReadonlySignal<ChartView | null> }) {
  const bar = view.value?.bar ?? null;
  return (
    <p class="legend code" aria-live="off">
      {bar !== null && (
        <>
          <span class="dim">{moment(bar.time)}</span>
          <Side name="O" value={bar.open} />
          <Side name="H" value={bar.high} look="high" />
          <Side name="L" value={bar.low} look="low" />
          <Side name="C" value={bar.close} look={directionOf(bar)} />
          {'volume' in bar && (
            <span title={`${bar.volume} ADA`}>
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
    <span class={look} title={`${value} ADA`}>
      <b>{name}</b>
      {subscriptZeros(value)}
    </span>
  );
}

/** Whole ADA of a decimal string; below one, the first digits. */
function volumeText(volume: string): string {
  const [whole = '0', fraction = ''] = volume.split('.');
  return whole === '0'
    ? `${subscriptZeros(volume, 3)} ₳`
    : ada(whole + fraction.padEnd(6, '0').slice(0, 6));
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
      const text = isBuy ? t.chart.bought(short(toAmount)) : t.chart.sold(short(fromAmount));
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
