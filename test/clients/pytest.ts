/** Runs the tests of the Python client, by pytest. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { findPython, HOW_TO_GET_PYTHON } from './python.ts';

const CLIENT = join(import.meta.dirname, '../../clients/python');

/** Of `clients/python/tests`: those that break servers and connections, and wait a while. */
export const FAULTS: readonly string[] = ['test_loss.py', 'test_market.py', 'test_resume.py'];

/** A test that runs these files of `clients/python/tests`; skipped, saying so, without a Python. */
export function testInPython(name: string, files: readonly string[]): void {
  const python = findPython();
  const skip =
    python === null ? `the Python client is not tested: it needs ${HOW_TO_GET_PYTHON}` : false;
  test(name, { skip }, async (t) => {
    assert(python !== null);
    const paths = files.map((file) => `tests/${file}`);
    const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', ...paths];
    const env = {
      ...process.env,
      NODE: process.execPath,
      PYTHONPATH: join(CLIENT, 'src'),
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
