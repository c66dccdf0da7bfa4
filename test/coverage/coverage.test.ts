/** Figures of coverage, on a program whose every line and branch is known. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { bundled } from '../../pack/pageBundle.ts';
import { temporaryDirectory } from '../support/server.ts';
import { codeOf } from './code.ts';
import { executedIn, ranCharacters } from './executed.ts';
import { ofSources } from './mapped.ts';
import { coverageOf, missedText, table } from './report.ts';

/** Each part runs in a separate process or thread: `main`, its worker, its child process. */
const PROGRAM = `import { spawnSync } from 'node:child_process';
import { isMainThread, Worker } from 'node:worker_threads';

interface Sides { readonly a: number }

/** A comment. */
function chosen(part: string): string {
  if (part === 'main') {
    return 'main';
  } else {
    const others: Readonly<Record<string, string>> = { thread: 'T', child: 'C' };
    return others[part] ?? never(part);
  }
}

function never(part: string): string {
  const sides: Sides = { a: 1 };
  return part + sides.a;
}

if (!isMainThread) {
  chosen('thread');
} else if (process.argv[2] === 'child') {
  try {
    throw new Error(chosen('child'));
  } catch {
    chosen('child');
  }
} else {
  chosen('main');
  spawnSync(process.execPath, [import.meta.filename, 'child']);
  new Worker(new URL(import.meta.url));
}
`;

test('what processes, their programs and threads run is added up', (t) => {
  const directory = temporaryDirectory(t);
  const file = join(directory, 'program.ts');
  writeFileSync(file, PROGRAM);
  const folder = join(directory, 'coverage');
  const { status } = spawnSync(process.execPath, ['--no-warnings', file], {
    env: { NODE_V8_COVERAGE: folder },
  });
  assert.equal(status, 0);
  const { href } = pathToFileURL(file);
  const executed = executedIn(folder, href).get(href) ?? assert.fail('the program was loaded');
  const found = coverageOf('src/a/program.ts', PROGRAM, executed);
  assert.deepEqual(found.missed, [16, 17, 18]);
  assert.deepEqual(found.lines, { ran: 14, all: 17 });
  // In the arms of three `if … else`, `??` and `catch`, only the right side of `??` never ran.
  assert.deepEqual(found.branches, { ran: 7, all: 8 });
  assert.equal(missedText([found]), 'src/a/program.ts: 16-18\n');
  assert.match(table([found]), /^src\/a +82\.4 % of 17 +87\.5 % of 8$/m);
});

test('a file that no process loads has run nothing; one of types has nothing to run', () => {
  const found = coverageOf('src/a/b.ts', PROGRAM, null);
  assert.deepEqual([found.lines.ran, found.branches.ran, found.isLoaded], [0, 0, false]);
  const types = "import type { A } from './a.ts';\nexport interface B { readonly a: A }\n";
  assert.equal(codeOf(types).lines.size, 0);
});

const SOURCES: Readonly<Record<string, string>> = {
  'src/a.ts': `import { twice } from './b.ts';
const asked: number = 3;
export function never(): string {
  return 'never';
}
globalThis.found = asked > 2 ? twice(asked) : never();
`,
  'src/b.ts': `export function twice(value: number): number {
  return 2 * value;
}
`,
};

test('what a bundle runs is counted for its sources', async (t) => {
  const root = temporaryDirectory(t);
  mkdirSync(join(root, 'src'));
  for (const [path, text] of Object.entries(SOURCES)) writeFileSync(join(root, path), text);
  const [map, script] = await bundled({
    entryPoints: ['src/a.ts'],
    absWorkingDir: root,
    outdir: 'assets',
    sourcemap: 'linked',
  });
  const file = join(root, 'bundle.mjs');
  writeFileSync(file, script?.text ?? '');
  const folder = join(root, 'coverage');
  spawnSync(process.execPath, [file], { env: { NODE_V8_COVERAGE: folder } });
  const { href } = pathToFileURL(file);
  const ran = executedIn(folder, href).get(href) ?? assert.fail('it was counted');
  const bundle = { text: script?.text ?? '', map: map?.text ?? '', folder: 'assets' };
  const textOf = (path: string) => SOURCES[path] ?? null;
  const sources = ofSources(ran, bundle, textOf, (path) => path);
  const coverage = (path: string) => {
    const { functions } = sources.find(({ url }) => url === path) ?? assert.fail(path);
    return coverageOf(path, SOURCES[path] ?? '', ranCharacters(functions));
  };
  assert.deepEqual(coverage('src/a.ts').missed, [3, 4]);
  assert.deepEqual(coverage('src/a.ts').branches, { ran: 1, all: 2 });
  assert.deepEqual(coverage('src/b.ts').missed, []);
});
