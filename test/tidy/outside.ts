/** Whether the repository stands alone: a clone has every file that its files read. */
import { globSync, readFileSync } from 'node:fs';
import { extname, join, posix } from 'node:path';
import * as babel from '@babel/types';
import { type Finding, type Source, textOf, walk } from './source.ts';

const FOLDERS = ['.ci', 'bench', 'config', 'docs', 'examples', 'pack', 'scripts', 'src', 'test'];
const BINARY = ['.gz', '.png'];
const FOLDER_BESIDE = /\.\.\/shared(?!\w|\.\w)/;

/** `join(import.meta.dirname, '../…')` that leads out of the repository. */
export function pathsOutside(source: Source): Finding[] {
  return walk(source, (node) => {
    if (!babel.isCallExpression(node)) return null;
    const [first, ...rest] = node.arguments;
    if (!first || textOf(source, first) !== 'import.meta.dirname') return null;
    const parts = rest.flatMap((part) => (babel.isStringLiteral(part) ? [part.value] : []));
    const path = posix.join(posix.dirname(source.path), ...parts);
    return path.split('/')[0] === '..' ? `${path} is outside of the repository` : null;
  });
}

/** Mentions of a folder `shared` beside a file or the repository; files of that name are fine. */
export function mentionsOutside(path: string, text: string): Finding[] {
  return text.split('\n').flatMap((line, index) => {
    if (!FOLDER_BESIDE.test(line)) return [];
    return [{ path, line: index + 1, rule: 'a clone has no folder beside it: see test/data' }];
  });
}

/** Every text file of the repository, by its path from the root. */
export function texts(root: string): [path: string, text: string][] {
  const below = FOLDERS.map((folder) => `${folder}/**`);
  const paths = globSync(['*', ...below], { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile() && !BINARY.includes(extname(entry.name)))
    .map(({ parentPath, name }) => posix.relative(root, join(parentPath, name)));
  return paths.sort().map((path) => [path, readFileSync(join(root, path), 'utf8')]);
}
