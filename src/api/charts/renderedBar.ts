/** A bar of a history as JSON text. */
import type { BarView } from '../../engine/market/barView.ts';
import { isRelevant } from './findChart.ts';
import type { AskedHistory } from './historyAnswers.ts';

export function barRenderer(
  { kind, chart, shown: pair }: Pick<AskedHistory, 'kind' | 'chart' | 'shown'>,
  marketMs: number,
): (bar: BarView) => string {
  return (bar) => {
    const relevant = isRelevant(chart.resolution, bar.time * 1000, marketMs);
    return JSON.stringify({ pair, ...kind.present(bar, relevant) });
  };
}
