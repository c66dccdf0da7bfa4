/** A bar of a history as text: JSON, where its form is no other. */
import type { BarView } from '../../engine/market/barView.ts';
import { isRelevant } from './findChart.ts';
import type { AskedHistory } from './historyAnswers.ts';

export function barRenderer(
  { kind, chart, shown: pair, form }: Pick<AskedHistory, 'kind' | 'chart' | 'shown' | 'form'>,
  marketMs: number,
): (bar: BarView) => string {
  if (form !== undefined) return (bar) => form.text(bar);
  const begin = `{"pair":${JSON.stringify(pair)},`;
  return (bar) => {
    const relevant = isRelevant(chart.resolution, bar.time * 1000, marketMs);
    return begin + JSON.stringify(kind.present(bar, relevant)).slice(1);
  };
}
