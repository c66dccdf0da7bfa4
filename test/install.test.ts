/** An installation has the files that run here, and little else. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { NODE_ABI, packagesIn, removable } from '../pack/removable.ts';
import { temporaryDirectory } from './support/server.ts';

const ROOT = join(import.meta.dirname, '..');
const MODULES = join(ROOT, 'node_modules');
const MIB = 1024 * 1024;
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

/** A `node_modules` of empty files; a package.json says what `manifests` has for it. */
function installed(paths: readonly string[], manifests: Record<string, object> = {}): string {
  const modules = temporaryDirectory();
  for (const path of paths) {
    const file = join(modules, path);
    mkdirSync(dirname(file), { recursive: true });
    const text = manifests[dirname(path)] ?? {};
    writeFileSync(file, path.endsWith('package.json') ? JSON.stringify(text) : '');
  }
  return modules;
}

function removed(modules: string, isProduction: boolean, arch = 'x64'): string[] {
  const paths = removable(modules, { platform: 'linux', arch }, isProduction);
  return paths.map((path) => relative(modules, path)).toSorted();
}

/** Space on the disk, as `du` counts it: a hard link once. */
function usedMiB(folders: readonly string[], without: readonly string[]): number {
  const left = new Set(without);
  const seen = new Set<number>();
  let bytes = 0;
  const add = (path: string) => {
    if (left.has(path)) return;
    const { ino, blocks } = lstatSync(path);
    if (!seen.has(ino)) bytes += blocks * 512;
    seen.add(ino);
    if (!lstatSync(path).isDirectory()) return;
    for (const name of globSync(['*', '.*'], { cwd: path })) add(join(path, name));
  };
  for (const folder of folders) add(folder);
  return bytes / MIB;
}

test('of uWebSockets.js the file for this system stays, wherever the package keeps it', () => {
  for (const home of ['uWebSockets.js/dist/bin', 'uWebSockets.js']) {
    const own = `${home}/uws_linux_x64_${NODE_ABI}.node`;
    const others = ['darwin_x64_127', 'linux_arm64_127', 'linux_x64_115'].map(
      (name) => `${home}/uws_${name}.node`,
    );
    const modules = installed([own, ...others]);
    assert.deepEqual(removed(modules, false), others.toSorted());
    assert.deepEqual(removed(modules, false, 'riscv64'), [], 'none fits: all stay');
  }
  assert.equal(process.versions.modules, NODE_ABI, 'the tests run on the Node of package.json');
});

test('production leaves out what developers read; licences and entry points stay', () => {
  const files = ['index.js', 'index.d.ts', 'index.js.map', 'package.json', 'test/a.js'];
  const plain = [...files, 'README.md', 'LICENSE.md', 'docs/a.js'].map((name) => `plain/${name}`);
  const scoped = [...files, 'readme.md', 'lib/test/a.js'].map((name) => `@s/own/${name}`);
  const nested = files.map((name) => `plain/node_modules/inner/${name}`);
  const modules = installed([...plain, ...scoped, ...nested], {
    plain: { main: './index.js' },
    '@s/own': { exports: { '.': './test/a.js' } },
  });
  assert.deepEqual(removed(modules, false), []);
  assert.deepEqual(
    removed(modules, true),
    [
      '@s/own/index.d.ts',
      '@s/own/index.js.map',
      'plain/README.md',
      'plain/docs',
      'plain/index.d.ts',
      'plain/index.js.map',
      'plain/node_modules/inner/index.d.ts',
      'plain/node_modules/inner/index.js.map',
      'plain/node_modules/inner/test',
      'plain/test',
    ].toSorted(),
  );
});

test('nothing that this program loads is removed', () => {
  const { platform, arch } = process;
  const paths = removable(MODULES, { platform, arch }, true);
  const gone = (file: string) => paths.some((path) => `${file}/`.startsWith(`${path}/`));
  const sqlite = globSync(`better-sqlite3/prebuilds/${platform}-${arch}.node`, { cwd: MODULES });
  const uws = globSync(`uWebSockets.js/**/uws_${platform}_${arch}_127.node`, { cwd: MODULES });
  const charts = 'lightweight-charts/dist/lightweight-charts.standalone.production.mjs';
  const loaded = [...sqlite, ...uws, charts, 'node/bin/node', 'better-sqlite3/lib/index.js'];
  assert.equal(loaded.length, 5);
  for (const name of loaded) {
    assert.ok(existsSync(join(MODULES, name)) && !gone(join(MODULES, name)), name);
  }
});

