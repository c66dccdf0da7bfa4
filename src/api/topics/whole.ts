/** Sources of something small, of which every change says all. */
import type { Json } from '../../engine/runtime/json.ts';
import type { Part, Source } from './port.ts';

/** Positions of the node at the moment. */
interface Positions {
  readonly appliedSeq: number;
  readonly horizonSeq: number;
}

interface Whole<State extends Json, Event extends string> {
  readonly key: string;
  readonly event: Event;
  readonly tags: readonly string[];
  state(): State;
  /** False only if `state` was the same then, and ever since. */
  changedSince(seq: number): boolean;
}

export function wholeSource<State extends Json, const Event extends string>(
  positions: Positions,
  { key, event, tags, state, changedSince }: Whole<State, Event>,
): Source<State, Part<Event, State>> {
  return {
    key,
    tags,
    snapshot: state,
    since(seq) {
      if (seq < positions.horizonSeq) return null;
      const { appliedSeq } = positions;
      if (seq >= appliedSeq || !changedSince(seq)) return [];
      const data = state();
      const gone = data === null ? ({ isSnapshot: true } as const) : {};
      return [{ event, seq: appliedSeq, data, ...gone }];
    },
  };
}
