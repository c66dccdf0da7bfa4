/**
 * Takes the types out of `src/` and `test/` once, and compiles Scalus, for `useStripped.mjs`: npm
 * starts it after an installation and before the tests. Does only what is missing, and removes what
 * no source has. Where the folder cannot be written it says so and ends well: Node then strips and
 * compiles at each start.
 */
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { scalusCode } from './scalusCode.mjs';
import { STRIPPED_FOLDER, strippedName } from './strippedSources.mjs';

const project = join(import.meta.dirname, '..');

try {
  mkdirSync(STRIPPED_FOLDER, { recursive: true });
  const unused = new Set(readdirSync(STRIPPED_FOLDER));
  for (const path of globSync('{src,test}/**/*.ts', { cwd: project })) {
    const source = readFileSync(join(project, path), 'utf8');
    const name = strippedName(source);
    if (!unused.delete(name)) write(name, stripTypeScriptTypes(source));
  }
  const scalus = join(project, 'node_modules/scalus/scalus.js');
  if (existsSync(scalus)) {
    const { name, make } = scalusCode(scalus, createRequire(scalus));
    if (!unused.delete(name)) write(name, make());
  }
  for (const name of unused) rmSync(join(STRIPPED_FOLDER, name), { force: true });
} catch (error) {
  console.error(`sources keep their types, which costs memory: ${String(error)}`);
}

/** Whole or not at all: a server may be loading from the folder now. */
function write(name: string, text: string | Buffer): void {
  const path = join(STRIPPED_FOLDER, name);
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}
