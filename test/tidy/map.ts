/** Whether the tables of src/README.md and the tree say the same. */
import { posix } from 'node:path';
import { ROOMS } from './imports.ts';
import type { Finding, Source } from './source.ts';

const MAP = 'src/README.md';
const ROW = /^\| `([a-z]+)\/` \|/;

/** Rows in another order than the rooms, and rooms without a file. */
export function mapFaults(readme: string, sources: readonly Source[]): Finding[] {
  const [rooms = ''] = readme.split(FOLDERS);
  const rows = rooms.split('\n').flatMap((text) => ROW.exec(text)?.[1] ?? []);
  const wanted = ROOMS.join(', ');
  const empty = ROOMS.filter(
    (room) => !sources.some(({ path }) => path.startsWith(`src/${room}/`)),
  );
  return [
    ...(rows.join(', ') === wanted ? [] : [fault(`the table must have the rooms ${wanted}`)]),
    ...empty.map((room) => fault(`src/${room}/ does not exist`)),
  ];
}

const FOLDERS = '## Which file does it';
const CHANGES = '## To change something';
/** A file or folder: `a.ts` or `a/b.ts` or `a/`. */
const NAME = /`([a-zA-Z][a-zA-Z-]*(?:\/[a-zA-Z-]+)*(?:\/|\.[a-z]+))`/g;
const FROM_ROOT = /^(?:clients|config|docs|scripts|test)\//;

/**
 * In the tables of folders: names that are in no folder (those without a folder lie in that of
 * their row), and folders of src/ that are in no row. A row may name the folders below its own.
 */
export function folderFaults(readme: string, paths: readonly string[]): Finding[] {
  const part = readme.slice(readme.indexOf(FOLDERS), readme.indexOf(CHANGES));
  const rows = part.match(/^\| `.*\|$/gm) ?? [];
  if (rows.length === 0) return [fault(`no table below “${FOLDERS}”`)];
  const exists = (path: string) => paths.some((each) => each === path || inFolder(each, path));
  const named = rows.flatMap((row) => {
    const [, first = '', ...rest] = row.split('|');
    const folders = namesIn(first).map(fromRoot);
    const own = namesIn(rest.join('|')).map((name) => {
      const below = folders.map((folder) => posix.join(folder, name)).find(exists);
      return below ?? fromRoot(name);
    });
    return [...folders, ...own];
  });
  const folders = new Set(paths.filter((path) => path.startsWith('src/')).map(folderOf));
  const heads = rows.flatMap((row) => namesIn(row.split('|')[1] ?? '').map(fromRoot));
  const unnamed = [...folders].filter((folder) => {
    return OWN_ROW.test(folder) ? !heads.includes(folder) : !isNamed(folder, named);
  });
  return [
    ...named.filter((path) => !exists(path)).map((path) => fault(`${path} does not exist`)),
    ...unnamed.map((folder) => fault(`${folder} is in no row`)),
  ];
}

/** People ask for services and parts of the page by name. */
const OWN_ROW = /^src\/(?:api|web)\/\w+\/$/;

/** By itself, or by a file in it that has its path written out. */
function isNamed(folder: string, named: readonly string[]): boolean {
  const isRoom = ['src/', ...ROOMS.map((room) => `src/${room}/`)].includes(folder);
  return isRoom || named.some((path) => path === folder || folderOf(path) === folder);
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

function namesIn(text: string): string[] {
  return [...text.matchAll(NAME)].map(([, name = '']) => name);
}

function fromRoot(name: string): string {
  return FROM_ROOT.test(name) ? name : `src/${name}`;
}

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
    const named = namesIn(cells.slice(1, -1).join('|')).filter((name) => name.includes('/'));
    return [
      ...named
        .map(fromRoot)
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
