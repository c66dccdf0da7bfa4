/**
 * How many files have exactly one importer: such files are often fragments. A component of the page
 * (`.tsx`) has one parent by nature, and does not count.
 */
import { importsOf } from './imports.ts';
import type { Finding, Source } from './source.ts';

/** Percent of the files. The aim is 20; this number only shrinks. */
const MAX_SINGLE = 29;

/** Files that exactly one other file imports, if they are more than `most` percent. */
export function fragments(sources: readonly Source[], most = MAX_SINGLE): Finding[] {
  const importers = new Map<string, Set<string>>();
  for (const source of sources) {
    for (const { path } of importsOf(source)) {
      if (path !== null) importers.set(path, (importers.get(path) ?? new Set()).add(source.path));
    }
  }
  const counted = sources.filter(({ path }) => !path.endsWith('.tsx'));
  const single = counted.filter(({ path }) => importers.get(path)?.size === 1);
  const share = (100 * single.length) / counted.length;
  if (share <= most) return [];
  const rule = `${share.toFixed(1)} % of files have one importer, at most ${most}`;
  return [
    { path: 'src', line: 1, rule },
    ...single.map(({ path }) => {
      const [importer] = importers.get(path) ?? [];
      return { path, line: 1, rule: `only ${importer} imports it` };
    }),
  ];
}
