/** The house rules of this repository. `test/tidy/` holds them; here each is shown to bite. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CATALOGUE } from '../src/engine/runtime/errors.ts';
import { fragments } from './tidy/fragments.ts';
import {
  BROWSER_ENTRIES,
  impureUnitTests,
  marketInSimulation,
  PROCESS_ENTRY,
  ROOMS,
  secondSites,
  unfitForBrowsers,
  unreachable,
  wrongWays,
} from './tidy/imports.ts';
import { loadedTooSoon } from './tidy/loads.ts';
import { changeFaults, folderFaults, mapFaults } from './tidy/map.ts';
import { mentionsOutside, pathsOutside, texts } from './tidy/outside.ts';
import * as rules from './tidy/rules.ts';
import { type Finding, report, type Source, sourceOf, sourcesIn } from './tidy/source.ts';
import { avoidedWords, beyond } from './tidy/words.ts';

const ROOT = join(import.meta.dirname, '..');
const program = sourcesIn(ROOT, 'src');
const others = ['test', 'bench', 'scripts'].flatMap((folder) => sourcesIn(ROOT, folder));

/** Lists of words, records of the past, and data of others. */
const NOT_OURS_TO_SAY = ['test/tidy', 'CHANGELOG.md', 'LICENSE', 'test/data/', 'package-lock.json'];

function clean(findings: readonly Finding[]): void {
  assert.ok(findings.length === 0, `\n${report(findings)}\n`);
}

test('files keep to the house rules', () => {
  clean([...program, ...others].flatMap(rules.untidy));
});

test('imports follow the order of the rooms', () => {
  clean(program.flatMap(wrongWays));
});

test('browsers load only what is made for them', () => {
  clean(unfitForBrowsers(program));
});

test('unit tests start no process or server: they share one process', () => {
  clean(impureUnitTests([...program, ...others]));
});

test('time, disks and NATS of simulations know nothing of the market', () => {
  clean(others.flatMap(marketInSimulation));
});

test('threads load only what they need as they start', () => {
  clean(loadedTooSoon(program));
});

test('uWebSockets.js and better-sqlite3 have one import site each', () => {
  clean(program.flatMap(secondSites));
});

test('every file is reachable from the process, the page or an export of the package', () => {
  clean(unreachable(program, PROCESS_ENTRY, ...BROWSER_ENTRIES));
});

test('src/README.md has a row for each room, in order', () => {
  clean(mapFaults(readFileSync(join(ROOT, 'src/README.md'), 'utf8'), program));
});

/** Paths from the root, of folders too. */
function pathsBelow(...folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => `${folder}/${name}`),
  );
}

test('src/README.md has a row for each folder of src/, and each name in it exists', () => {
  const paths = pathsBelow('src', 'clients/python/src', 'config');
  clean(folderFaults(readFileSync(join(ROOT, 'src/README.md'), 'utf8'), paths));
  const rulesOf = (row: string, ...files: string[]) =>
    folderFaults(`## Which file does it\n${row}\n## To change something\n`, files).map(
      ({ rule }) => rule,
    );
  const row = '| `api/a/` | `b.ts`, `c/`; `web/d.ts`: what `/e` shows |';
  const whole = ['src/api/a/b.ts', 'src/api/a/c/f.ts', 'src/web/d.ts'];
  assert.deepEqual(rulesOf(row, ...whole), []);
  assert.deepEqual(rulesOf(row, ...whole.slice(1)), ['src/b.ts does not exist']);
  assert.deepEqual(rulesOf(row, ...whole.slice(0, 2)), ['src/web/d.ts does not exist']);
  assert.deepEqual(rulesOf(row, ...whole, 'src/api/g/h.ts', 'src/web/i/k.tsx'), [
    'src/api/g/ is in no row',
    'src/web/i/ is in no row',
  ]);
  assert.equal(rulesOf('no table', ...whole).length, 1);
});

