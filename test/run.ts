/**
 * Runs the tests: `npm test`, or `node test/run.ts [--once] <part of a path> …` for some of them.
 *
 * Each file is a process of its own, two at a time. Tests that start servers, browsers and nodes
 * depend on when a busy machine lets those run. So a file that fails is run once more, alone, after
 * all others, and named at the end as not steady when it passes then. Not where input is random:
 * what that finds is a find, whatever the next draw says. Nor for more than a few at once.
 *
 * `SEED=1 npm test` draws all random input from one seed: a submission is then judged by what it
 * changes. Without, each run draws anew, and says its seed where it fails.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec, tap } from 'node:test/reporters';

const ROOT = join(import.meta.dirname, '..');
const AT_ONCE = 2;
/** Far beyond the longest; whatever hangs ends with its name. */
const FILE_LIMIT_MS = 240_000;
const MOST_SECOND_RUNS = 3;

const SEEDED = ['--import', join(ROOT, 'test/seed.ts')];

const args = process.argv.slice(2);
const isOnce = args.includes('--once');
const parts = args.filter((arg) => arg !== '--once');

/** Paths from the root; answers those that failed. */
async function failing(paths: readonly string[], concurrency: number): Promise<string[]> {
  const failed = new Set<string>();
  const files = paths.map((path) => join(ROOT, path));
  const execArgv = process.env.SEED === undefined ? [] : SEEDED;
  const results = run({ files, concurrency, timeout: FILE_LIMIT_MS, execArgv });
  // A file that ends without a word has no `file`, but is itself the name.
  results.on('test:fail', ({ file, name }) => failed.add(relative(ROOT, file ?? name)));
  const shown = process.stdout.isTTY ? results.compose(new spec()) : results.compose(tap);
  for await (const text of shown) process.stdout.write(text);
  return [...failed];
}

function isRandom(path: string): boolean {
  return readFileSync(join(ROOT, path), 'utf8').includes('fast-check');
}

const all = globSync('test/**/*.test.ts', { cwd: ROOT }).sort();
const chosen = all.filter(
  (path) => parts.length === 0 || parts.some((part) => path.includes(part)),
);
if (chosen.length === 0) {
  console.error(`no test file has ${parts.join(' or ')} in its path`);
  process.exit(2);
}
let failed = await failing(chosen, AT_ONCE);
const mayStumble = failed.length <= MOST_SECOND_RUNS && !failed.some(isRandom);
if (failed.length > 0 && mayStumble && !isOnce) {
  const first = failed;
  console.log(`# once more, alone: ${first.join(', ')}`);
  failed = await failing(first, 1);
  const steady = first.filter((path) => !failed.includes(path));
  if (steady.length > 0) console.log(`# not steady, passed alone: ${steady.join(', ')}`);
}
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
