/**
 * Before the tests: gets the programs that npm does not bring. Existing programs are used as they
 * are; otherwise it installs Debian's, where apt may do so; otherwise it says what to do. Without
 * the packages of Python the tests of the Python client are skipped; without the others tests would
 * fail. `provide.ts frameworks` also gets the packages of the adapters, from PyPI.
 */
import { spawnSync } from 'node:child_process';
import { installFrameworks } from '../test/clients/frameworks.ts';
import { findPython, HOW_TO_GET_PYTHON, PYTHON_DEBIAN } from '../test/clients/python.ts';

interface Needed {
  isThere(): boolean;
  /** Packages of Debian and Ubuntu. */
  readonly debian: readonly string[];
  /** The missing program, and how to get it. */
  readonly advice: string;
  readonly isOptional: boolean;
}

function program(name: string, what: string, elsewhere: string): Needed {
  return {
    isThere: () => runs(name, ['--version']),
    debian: [name],
    advice:
      `The tests need ${what} on the PATH. On Debian or Ubuntu: ` +
      `sudo apt-get install ${name}; elsewhere: ${elsewhere}`,
    isOptional: false,
  };
}

/** As the tests look for it: the first may belong to a virtual environment. */
const PYTHONS = ['python3', '/usr/bin/python3'];

const NEEDED: readonly Needed[] = [
  program('nats-server', 'nats-server (2.9 or later)', 'https://nats.io/download'),
  program(
    'chromium',
    'Chromium, under the name chromium,',
    'https://www.chromium.org/getting-involved/download-chromium',
  ),
  {
    isThere: () => findPython() !== null,
    debian: PYTHON_DEBIAN,
    advice: `The Python client is not tested: that needs ${HOW_TO_GET_PYTHON}.`,
    isOptional: true,
  },
  {
    isThere: () => PYTHONS.some((python) => runs(python, ['-c', 'import cbor2'])),
    debian: ['python3-cbor2'],
    advice:
      'Transactions are not read by a foreign CBOR library: that needs python3 with cbor2. ' +
      'On Debian or Ubuntu: sudo apt-get install python3-cbor2',
    isOptional: true,
  },
];

function runs(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

function install(packages: readonly string[]): void {
  if (process.getuid?.() !== 0 || !runs('apt-get', ['--version'])) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: string[]) =>
    spawnSync('apt-get', ['-q', ...args], { stdio: ['ignore', 'ignore', 'inherit'], env }).status;
  const get = () => apt('install', '-y', '--no-install-recommends', ...packages) === 0;
  // Lists that are fresh enough save the update.
  if (!get() && apt('update') === 0) get();
}

const missing = () => NEEDED.filter(({ isThere }) => !isThere());

const before = missing();
if (before.length > 0) install(before.flatMap(({ debian }) => debian));

for (const { advice, isOptional } of before.length === 0 ? [] : missing()) {
  console.error(advice);
  if (!isOptional) process.exitCode = 1;
}

const python = findPython();
if (process.argv.includes('frameworks') && python !== null) installFrameworks(python);