test('src/README.md names files and tests that exist for each change', () => {
  const files = pathsBelow('src', 'test', 'config', 'docs', 'scripts');
  clean(changeFaults(readFileSync(join(ROOT, 'src/README.md'), 'utf8'), files));
  const row = '| a bar | `a/b.ts` | `c/` and `test/d.ts` | `a`, `tidy` |';
  const rulesOf = (...paths: string[]) =>
    changeFaults(`## To change something\n${row}\n`, paths).map(({ rule }) => rule);
  const whole = ['src/a/b.ts', 'src/c/d.ts', 'test/d.ts', 'test/a/b.test.ts', 'test/tidy.test.ts'];
  assert.deepEqual(rulesOf(...whole), []);
  assert.deepEqual(rulesOf(...whole.slice(0, 3)), ['test/a has no test', 'test/tidy has no test']);
  assert.deepEqual(rulesOf(...whole.slice(3)), [
    'src/a/b.ts does not exist',
    'src/c/ does not exist',
    'test/d.ts does not exist',
  ]);
});

test('the repository stands alone: nothing is read from a folder beside it', () => {
  clean([...program, ...others].flatMap(pathsOutside));
  const all = texts(ROOT);
  assert.ok(all.length > program.length + others.length, `${all.length} files are read`);
  clean(all.flatMap(([path, text]) => mentionsOutside(path, text)));
});

test('few files have a single importer', () => {
  clean(fragments(program));
});

test('plain words: no avoided word and no coined name comes back', () => {
  const told = texts(ROOT).filter(([path]) => !NOT_OURS_TO_SAY.some((part) => path.includes(part)));
  clean(beyond(told.flatMap(([path, text]) => avoidedWords(path, text))));
});

test('error codes are unique', () => {
  const codes = Object.values(CATALOGUE).map(({ code }) => code);
  assert.equal(new Set(codes).size, codes.length);
});

/** Lines at which `rule` finds fault with `text`. */
function lines(rule: (source: Source) => Finding[], text: string, path = 'src/a/b.ts'): number[] {
  return rule(sourceOf(path, text)).map(({ line }) => line);
}

test('rule: files of 400 lines and 100 columns at most', () => {
  assert.deepEqual(lines(rules.lengths, 'x\n'.repeat(400)), []);
  assert.deepEqual(lines(rules.lengths, 'x\n'.repeat(401)), [1]);
  assert.deepEqual(lines(rules.lengths, `a\n${'é'.repeat(100)}\n${'é'.repeat(101)}\n`), [3]);
});

test('rule: functions of 60 lines at most, methods and arrows included', () => {
  const body = (count: number) => `{\n${'1;\n'.repeat(count - 2)}}`;
  assert.deepEqual(lines(rules.longFunctions, `function f() ${body(60)}`), []);
  assert.deepEqual(lines(rules.longFunctions, `\nfunction f() ${body(61)}`), [2]);
  assert.deepEqual(lines(rules.longFunctions, `const f = () => ${body(61)}`), [1]);
  assert.deepEqual(lines(rules.longFunctions, `class C {\n  m() ${body(61)}\n}`), [2]);
  assert.deepEqual(lines(rules.longFunctions, `o = {\n m() ${body(61)} }`), [2]);
  assert.deepEqual(lines(rules.longFunctions, 'interface I { m(): void }'), []);
});

test('rule: no any', () => {
  assert.deepEqual(lines(rules.anyTypes, 'let a: unknown;\nlet b: any[];'), [2]);
  assert.deepEqual(lines(rules.anyTypes, '// any\nconst any = "any";'), []);
});

test('rule: no `!`, and `as` only with its reason', () => {
  assert.deepEqual(lines(rules.narrowings, 'a!.b;'), [1]);
  assert.deepEqual(lines(rules.narrowings, 'class C { a!: string }'), [1]);
  assert.deepEqual(lines(rules.narrowings, '!a; a !== b; const c = [1] as const;'), []);
  assert.deepEqual(lines(rules.narrowings, "import { a as b } from './c.ts';"), []);
  assert.deepEqual(lines(rules.narrowings, 'const c = a as B;'), [1]);
  assert.deepEqual(lines(rules.narrowings, 'const c = <B>a;'), [1]);
  assert.deepEqual(lines(rules.narrowings, 'a as B; // trust: SQLite gives this shape'), []);
  assert.deepEqual(lines(rules.narrowings, '// trust: SQLite\n// gives it\na as B;'), []);
  assert.deepEqual(lines(rules.narrowings, '// trust: it\n\na as B;'), [3]);
  assert.deepEqual(lines(rules.narrowings, 'a as unknown as B; // trust: it'), [1]);
});

