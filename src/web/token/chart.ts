/**
 * The chart: what can be chosen above it, the exact numbers of a bar in its legend, and keys that
 * move it. Bars are drawn by the datafeed; numbers become floating point there, for pixels only.
 */
import { RESOLUTIONS, type Resolution } from '../../engine/market/resolution.ts';
import { arrowKeyNavigation } from '../arrowKeyNavigation.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setAttribute } from '../dom.ts';
import { BarChart, type BarKind } from './barChart.ts';

const LABELS: Readonly<Record<Resolution, readonly [label: string, meaning: string]>> = {
  min1: ['1m', '1 minute'],
  min5: ['5m', '5 minutes'],
  hour1: ['1h', '1 hour'],
  day1: ['1D', '1 day'],
  week1: ['1W', '1 week'],
  month1: ['1M', '1 month'],
};
const KINDS: readonly (readonly [BarKind, string, string])[] = [
  ['price', 'Price', 'Price in ADA for one token'],
  ['mcap', 'MCap', 'Market cap in ADA'],
];

export function mountChart(container: HTMLElement, context: PageContext, asset: string): Unmount {
  let [resolution, kind]: [Resolution, BarKind] = ['min1', 'price'];
  const legend = el('p', { class: 'legend code', 'aria-live': 'off' });
  const canvas = el('div', { class: 'canvas', tabindex: '0', role: 'img', 'aria-label': 'Chart' });
  const note = el('div', { class: 'chart-note' });
  const again = () => {
    chart.close();
    chart = new BarChart({ canvas, legend, note, context, asset, resolution, kind });
  };
  const intervals = RESOLUTIONS.map((name) => [name, ...LABELS[name]] as const);
  const steps = choices('Interval of a bar', intervals, resolution, (chosen) => {
    resolution = chosen;
    again();
  });
  const kinds = choices('What is drawn', KINDS, kind, (chosen) => {
    kind = chosen;
    again();
  });
  const by = el('a', {
    class: 'by small dim',
    href: 'https://www.tradingview.com/',
    target: '_blank',
    rel: 'noopener noreferrer',
  });
  // Its licence asks for this notice and the link: see THIRD_PARTY.md.
  by.append('TradingView Lightweight Charts™ © TradingView, Inc.');
  container.append(
    el('header', {}, steps, kinds),
    legend,
    el('div', { class: 'frame' }, canvas, note),
    by,
  );
  let chart = new BarChart({ canvas, legend, note, context, asset, resolution, kind });
  canvas.addEventListener('keydown', (event) => {
    if (chart.key(event.key)) event.preventDefault();
  });
  return () => chart.close();
}

function choices<T extends string>(
  label: string,
  options: readonly (readonly [T, string, string])[],
  first: T,
  choose: (chosen: T) => void,
): HTMLElement {
  const element = el('div', { class: 'choices', role: 'radiogroup', 'aria-label': label });
  const buttons = options.map(([value, text, meaning]) => {
    const button = el('button', { type: 'button', role: 'radio', 'aria-label': meaning }, text);
    button.dataset.value = value;
    setAttribute(button, 'aria-checked', String(value === first));
    button.addEventListener('click', () => {
      if (button.ariaChecked === 'true') return;
      for (const each of buttons) setAttribute(each, 'aria-checked', String(each === button));
      choose(value);
    });
    return button;
  });
  element.append(...buttons);
  arrowKeyNavigation(element, '[role="radio"]', 'across').refresh();
  return element;
}

/**
 * A token of a server without a chain: there are trades that were replayed, so candlesticks, and
 * nothing else. It has no name but its asset id.
 */
export function mountChartOnly(
  container: HTMLElement,
  context: PageContext,
  asset: string,
): Unmount {
  const chart = el('section', { class: 'panel chart' });
  container.append(
    el('h1', { class: 'code cut', title: asset, tabindex: '-1' }, asset),
    el('p', { class: 'dim small' }, 'Replayed trades against ADA, in the time of the feed.'),
    chart,
  );
  return mountChart(chart, context, asset);
}
