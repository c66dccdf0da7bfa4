/**
 * Newest bars as answers: each is rendered once and kept until its series changes, so a chart that
 * many clients load costs one rendering.
 */
import { assert } from '../../engine/runtime/assert.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { VersionedCache } from '../../engine/runtime/versionedCache.ts';
import type { Checkpoint } from '../../engine/store/state.ts';
import type { Answer } from '../gateway/port.ts';
import type { ChartKind } from './chartKind.ts';
import {
  type Chart,
  type ChartNode,
  type ChartRequest,
  findChart,
  isRelevant,
  keyOf,
  notTraded,
  requestOf,
  versionOf,
  view,
} from './findChart.ts';
import { launchBar } from './launch.ts';
import type { StateQuery } from './schema.ts';

const CACHE_BYTES = 8 * 1024 * 1024;

type Wrap = (bar: object, relevant: boolean) => object;

/** Answers by request, each kept with the version it was made from. */
export class ChartRendering {
  readonly #node: ChartNode;
  readonly #kept = new VersionedCache<string, Answer, string>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ value }) => value.body.length + 256,
  });

  /** The gateway reads a query once and hands over the same object for the same text. */
  readonly #last = new WeakMap<object, { checkpoint: Checkpoint | null; answer: Answer }>();

  constructor(node: ChartNode) {
    this.#node = node;
  }

  /** Between two entries nothing changes: the same question has the same answer. */
  newest(query: StateQuery, kind: ChartKind, wrap: Wrap): Answer | Failure {
    const { checkpoint } = this.#node.fold.store;
    const last = this.#last.get(query);
    if (last !== undefined && last.checkpoint === checkpoint) return last.answer;
    const answer = this.#newest(requestOf(query), kind, wrap);
    if (!(answer instanceof Failure)) this.#last.set(query, { checkpoint, answer });
    return answer;
  }

  #newest(request: ChartRequest, kind: ChartKind, wrap: Wrap): Answer | Failure {
    const { fold } = this.#node;
    const { base, quote } = request;
    const chart = this.#find(request, kind);
    if (chart instanceof Failure) return chart;
    const { newest } = chart.series;
    const standing = newest === null ? launchBar(fold, chart) : null;
    const startMs = newest?.startMs ?? (standing?.time ?? 0) * 1000;
    if (newest === null && standing === null) return notTraded(request);
    const relevant = isRelevant(request.resolution, startMs, fold.marketMs);
    const key = `${wrap.name}:${keyOf(kind, request)}`;
    return this.#kept.of(key, `${versionOf(fold, chart)}:${relevant}`, () => {
      const bar = newest === null ? standing : view(chart, newest);
      assert(bar !== null, 'one of the two is there');
      return json(wrap({ pair: { base, quote }, ...kind.present(bar, relevant) }, relevant));
    });
  }

  #find(request: ChartRequest, kind: ChartKind): Chart | Failure {
    const refusal = kind.refusal(request, 'query');
    if (refusal !== null) return refusal;
    return findChart(this.#node.fold, kind.pairs(request), request) ?? notTraded(request);
  }
}

export function initialState(bar: object, relevant: boolean): object {
  return { bar, isRelevant: relevant };
}

export function lastBar(bar: object): object {
  return bar;
}

function json(value: object): Answer {
  return { body: Buffer.from(JSON.stringify(value)) };
}
