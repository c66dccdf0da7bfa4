/** Runs the tests of the Python client, by pytest. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { LONG_ONLY } from '../support/long.ts';
import { type Framework, hasFramework, howToGet, pythonPathOf } from './frameworks.ts';
import { findPython, HOW_TO_GET_PYTHON } from './python.ts';

const CLIENT = join(import.meta.dirname, '../../clients/python');

/**
 * Test files of `clients/python/tests` that break servers and connections: not in CI, as
 * nautilus_trader, since each takes as long as all others together.
 */
export const FAULTS: readonly string[] = ['test_loss.py', 'test_market.py', 'test_resume.py'];

/** Test files that need an installed framework. */
export const FRAMEWORK_TESTS: Readonly<Record<string, Framework>> = {
  'test_ccxt.py': 'ccxt',
  'test_ccxt_live.py': 'ccxt',
  'test_nautilus.py': 'nautilus_trader',
  'test_generated.py': 'openapi_python_client',
};

/**
 * A test that runs these files of `clients/python/tests`; skipped, saying so, without a Python or
 * without the framework.
 */
export function testInPython(name: string, files: readonly string[], framework?: Framework): void {
  const python = findPython();
  const isLong = files === FAULTS || framework === 'nautilus_trader';
  const skip = whyNot(python, framework) ?? (isLong ? LONG_ONLY.skip : false);
  test(name, { skip }, async (t) => {
    assert(python !== null);
    const paths = files.map((file) => `tests/${file}`);
    const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', ...paths];
    const env = {
      ...process.env,
      NODE: process.execPath,
      PYTHONPATH: framework === undefined ? join(CLIENT, 'src') : pythonPathOf(CLIENT),
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const child = spawn(python, args, { cwd: CLIENT, env });
    t.after(() => void child.kill());
    let text = '';
    for (const output of [child.stdout, child.stderr]) {
      output.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
    }
    const [code] = await once(child, 'close');
    assert.equal(code, 0, text);
    assert.match(text, /\d+ passed/, text);
  });
}

function whyNot(python: string | null, framework: Framework | undefined): string | null {
  if (python === null) return `the Python client is not tested: it needs ${HOW_TO_GET_PYTHON}`;
  if (framework === undefined || hasFramework(python, framework)) return null;
  return `not tested without ${framework}: it needs ${howToGet(framework)}`;
}
