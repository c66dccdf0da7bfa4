/** Where the Python client can be tested: an interpreter that has all the packages it needs. */
import { spawnSync } from 'node:child_process';

/** Modules, and what Debian and Ubuntu call the package of each. */
const NEEDED: Readonly<Record<string, string>> = {
  aiohttp: 'python3-aiohttp',
  msgpack: 'python3-msgpack',
  nacl: 'python3-nacl',
  pandas: 'python3-pandas',
  pytest: 'python3-pytest',
  nbclient: 'python3-nbclient',
  ipykernel: 'python3-ipykernel',
  pip: 'python3-pip',
  setuptools: 'python3-setuptools',
  wheel: 'python3-wheel',
};

export const PYTHON_DEBIAN: readonly string[] = ['python3', ...Object.values(NEEDED)];
export const HOW_TO_GET_PYTHON =
  `python3 (3.10 or later) with the packages ${Object.keys(NEEDED).join(', ')}. ` +
  `On Debian or Ubuntu: sudo apt-get install ${PYTHON_DEBIAN.join(' ')}; elsewhere, in a virtual ` +
  "environment: pip install './clients/python[test]' setuptools wheel, and its python in PYTHON";

const CHECK = `
import sys
from importlib.util import find_spec
names = ${JSON.stringify(Object.keys(NEEDED))}
sys.exit(sys.version_info < (3, 10) or not all(map(find_spec, names)))
`;

/** `PYTHON`, or the one on the PATH, or the system's own; null if no candidate has all modules. */
export function findPython(): string | null {
  const { PYTHON } = process.env;
  const candidates = PYTHON === undefined ? ['python3', '/usr/bin/python3'] : [PYTHON];
  const isFit = (python: string) =>
    spawnSync(python, ['-c', CHECK], { stdio: 'ignore' }).status === 0;
  return candidates.find(isFit) ?? null;
}
