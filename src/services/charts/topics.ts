/** `LastBar`: the bars of one series, live. */
import type Type from 'typebox';
import type { Fold } from '../../actors/fold.ts';
import { clockTag } from '../../actors/marketClock.ts';
import { seriesTag } from '../../actors/pool.ts';
import type { BarChange } from '../../actors/series.ts';
import { parseAssetOrAlias } from '../../market/asset.ts';
import type { BarView } from '../../market/barView.ts';
import { pairName } from '../../market/pair.ts';
import type { Resolution } from '../../market/resolution.ts';
import { Failure, invalid } from '../../runtime/errors.ts';
import type { Json } from '../../runtime/json.ts';
import type { Changes, Source, Topic } from '../../topics/port.ts';
import { filledNews, newestFilled } from './filled.ts';
import { type Chart, type ChartNode, findChart, isRelevant, view } from './market.ts';
import { type BarNews, type NewestBar, partsOf, REVISED, UPDATE } from './parts.ts';
import { BarsRevisedOutput, LastBarInput, LastBarOutput } from './schema.ts';

const CADENCE_MS = 5;
/** A subscriber who missed more bars than this gets a snapshot. */
export const MAX_RECOVERED_BARS = 500;

export function lastBarTopic(node: ChartNode): Topic {
  return {
    name: 'LastBar',
    event: UPDATE,
    otherEvents: [{ event: REVISED, data: BarsRevisedOutput }],
    summary:
      'Every change of the bars of one pair at one resolution; final bars are never skipped.',
    cadenceMs: CADENCE_MS,
    periodic: false,
    input: LastBarInput,
    output: LastBarOutput,
    open(data) {
      // trust: the gateway has checked the data against `input`
      const { pair, interval, fill } = data as Type.Static<typeof LastBarInput>;
      const base = parseAssetOrAlias(pair.base);
      const quote = parseAssetOrAlias(pair.quote);
      if (base === null || quote === null) return invalid('data.pair', 'Not a pair of asset ids.');
      if (base === quote) return invalid('data.pair', 'base and quote are the same asset.');
      return barSource(node, base, quote, interval, fill === 'previous');
    },
  };
}

function barSource(
  node: ChartNode,
  base: string,
  quote: string,
  resolution: Resolution,
  filled: boolean,
): Source {
  const pair = pairName(base, quote);
  const render = (fold: Fold, bar: BarView): Json => ({
    pair,
    ...bar,
    isRelevant: isRelevant(resolution, bar.time * 1000, fold.marketMs),
  });
  const newest = (fold: Fold, chart: Chart): NewestBar | null => {
    const { newest } = chart.series;
    if (newest === null) return null;
    const bar = filled ? newestFilled(fold, chart) : view(chart, newest);
    return bar === null ? null : { startMs: bar.time * 1000, bar: render(fold, bar) };
  };
  return {
    key: `LastBar:${pair}:${resolution}:${filled ? 'previous' : 'none'}`,
    tags: [
      seriesTag(pair, resolution),
      seriesTag(pairName(quote, base), resolution),
      // Every minute: the end of a minute may be all that says that a coarser interval has begun.
      ...(filled ? [clockTag('min1')] : []),
    ],
    snapshot() {
      const chart = findChart(node.fold, base, quote, resolution);
      if (chart === null || chart instanceof Failure) return chart;
      return newest(node.fold, chart)?.bar ?? null;
    },
    since(seq): Changes | null | Failure {
      const { fold } = node;
      if (seq < fold.store.horizonSeq) return null;
      const chart = findChart(fold, base, quote, resolution);
      if (chart instanceof Failure) return chart;
      const applied = fold.store.checkpoint?.seq ?? 0;
      // Nothing is known of the pair, or its only trades were rolled back: the client's state too.
      if (chart === null) {
        return { parts: [{ event: UPDATE, seq: applied, data: null }], completeTo: applied };
      }
      const { changes, isAll } = chart.series.changedSince(seq, MAX_RECOVERED_BARS);
      const last = changes[changes.length - 1];
      // More than an answer may hold: a page of them. Filled ones come whole or as a snapshot.
      if (!isAll && (filled || last === undefined)) return null;
      const completeTo = isAll || last === undefined ? applied : last.seq;
      const news = changes.map((change) => newsOf(change, chart, (bar) => render(fold, bar)));
      const all = filled ? filledNews(fold, chart, seq, news, (bar) => render(fold, bar)) : news;
      if (all === null || all.length > MAX_RECOVERED_BARS) return null;
      const parts = partsOf({ pair, interval: resolution }, all, () => newest(fold, chart));
      return { parts, completeTo };
    },
  };
}

function newsOf(change: BarChange, chart: Chart, render: (bar: BarView) => Json): BarNews {
  const { startMs, seq, cause, bar } = change;
  return { startMs, seq, cause, bar: bar === null ? null : render(view(chart, bar)) };
}
