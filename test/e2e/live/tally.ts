/** How much was compared: a comparison that hardly ever ran, or with one value, proves nothing. */
import assert from 'node:assert/strict';
import type { Comparer } from './comparer.ts';
import type { Mirror } from './mirror.ts';
import type { StreamSpec } from './streamSpecs.ts';

const MIN_COMPARED = 5;
const MIN_VALUES = 2;
/** Pools of a young market graduate seldom. */
const RARE = new Set(['CompletedCreateOn', 'CompletedMCap']);

export function assertCompared({ counts }: Comparer, specs: readonly StreamSpec[]): void {
  for (const topic of new Set(specs.map((spec) => spec.topic))) {
    const { compared, values } = counts.get(topic) ?? assert.fail(topic);
    assert(compared >= MIN_COMPARED, `${topic} was compared ${compared} times`);
    if (RARE.has(topic)) continue;
    assert(values.size >= MIN_VALUES, `${topic} had ${values.size} values`);
  }
}

export function table({ counts }: Comparer, mirrors: readonly Mirror[]): string[] {
  const topics = [...counts].map(([topic, { compared, values, mirrored }]) => {
    return `${topic}: ${compared} answers compared, ${values.size} values; ${mirrored} mirrored`;
  });
  return [...topics, ...mirrors.map(mirrorLine)];
}

function mirrorLine({ options, streams }: Mirror): string {
  const sum = (of: (stream: (typeof streams)[number]) => number) =>
    streams.reduce((all, stream) => all + of(stream), 0);
  const recovered = sum((stream) => stream.recovered.filter((each) => each).length);
  const not = sum((stream) => stream.recovered.filter((each) => !each).length);
  return (
    `${options.name}: ${streams.length} subscriptions, ${sum(({ frames }) => frames)} frames, ` +
    `${sum(({ snapshots }) => snapshots)} snapshots, ${sum(({ resyncs }) => resyncs)} resyncs, ` +
    `${recovered} recovered, ${not} not; ${sum(({ compared }) => compared)} comparisons, ` +
    `${sum(({ undecided }) => undecided)} between frames`
  );
}

/**
 * A client that names an earlier position gets the changes since; a reader gets nothing else.
 * A stream with flat bars may start again instead: after a rollback, and after a restart.
 */
export function assertRecovered(mirrors: readonly Mirror[]): void {
  for (const { streams, options } of mirrors) {
    for (const { spec, recovered, resyncs } of streams) {
      if ('fill' in spec.data) continue;
      const what = `${options.name}: ${spec.topic} ${JSON.stringify(spec.data)}`;
      assert(!recovered.includes(false), `${what} was not recovered`);
      assert.equal(resyncs, 0, what);
    }
  }
}
