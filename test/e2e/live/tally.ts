/** How much was compared: a comparison that hardly ever ran, or with one value, proves nothing. */
import assert from 'node:assert/strict';
import type { Comparer } from './comparer.ts';
import type { Mirror } from './mirror.ts';
import type { Wish } from './wishes.ts';

const LEAST_COMPARED = 40;
const LEAST_VALUES = 8;
/** Pools of a young market graduate seldom. */
const RARE = new Set(['CompletedCreateOn', 'CompletedMCap']);

export function assertCompared({ counts }: Comparer, wishes: readonly Wish[]): void {
  for (const topic of new Set(wishes.map((wish) => wish.topic))) {
    const { compared, values } = counts.get(topic) ?? assert.fail(topic);
    assert(compared >= LEAST_COMPARED, `${topic} was compared ${compared} times`);
    if (RARE.has(topic)) continue;
    assert(values.size >= LEAST_VALUES, `${topic} had ${values.size} values`);
  }
}

export function table({ counts }: Comparer, mirrors: readonly Mirror[]): string[] {
  const topics = [...counts].map(([topic, { compared, values, mirrored }]) => {
    return `${topic}: ${compared} answers compared, ${values.size} values; ${mirrored} mirrored`;
  });
  const bad = new Map<string, number>();
  for (const { streams } of mirrors) for (const st of streams) {
    const n = st.recovered.filter((e) => !e).length;
    const fill = Reflect.get(st.wish.data, 'fill') ?? '';
    const k = `${st.wish.topic} ${fill} ${Reflect.get(st.wish.data, 'interval') ?? ''} notrec/resync ${Reflect.get(st.wish.data, 'asset') ?? Reflect.get(Reflect.get(st.wish.data, 'pair')??{},'base')}`;
    if (n + st.resyncs > 0) bad.set(k, (bad.get(k) ?? 0) + n + 1000*st.resyncs);
  }
  return [...topics, ...mirrors.map(mirrorLine), JSON.stringify([...bad], null, 1)];
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
