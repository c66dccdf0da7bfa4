/** The settings above a chart, in two rows at most; the rarer choices are in menus. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { CHART_RESOLUTIONS, type ChartResolution } from '../../engine/market/resolution.ts';
import { Choices } from '../components/choices.tsx';
import { Icon } from '../components/icon.tsx';
import { Menu } from '../components/menu.tsx';
import { t } from '../messages.ts';
import {
  INDICATORS,
  type IndicatorName,
  isLength,
  type Lengths,
  MAX_LENGTH,
  MEASURED,
  MIN_LENGTH,
} from './indicators.ts';
import { change, KINDS, SCALES, STYLES, settings } from './settings.ts';

/** Whether the window is as narrow as a phone's; it may change. */
const phone = matchMedia('(max-width: 600px)');
const isNarrow = signal(phone.matches);
phone.addEventListener('change', () => {
  isNarrow.value = phone.matches;
});

interface ToolbarProps {
  /** Whether trades are drawn, each by itself, in place of bars; null: there is no choice. */
  readonly trades: { value: boolean } | null;
  /** Without a supply there are no market caps. */
  readonly hasCaps: boolean;
}

export function ChartToolbar({ trades, hasCaps }: ToolbarProps) {
  const { style, scale } = settings.value;
  return (
    <header>
      <Intervals trades={trades} />
      <div class="chart-tools">
        {hasCaps && (
          <Choices
            name={t.chart.kind}
            options={KINDS.map((value) => pair(value, t.chart[value]))}
            value={settings.value.kind}
            choose={(chosen) => change({ kind: chosen })}
          />
        )}
        <Menu label={t.chart.view} count={0}>
          <Choices
            name={t.chart.style}
            options={STYLES.map((value) => ({ value, label: t.chart[value] }))}
            value={style}
            choose={(chosen) => change({ style: chosen })}
          />
          <Choices
            name={t.chart.scale}
            options={SCALES.map((value) => pair(value, t.chart[value]))}
            value={scale}
            choose={(chosen) => change({ scale: chosen })}
          />
        </Menu>
        <Indicators />
        <FullScreen />
      </div>
    </header>
  );
}

function pair<T>(value: T, [label = '', meaning = '']: readonly string[]) {
  return { value, label, meaning };
}

/** In the place of an interval: every trade is drawn by itself. */
const TRADES = 'trades';

/** The settings that a phone has room for. */
const USUAL: readonly ChartResolution[] = ['min1', 'min5', 'min15', 'hour1', 'hour4', 'day1'];

/**
 * A wide screen shows every choice in a row; on a phone the usual ones and the chosen one, the
 * others in a menu.
 */
function Intervals({ trades }: Pick<ToolbarProps, 'trades'>) {
  const { resolution } = settings.value;
  const now = trades?.value === true ? TRADES : resolution;
  const choose = (chosen: ChartResolution | typeof TRADES) => {
    if (trades !== null) trades.value = chosen === TRADES;
    if (chosen === TRADES) change({ young: TRADES });
    else change({ resolution: chosen, ...(trades === null ? {} : { young: 'bars' }) });
  };
  const choicesOf = (shown: readonly ChartResolution[], first: readonly (typeof TRADES)[]) => (
    <Choices
      name={t.chart.interval}
      options={[
        ...first.map((value) => pair(value, t.chart.eachTrade)),
        ...shown.map((value) => pair(value, t.chart.intervals[value])),
      ]}
      value={now}
      choose={choose}
    />
  );
  const first = trades === null ? [] : ([TRADES] as const);
  const isShown = (each: ChartResolution) => USUAL.includes(each) || each === resolution;
  if (!isNarrow.value) {
    return <div class="chart-intervals">{choicesOf(CHART_RESOLUTIONS, first)}</div>;
  }
  return (
    <div class="chart-intervals">
      {choicesOf(CHART_RESOLUTIONS.filter(isShown), first)}
      <Menu label={t.chart.more} count={0}>
        {choicesOf(
          CHART_RESOLUTIONS.filter((each) => !isShown(each)),
          [],
        )}
      </Menu>
    </div>
  );
}

function Indicators() {
  const { indicators } = settings.value;
  const toggle = (name: IndicatorName, isOn: boolean) =>
    change({
      indicators: INDICATORS.filter((each) => (each === name ? isOn : indicators.includes(each))),
    });
  return (
    <Menu label={t.chart.indicators} count={indicators.length}>
      {INDICATORS.map((name) => {
        const measured = MEASURED.find((each) => each === name);
        return (
          <div key={name} class="indicator">
            <label>
              <input
                type="checkbox"
                checked={indicators.includes(name)}
                onChange={({ currentTarget }) => toggle(name, currentTarget.checked)}
              />
              <span class={`swatch ${name}`} aria-hidden="true" />
              {t.chart[name]}
            </label>
            {measured !== undefined && <Length name={measured} />}
          </div>
        );
      })}
    </Menu>
  );
}

/**
 * How many bars an indicator looks back over. A text that is not a valid length stays in the field
 * only.
 */
function Length({ name }: { readonly name: keyof Lengths }) {
  const { lengths } = settings.value;
  const draft = useSignal(String(lengths[name]));
  const isRight = isLength(Number(draft.value));
  return (
    <input
      type="number"
      inputMode="numeric"
      min={MIN_LENGTH}
      max={MAX_LENGTH}
      aria-label={t.chart.lengthOf({ indicator: t.chart[name] })}
      title={t.chart.lengthLimits({ least: MIN_LENGTH, most: MAX_LENGTH })}
      aria-invalid={isRight ? undefined : 'true'}
      value={draft.value}
      onInput={({ currentTarget }) => {
        draft.value = currentTarget.value;
        const length = Number(currentTarget.value);
        if (isLength(length)) change({ lengths: { ...lengths, [name]: length } });
      }}
    />
  );
}

/** Chart, legend and tools on the whole screen; Escape leaves it. Not on phones that cannot. */
function FullScreen() {
  const isFull = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const changed = () => {
      isFull.value = document.fullscreenElement !== null;
    };
    document.addEventListener('fullscreenchange', changed);
    return () => document.removeEventListener('fullscreenchange', changed);
  }, []);
  if (!document.fullscreenEnabled) return null;
  const words = isFull.value ? t.chart.notFull : t.chart.full;
  const press = () => {
    const panel = button.current?.closest('.panel.chart');
    const asked = isFull.value ? document.exitFullscreen() : panel?.requestFullscreen();
    // Refused where the browser does not take the press for one: then nothing happens.
    asked?.catch(() => {});
  };
  return (
    <button
      ref={button}
      type="button"
      class="button plain-button full-screen"
      aria-label={words}
      title={words}
      onClick={press}
    >
      <Icon name={isFull.value ? 'shrink' : 'grow'} />
    </button>
  );
}
