/** The Python client's calls, wallet, examples and package, on one devnet that pytest starts. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { FAULTS, FRAMEWORK_TESTS, testInPython } from './pytest.ts';

const TESTS = join(import.meta.dirname, '../../clients/python/tests');
const files = readdirSync(TESTS).filter((name) => /^test_.*\.py$/.test(name));

testInPython(
  'the Python client passes its tests',
  files.filter((name) => !FAULTS.includes(name) && !(name in FRAMEWORK_TESTS)),
);