test('rule: an error that is not looked at has its reason beside it', () => {
  const at = (text: string) => lines(rules.silentErrors, text);
  assert.deepEqual(at('try {\n  f();\n} catch {}'), [3]);
  assert.deepEqual(at('try {\n  f();\n} catch {\n  found = null;\n}'), [3]);
  assert.deepEqual(at('try {\n  f();\n} catch {\n  // It is no JSON.\n}'), []);
  assert.deepEqual(at("try { f(); } catch { fault = 'it is no JSON'; }"), []);
  assert.deepEqual(at('try { f(); } catch { throw new Fault(a); }'), []);
  assert.deepEqual(at('try { f(); } catch (error) { failed(error); }'), []);
  for (const blind of ['p.catch(() => {})', 'p?.catch(() => null)', 'p.then(f, () => false)']) {
    assert.deepEqual(at(`f();\nawait ${blind};`), [2], blind);
    assert.deepEqual(at(`// The caller hears of it.\nawait ${blind};`), [], blind);
  }
  assert.deepEqual(at("s.on('error', () => {});\ns.on('close', () => {});"), [1]);
  assert.deepEqual(at('p.catch(failed);\np.catch((error) => failed(error));\np.then(f);'), []);
});

test('rule: no switched off checks, nothing left for later, no SELECT *', () => {
  assert.deepEqual(lines(rules.plannedAgain, "'… LIMIT +?'\n'… LIMIT ?'\n`LIMIT @most`"), [2, 3]);
  assert.deepEqual(lines(rules.suppressions, '\n// @ts-expect-error'), [2]);
  assert.deepEqual(lines(rules.leftovers, 'a;\n// TODO: b\nconst fixmeUp = 1;'), [2]);
  assert.deepEqual(lines(rules.wholeRows, "'SELECT * FROM a'\n'select a.* from a'"), [1, 2]);
  assert.deepEqual(lines(rules.wholeRows, "'SELECT count(*) FROM a'"), []);
});

test('rule: time, chance and surroundings stay in their one home', () => {
  for (const stray of [
    'Date.now();',
    'new Date();',
    'performance.now();',
    'Math.random();',
    'setTimeout(f, 1);',
    'globalThis.setInterval(f, 1);',
    "import { setImmediate } from 'node:timers';",
    'process.env.PORT;',
    'console.log(1);',
    'process.exit(1);',
    'const { setTimeout: later } = host;',
  ]) {
    assert.equal(lines(rules.strays, stray)[0], 1, stray);
  }
  assert.deepEqual(
    lines(rules.strays, 'Date.now(); setTimeout(f);', 'src/engine/runtime/clock.ts'),
    [],
  );
  assert.deepEqual(lines(rules.strays, 'Math.random();', 'src/engine/runtime/clock.ts'), [1]);
  assert.deepEqual(
    lines(rules.strays, 'new Date(0); clock.setTimeout(f); a?.console; ({ console: 1 });'),
    [],
  );
});

test('rule: tests and benches keep length and types, the rest is theirs', () => {
  const text = 'const a: any = 1; console.log(b!);';
  assert.deepEqual(lines(rules.untidy, text, 'test/a.test.ts'), [1]);
  assert.ok(lines(rules.untidy, text, 'src/a/b.ts').length > 2);
});

test('rule: a file imports its own room and those before it', () => {
  const from = (path: string, target: string) => lines(wrongWays, `import '${target}';`, path);
  assert.deepEqual(from('src/chain/follower.ts', '../engine/log/port.ts'), []);
  assert.deepEqual(from('src/engine/log/local.ts', '../../chain/follower.ts'), [1]);
  assert.deepEqual(from('src/api/http/route.ts', '../../server/app.ts'), [1]);
  assert.deepEqual(from('src/server/app.ts', '../api/gateway/server.ts'), []);
  assert.deepEqual(from('src/elsewhere/a.ts', './b.ts'), [1]);
  assert.deepEqual(lines(wrongWays, "import('../api/a.ts')", 'src/engine/bar.ts'), [1]);
  assert.deepEqual(lines(wrongWays, "export { a } from '../api/a.ts'", 'src/engine/b.ts'), [1]);
  assert.deepEqual(lines(wrongWays, "let a: import('../api/a.ts').A", 'src/engine/b.ts'), [1]);
  assert.deepEqual(lines(wrongWays, "new URL('../api/a.ts', b)", 'src/engine/b.ts'), [1]);
});

