/**
 * Runs the tests of all tiers and says what of src/ they run: `npm run coverage`, or
 * `npm run coverage -- <part of a path> …` for some of them. Lines that never ran are listed in
 * `var/coverage.txt`.
 *
 * Counts the tests' processes, the programs and threads that they start, and the pages that they
 * open; not what is killed. Fails where a test fails, or where the whole suite leaves a file of
 * src/ unloaded.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { executedIn } from '../test/coverage/executed.ts';
import { coverageOf, type FileCoverage, missedText, table } from '../test/coverage/report.ts';

const ROOT = join(import.meta.dirname, '..');
/** Threads that are always terminated, so Node writes no coverage for them. */
const TERMINATED = ['src/cardano/transactions/worker.ts'];
/** As long as the longest file takes here on a busy machine, twice. */
const FILE_LIMIT_MS = 600_000;
const parts = process.argv.slice(2);

function measured(folder: string): FileCoverage[] {
  const executed = executedIn(folder, pathToFileURL(join(ROOT, 'src/')).href);
  const paths = globSync('src/**/*.{ts,tsx}', { cwd: ROOT }).sort();
  return paths.map((path) => {
    const file = join(ROOT, path);
    const ran = executed.get(pathToFileURL(file).href) ?? null;
    return coverageOf(path, readFileSync(file, 'utf8'), ran);
  });
}

const folder = mkdtempSync(join(tmpdir(), 'upcurve-coverage-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const tests = globSync('test/**/*.test.ts', { cwd: ROOT })
  .filter((path) => parts.length === 0 || parts.some((part) => path.includes(part)))
  .sort();
const flags = ['--disable-warning=ExperimentalWarning', '--import', './test/seed.ts', '--test'];
const limits = ['--test-concurrency=2', `--test-timeout=${FILE_LIMIT_MS}`];
const { status } = spawnSync(process.execPath, [...flags, ...limits, ...tests], {
  cwd: ROOT,
  stdio: 'inherit',
  env: { ...process.env, NODE_V8_COVERAGE: folder },
});

const files = measured(folder);
const unloaded = files
  .filter(({ isLoaded, lines }) => !isLoaded && lines.all > 0)
  .filter(({ path }) => !TERMINATED.includes(path));
mkdirSync(join(ROOT, 'var'), { recursive: true });
writeFileSync(join(ROOT, 'var/coverage.txt'), missedText(files));
console.log(`\n${table(files)}\n\nlines that never ran: var/coverage.txt`);
const isWhole = parts.length === 0;
if (isWhole && unloaded.length > 0) {
  console.log(`\nnever loaded:\n${unloaded.map(({ path }) => path).join('\n')}`);
}
process.exitCode = status !== 0 || (isWhole && unloaded.length > 0) ? 1 : 0;
