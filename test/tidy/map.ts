/** Whether the tables of src/README.md and the tree say the same. */
import { ROOMS } from './imports.ts';
import type { Finding, Source } from './source.ts';

const MAP = 'src/README.md';
const ROW = /^\| `([a-z]+)\/` \|/;

/** Rows in another order than the rooms, and rooms without a file. */
export function mapFaults(readme: string, sources: readonly Source[]): Finding[] {
  const rows = readme.split('\n').flatMap((text) => ROW.exec(text)?.[1] ?? []);
  const wanted = ROOMS.join(', ');
  const empty = ROOMS.filter(
    (room) => !sources.some(({ path }) => path.startsWith(`src/${room}/`)),
  );
  return [
    ...(rows.join(', ') === wanted ? [] : [fault(`the table must have the rooms ${wanted}`)]),
    ...empty.map((room) => fault(`src/${room}/ does not exist`)),
  ];
}

const CHANGES = '## To change something';
/** A file or a folder below `src/`, or one that names its place from the root. */
const PATH = /`([a-zA-Z]+(?:\/[a-zA-Z]+)*(?:\/|\/[a-zA-Z]+\.[a-z]+))`/g;
const FROM_ROOT = /^(?:config|docs|test)\//;

/**
 * Paths of the table of changes that do not exist, and folders of tests that hold none: node's
 * runner passes without a word when a pattern matches no file.
 */
export function changeFaults(readme: string, paths: readonly string[]): Finding[] {
  const rows = readme.slice(readme.indexOf(CHANGES)).match(/^\| (?!to change).*\|$/gm) ?? [];
  if (rows.length === 0) return [fault(`no table below “${CHANGES}”`)];
  return rows.flatMap((row) => {
    const cells = row.split('|').slice(1, -1);
    const tests = [...(cells.at(-1) ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    const named = [...cells.slice(1, -1).join('|').matchAll(PATH)].map(([, path = '']) => path);
    const wanted = named.map((path) => (FROM_ROOT.test(path) ? path : `src/${path}`));
    return [
      ...wanted
        .filter((path) => !paths.some((each) => each === path || inFolder(each, path)))
        .map((path) => fault(`${path} does not exist`)),
      ...tests
        .filter((name) => !paths.some((path) => isTestOf(path, name)))
        .map((name) => fault(`test/${name} has no test`)),
    ];
  });
}

function inFolder(path: string, folder: string): boolean {
  return folder.endsWith('/') && path.startsWith(folder);
}

function isTestOf(path: string, name: string): boolean {
  return path.endsWith('.test.ts') && path.startsWith(`test/${name}${name === 'tidy' ? '' : '/'}`);
}

function fault(rule: string): Finding {
  return { path: MAP, line: 1, rule };
}
