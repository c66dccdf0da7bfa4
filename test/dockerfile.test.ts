/**
 * No Docker engine runs here, so the test compares the names in the image's recipe with the tree.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { adminRoutes } from '../src/api/operations/routes.ts';
import { createRegistry } from '../src/engine/runtime/meters.ts';
import { settingRows } from '../src/server/settings/help.ts';
import { BadSettings, readSettings } from '../src/server/settings/settings.ts';
import { STATUS } from './api/docs/sample.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

interface Instruction {
  readonly word: string;
  readonly rest: string;
}

/** Instructions with their continued lines joined and comments left out. */
function instructions(text: string): Instruction[] {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'));
  const whole = lines.join('\n').replaceAll(/\s*\\\n\s*/g, ' ');
  return whole.split('\n').flatMap((line) => {
    const match = /^([A-Z]+) (.+)$/.exec(line.trim());
    return match?.[1] === undefined || match[2] === undefined
      ? []
      : [{ word: match[1], rest: match[2] }];
  });
}

const recipe = instructions(read('Dockerfile'));
const all = (word: string) => recipe.filter((step) => step.word === word).map(({ rest }) => rest);
const environment = Object.fromEntries(
  all('ENV').flatMap((rest) => rest.split(/\s+/).map((pair) => pair.split('='))),
);

test('instructions are read whole', () => {
  assert.deepEqual(instructions('# c\nENV A=1 \\\n    B=2\n\nUSER node\n'), [
    { word: 'ENV', rest: 'A=1 B=2' },
    { word: 'USER', rest: 'node' },
  ]);
  assert.ok(recipe.length > 10);
});

test('the base image has a Node that package.json allows', () => {
  assert.equal(JSON.parse(read('package.json')).engines.node, '>=22.18 <23');
  for (const base of all('FROM')) assert.match(base, /^node:22-bookworm-slim( AS \w+)?$/);
});

test('everything copied exists and is let through by .dockerignore', () => {
  const stages = all('FROM').map((rest) => rest.split(' AS ')[1]);
  const ignored = read('.dockerignore').split('\n');
  assert.ok(ignored.includes('*'));
  for (const rest of all('COPY')) {
    const [first = '', ...others] = rest.split(/\s+/);
    if (first.startsWith('--from=')) {
      assert.ok(stages.includes(first.slice('--from='.length)), rest);
      continue;
    }
    for (const source of [first, ...others.slice(0, -1)]) {
      assert.ok(existsSync(join(ROOT, source)), source);
      assert.ok(ignored.includes(`!${source}`), `${source} is left out by .dockerignore`);
    }
  }
});

test('every setting exists and the program accepts them', () => {
  // Variables of Node and the C library, beside the settings.
  const known = new Set(['NODE_ENV', 'MALLOC_ARENA_MAX', ...settingRows().map(({ key }) => key)]);
  for (const key of Object.keys(environment)) assert.ok(known.has(key), key);
  assert.ok(!(readSettings(environment) instanceof BadSettings));
  assert.equal(environment.HOST, '0.0.0.0');
});

test('ports, the volume and the user fit together', () => {
  assert.deepEqual(all('EXPOSE'), [environment.PORT]);
  assert.deepEqual(all('VOLUME'), [environment.DATA_DIR]);
  assert.deepEqual(all('USER'), ['node']);
  assert.ok(all('RUN').some((command) => command.includes(`chown node:node ${all('VOLUME')}`)));
});

test('an image has no binary for another system', () => {
  const prune = all('RUN').find((command) => command.includes(' pack/prune.ts'));
  assert.ok(prune !== undefined && existsSync(join(ROOT, 'pack/prune.ts')));
  // Only a file of this image's system can be loaded.
  assert.match(prune, /import\('uWebSockets\.js'\).*require\('better-sqlite3'\)/);
});

test('it starts the same program as npm start, as process 1', () => {
  const command = JSON.parse(all('CMD').at(-1) ?? 'null');
  // In a script of npm, `exec` takes the place of the shell, so that signals arrive.
  const arenas = `MALLOC_ARENA_MAX=${environment.MALLOC_ARENA_MAX}`;
  const { start } = JSON.parse(read('package.json')).scripts;
  assert.equal(`${arenas} exec ${command.join(' ')}`, start);
  assert.ok(existsSync(join(ROOT, command.at(-1))), command.at(-1));
});

test('the health check asks a route that exists, on the port where it is', () => {
  const check = all('HEALTHCHECK').at(0) ?? '';
  const path = /\/health\/\w+/.exec(check)?.[0];
  const paths = adminRoutes(STATUS, createRegistry()).map((route) => route.path);
  assert.ok(path !== undefined && paths.includes(path), check);
  assert.ok(check.includes('process.env.ADMIN_PORT || process.env.PORT'));
  const script: string = JSON.parse(check.slice(check.indexOf('CMD ') + 4))[2];
  assert.doesNotThrow(() => new Function(script));
});

test('npm scripts named in the recipe and in CI exist', () => {
  const { scripts } = JSON.parse(read('package.json'));
  const commands = `${all('RUN').join('\n')}\n${read('.ci/run').replaceAll(/^#.*$/gm, '')}`;
  const named = Array.from(commands.matchAll(/npm (?:run )?(\w+)/g), ([, name = '']) => name);
  assert.ok(named.includes('test') && named.includes('ci'));
  const ours = named.filter((name) => !['ci', 'rebuild'].includes(name));
  for (const name of ours) assert.ok(Object.hasOwn(scripts, name), name);
});

test('THIRD_PARTY.md names every package that is shipped, with its version and licence', () => {
  const notice = read('THIRD_PARTY.md');
  const { packages } = JSON.parse(read('package-lock.json'));
  for (const path of Object.keys(packages)) {
    if (path === '' || packages[path].dev === true) continue;
    // Binaries for another platform than this one are not there to look at.
    if (packages[path].optional === true && !existsSync(new URL(`../${path}`, import.meta.url))) {
      continue;
    }
    const { name, version, license, licenses } = JSON.parse(read(`${path}/package.json`));
    const row = `| ${name} | ${version} | ${license ?? licenses[0].type} |`;
    assert.ok(notice.includes(row), `${name} ${version}`);
  }
});