test('a production install takes at most 182 MB, the whole one at most 560 MB', () => {
  const { packages } = JSON.parse(read('package-lock.json'));
  const isShipped = (path: string) => packages[path] !== undefined && packages[path].dev !== true;
  const all = packagesIn(MODULES);
  // A nested package is counted with the one around it.
  const top = all.filter((home) => !relative(MODULES, home).includes('node_modules'));
  const shipped = top.filter((home) => isShipped(relative(ROOT, home)));
  assert.ok(shipped.length > 100 && shipped.length < top.length);
  const { platform, arch } = process;
  const production = usedMiB(shipped, removable(MODULES, { platform, arch }, true));
  // Frameworks that slow tests install lie in `.cache`.
  const notOurs = [...removable(MODULES, { platform, arch }, false), join(MODULES, '.cache')];
  const whole = usedMiB([MODULES], notOurs);
  assert.ok(production <= 182, `a production install has ${production} MB`);
  assert.ok(whole <= 560, `an install has ${whole} MB`);
});

test('the service starts the program as npm start does, with a Node that production has', () => {
  const { packages } = JSON.parse(read('package-lock.json'));
  const { scripts } = JSON.parse(read('package.json'));
  const unit = read('docs/one-node.md');
  const [, command = ''] = /^ExecStart=\/opt\/upcurve\/(.+)$/m.exec(unit) ?? [];
  const [, arenas] = /^Environment=(MALLOC_ARENA_MAX=\d+)$/m.exec(unit) ?? [];
  assert.equal(
    `${arenas} ${command.replace('node_modules/.bin/node ', 'exec node ')}`,
    scripts.start,
  );
  const { bin, dev } = packages['node_modules/node'];
  assert.deepEqual([bin, dev], [{ node: 'bin/node' }, undefined]);
});

test('sources load as the installation stripped them, edited ones through Node', () => {
  const folder = temporaryDirectory();
  for (const name of ['useStripped.mjs', 'strippedSources.mjs', 'scalusCode.mjs', 'strip.ts']) {
    cpSync(join(ROOT, 'pack', name), join(folder, 'pack', name));
  }
  const main = join(folder, 'src/main.ts');
  mkdirSync(dirname(main));
  const load = (...options: string[]) => {
    const args = ['--disable-warning=ExperimentalWarning', ...options];
    const run = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    return `${run.stdout}${run.stderr}`;
  };
  // Without Node's own stripper, files that were not stripped before cannot load.
  const stripped = ['--no-experimental-strip-types', '--import', './pack/useStripped.mjs', main];

  writeFileSync(main, 'const one: number = 1;\nconsole.log(one);\n');
  assert.match(load(...stripped), /ERR_UNKNOWN_FILE_EXTENSION/);
  assert.equal(load('pack/strip.ts'), '');
  assert.equal(load(...stripped), '1\n');

  writeFileSync(main, 'const two: number = 2;\nconsole.log(two);\n');
  assert.match(load(...stripped), /ERR_UNKNOWN_FILE_EXTENSION/);
  assert.equal(load('--import', './pack/useStripped.mjs', main), '2\n');
  assert.equal(load('pack/strip.ts'), '');
  assert.equal(load(...stripped), '2\n');
  const kept = readdirSync(join(folder, 'node_modules/.cache/stripped'));
  assert.equal(kept.length, 1, 'what no source has any more is removed');

  rmSync(join(folder, 'node_modules'), { recursive: true });
  writeFileSync(join(folder, 'node_modules'), 'no folder');
  assert.match(load('pack/strip.ts'), /sources keep their types/);
  assert.equal(load('--import', './pack/useStripped.mjs', main), '2\n');
});

test('a thread loads Scalus as it was compiled, and compiles it where that does not fit', () => {
  const load = (...options: string[]) => {
    const program = `
      require('scalus');
      console.log(require('node:v8').getHeapStatistics().peak_malloced_memory);`;
    const args = [...options, '--import', './pack/useStripped.mjs', '--eval', program];
    const { stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
    return Number(stdout) / 2 ** 20;
  };
  assert.equal(spawnSync(process.execPath, ['pack/strip.ts'], { cwd: ROOT }).status, 0);
  const [taken, compiled] = [load(), load('--max-old-space-size=500')];
  assert.ok(taken > 0 && taken < 10, `${taken} MiB`);
  assert.ok(compiled > 20, `${compiled} MiB`);
});
