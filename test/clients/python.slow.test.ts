/** The tests of the Python client, by pytest, against servers that they start. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { findPython, HOW_TO_GET_PYTHON } from './python.ts';

const CLIENT = join(import.meta.dirname, '../../clients/python');
const python = findPython();
const skip =
  python === null ? `the Python client is not tested: it needs ${HOW_TO_GET_PYTHON}` : false;

test('the Python client passes its tests', { skip }, async () => {
  assert(python !== null);
  const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests'];
  const env = {
    ...process.env,
    NODE: process.execPath,
    PYTHONPATH: join(CLIENT, 'src'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const child = spawn(python, args, { cwd: CLIENT, env });
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