test('rule: the market is pure, the gateway knows no market, services stay apart', () => {
  const from = (path: string, target: string) => lines(wrongWays, `import '${target}';`, path);
  assert.deepEqual(from('src/engine/market/bar.ts', '../runtime/assert.ts'), []);
  assert.deepEqual(from('src/engine/market/bar.ts', './trade.ts'), []);
  assert.deepEqual(from('src/engine/market/bar.ts', '../runtime/clock.ts'), [1]);
  assert.deepEqual(from('src/api/http/route.ts', '../gateway/port.ts'), []);
  assert.deepEqual(from('src/api/http/route.ts', '../../engine/market/bar.ts'), [1]);
  assert.deepEqual(from('src/api/docs/a.ts', '../charts/b.ts'), [1]);
  assert.deepEqual(from('src/api/docs/a.ts', '../gateway/port.ts'), []);
});

test('rule: what a browser loads comes from rooms made for it', () => {
  const sources = [
    sourceOf('src/web/main.tsx', "import '../client/index.ts'; import '../api/a.ts';"),
    sourceOf('src/client/index.ts', "import '../cardano/codec/hex.ts';"),
    sourceOf('src/cardano/codec/hex.ts', ''),
    sourceOf('src/api/a.ts', ''),
  ];
  assert.deepEqual(
    unfitForBrowsers(sources).map(({ path }) => path),
    ['src/api/a.ts'],
  );
});

test('rule: a simulation of any program knows no market', () => {
  const from = (path: string, target: string) =>
    lines(marketInSimulation, `import '${target}';`, path);
  assert.deepEqual(from('test/sim/nats/model.ts', '../machine/virtualTime.ts'), []);
  assert.deepEqual(from('test/sim/nats/model.ts', '../../../src/engine/runtime/clock.ts'), []);
  assert.deepEqual(from('test/sim/nats/model.ts', '@nats-io/transport-node'), []);
  assert.deepEqual(from('test/sim/nats/model.ts', '../../../src/cluster/nats/bucket.ts'), [1]);
  assert.deepEqual(from('test/sim/machine/simDisk.ts', '../life/life.ts'), [1]);
  assert.deepEqual(from('test/sim/life/life.ts', '../../../src/server/app.ts'), []);
});

test('rule: a unit test loads nothing that starts processes or servers', () => {
  const sources = [
    sourceOf('test/a.unit.test.ts', "import type { B } from './b.ts'; import './c.ts';"),
    sourceOf('test/d.unit.test.ts', "import { type B } from './b.ts';"),
    sourceOf('test/e.test.ts', "import './b.ts';"),
    sourceOf('test/b.ts', "import { spawn } from 'node:child_process';"),
    sourceOf('test/c.ts', "import type { Server } from 'node:http'; import 'node:fs';"),
  ];
  const paths = impureUnitTests(sources).map(({ path }) => path);
  assert.deepEqual(paths, ['test/d.unit.test.ts']);
});

test('rule: what a thread needs later is not loaded as it starts', () => {
  const sources = [
    sourceOf('src/server/main.ts', "import './a.ts'; import type { B } from 'hyparquet';"),
    sourceOf('src/server/a.ts', "const load = () => import('yaml');\nimport 'yaml';"),
    sourceOf('src/traders/thread.ts', "import 'yaml'; new URL('../../c.ts', import.meta.url);"),
    sourceOf('src/c.ts', "import Type from 'typebox';"),
  ];
  const found = loadedTooSoon(sources).map(({ path, line }) => `${path}:${line}`);
  assert.deepEqual(found, ['src/server/a.ts:2']);
});

