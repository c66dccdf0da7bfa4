/**
 * Maps V8's counts of a bundled script back to its sources, as if each source had run by itself:
 * the source map names the source and the characters of each part. Code that was left out of the
 * bundle counts as the code before it.
 */
import { SourceMap } from 'node:module';
import { posix } from 'node:path';
import type { Range, ScriptCoverage } from './executed.ts';

interface Bundle {
  /** Its text, as the browser ran it. */
  readonly text: string;
  /** Its source map. */
  readonly map: string;
  /** The folder that the map's paths start from, relative to the root. */
  readonly folder: string;
}

interface Mark {
  readonly offset: number;
  readonly hasRun: boolean;
}

/**
 * `ran`: a byte for each character of the bundle. `textOf` reads a source by its path, `urlOf` is
 * its address; null: it does not count.
 */
export function ofSources(
  ran: Uint8Array,
  bundle: Bundle,
  textOf: (path: string) => string | null,
  urlOf: (path: string) => string,
): ScriptCoverage[] {
  return Array.from(marksOf(bundle, ran, textOf), ([path, { marks, length }]) => ({
    url: urlOf(path),
    functions: [{ ranges: rangesOf(marks, length) }],
  }));
}

/** Source → marks on single characters, and the length of the source. */
function marksOf(
  { text, map, folder }: Bundle,
  ran: Uint8Array,
  textOf: (path: string) => string | null,
): ReadonlyMap<string, { readonly marks: Mark[]; readonly length: number }> {
  // trust: esbuild writes source maps
  const sourceMap = new SourceMap(JSON.parse(map) as ConstructorParameters<typeof SourceMap>[0]);
  const found = new Map<
    string,
    { marks: Mark[]; length: number; starts: readonly number[] } | null
  >();
  let start = 0;
  for (const [line, content] of text.split('\n').entries()) {
    let before = -1;
    for (let column = 0; column < content.length; column += 1) {
      const entry = sourceMap.findEntry(line, column);
      if (!('originalSource' in entry) || entry.generatedLine !== line) continue;
      if (entry.generatedColumn === before) continue;
      before = entry.generatedColumn;
      const path = posix.join(folder, entry.originalSource);
      if (!found.has(path)) {
        const source = textOf(path);
        const of = { marks: [], length: source?.length ?? 0, starts: lineStarts(source ?? '') };
        found.set(path, source === null ? null : of);
      }
      const of = found.get(path);
      const offset = (of?.starts[entry.originalLine] ?? 0) + entry.originalColumn;
      of?.marks.push({ offset, hasRun: ran[start + column] === 1 });
    }
    start += content.length + 1;
  }
  return new Map([...found].flatMap(([path, of]) => (of === null ? [] : [[path, of]])));
}

function lineStarts(text: string): readonly number[] {
  const breaks = Array.from(text.matchAll(/\n/g), ({ index }) => index + 1);
  return [0, ...breaks];
}

/**
 * Each mark counts until the next one; a character with several marks has run if any mark has.
 */
function rangesOf(marks: readonly Mark[], length: number): Range[] {
  const byOffset = new Map<number, boolean>();
  for (const { offset, hasRun } of marks) {
    byOffset.set(offset, hasRun || byOffset.get(offset) === true);
  }
  const sorted = [...byOffset].sort(([a], [b]) => a - b);
  return sorted.map(([offset, hasRun], at) => ({
    startOffset: at === 0 ? 0 : offset,
    endOffset: sorted[at + 1]?.[0] ?? length,
    count: hasRun ? 1 : 0,
  }));
}
