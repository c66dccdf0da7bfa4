/** Whether the map in src/README.md and the tree say the same. */
import { posix } from 'node:path';
import { MAY_IMPORT } from './imports.ts';
import type { Finding, Source } from './source.ts';

const MAP = 'src/README.md';
const ROW = /^\| `([^`]+)` \| (.+) \| (.*) \|$/;
/** In the place of an import rule, for folders inside a stage. */
const INHERITED = 'as above';

interface Row {
  /** `market/` or `app.ts`. */
  readonly name: string;
  readonly imports: string;
  readonly line: number;
}

function rowsOf(readme: string): Row[] {
  return readme.split('\n').flatMap((text, index) => {
    const match = ROW.exec(text);
    if (match?.[1] === undefined || match[3] === undefined) return [];
    return [{ name: match[1], imports: match[3], line: index + 1 }];
  });
}

/** Folders and top files of src as the map names them. */
function namesOf(sources: readonly Source[]): Set<string> {
  return new Set(
    sources.flatMap(({ path }) => {
      const inside = posix.relative('src', path);
      const folder = posix.dirname(inside);
      if (folder === '.') return [inside];
      const parts = folder.split('/');
      return parts.map((_part, index) => `${parts.slice(0, index + 1).join('/')}/`);
    }),
  );
}

export function mapFaults(readme: string, sources: readonly Source[]): Finding[] {
  const rows = rowsOf(readme);
  const names = namesOf(sources);
  const known = new Set(rows.map(({ name }) => name));
  const missing = [...names].filter((name) => !known.has(name));
  return [
    ...missing.map((name) => ({ path: MAP, line: 1, rule: `no line for ${name}` })),
    ...rows.flatMap((row) => rowFaults(row, names)),
  ];
}

function rowFaults({ name, imports, line }: Row, names: ReadonlySet<string>): Finding[] {
  if (!names.has(name)) return [{ path: MAP, line, rule: `${name} does not exist` }];
  const rule = MAY_IMPORT[name.replace(/\.ts$|\/$/, '')];
  const wanted = rule === undefined ? INHERITED : rule.join(', ') || 'nothing';
  if (imports.replaceAll('`', '') === wanted) return [];
  return [{ path: MAP, line, rule: `${name} may import: ${wanted}` }];
}
