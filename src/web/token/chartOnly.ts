/**
 * A token of a server without a chain: there are trades that were replayed, so candlesticks, and
 * nothing else. It has no name but its asset id.
 */
import type { PageContext, Unmount } from '../context.ts';
import { el } from '../dom.ts';
import { mountChart } from './chart.ts';

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