test('rule: a package with one import site is not imported elsewhere', () => {
  const text = "import type { Database } from 'better-sqlite3';";
  assert.deepEqual(lines(secondSites, text), [1]);
  assert.deepEqual(lines(secondSites, text, 'src/engine/store/database.ts'), []);
  const socket = "import { WebSocket } from 'ws';";
  assert.deepEqual(lines(secondSites, socket), [1]);
  assert.deepEqual(lines(secondSites, socket, 'src/chain/ogmios/connection.ts'), []);
});

test('rule: a file that no import leads to is found, also in a circle', () => {
  const sources = [
    sourceOf('src/main.ts', "import './a/b.ts';"),
    sourceOf('src/a/b.ts', "import type { C } from '../main.ts';"),
    sourceOf('src/a/x.ts', "import './y.ts';"),
    sourceOf('src/a/y.ts', "import './x.ts';"),
  ];
  const paths = unreachable(sources, 'src/main.ts').map(({ path }) => path);
  assert.deepEqual(paths, ['src/a/x.ts', 'src/a/y.ts']);
});

test('rule: no path leads out of the repository, no folder beside it is named', () => {
  const join = (...parts: string[]) =>
    `join(import.meta.dirname, ${parts.map((part) => `'${part}'`).join(', ')})`;
  assert.deepEqual(lines(pathsOutside, join('../../c'), 'test/a/b.ts'), []);
  assert.deepEqual(lines(pathsOutside, join('../../../c'), 'test/a/b.ts'), [1]);
  assert.deepEqual(lines(pathsOutside, join('..', '../..', 'c'), 'test/a/b.ts'), [1]);
  const mentions = (name: string) => mentionsOutside('docs/a.md', `a\n'../${name}'`).length;
  assert.deepEqual(['shared', 'shared/data', 'shared.'].map(mentions), [1, 1, 1]);
  assert.deepEqual(['shared.ts', 'sharedLog.ts', 'data'].map(mentions), [0, 0, 0]);
});

test('rule: files with a single importer, up to a share of all', () => {
  const sources = [
    sourceOf('src/a.ts', "import './b.ts'; import './c.ts';"),
    sourceOf('src/b.ts', "import './c.ts';"),
    sourceOf('src/c.ts', "import './d.ts'; import type { D } from './d.ts';"),
    sourceOf('src/d.ts', ''),
  ];
  const paths = (most: number) => fragments(sources, most).map(({ path }) => path);
  assert.deepEqual(paths(49), ['src', 'src/b.ts', 'src/d.ts']);
  assert.deepEqual(paths(50), []);
});

test('rule: avoided words and coined names, up to the number that a folder has left', () => {
  const found = (text: string) => avoidedWords('docs/a.md', text).map(({ line }) => line);
  assert.deepEqual(found('a\nit is told so\nis tolder'), [2]);
  assert.deepEqual(found('Nobody\nnobodyElse'), [1]);
  assert.deepEqual(found('a wish\ntype OrderWish = 1;\nwishes\nwished'), [1, 2, 3]);
  assert.deepEqual(found('newSeat()\nseats\nseated\nunseat'), [1, 2]);
  assert.deepEqual(found('user: nobody\n`begun` is quoted'), []);
  const two = avoidedWords('src/api/a.ts', 'anew\nanew');
  assert.equal(beyond(two, { 'src/api': 2 }).length, 0);
  assert.equal(beyond(two, { 'src/api': 1 })[0]?.path, 'src/api');
  assert.equal(beyond(avoidedWords('README.md', 'anew'), {}).length, 2);
});

test('rule: the table of rooms is complete and in order', () => {
  const sources = ROOMS.map((room) => sourceOf(`src/${room}/a.ts`, ''));
  const faults = (rooms: readonly string[], from = sources) =>
    mapFaults(rooms.map((room) => `| \`${room}/\` | what |`).join('\n'), from).length;
  assert.equal(faults(ROOMS), 0);
  assert.equal(faults(ROOMS.toReversed()), 1);
  assert.equal(faults(ROOMS.slice(1)), 1);
  assert.equal(faults(ROOMS, sources.slice(1)), 1);
});
