/**
 * The Python frameworks that the client has adapters for, and a generator of clients, in a folder
 * of their own: the client itself is tested with Debian's packages, and these bring newer ones.
 * Debian packages none of these frameworks.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Modules, and what pip calls the package of each. */
const FRAMEWORKS = {
  ccxt: 'ccxt==4.5.90',
  nautilus_trader: 'nautilus_trader==1.221.0',
  openapi_python_client: 'openapi-python-client==0.29.1',
  standardwebhooks: 'standardwebhooks==1.1.0',
} as const;
export type Framework = keyof typeof FRAMEWORKS;

const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/upcurve-frameworks');

export const pythonPathOf = (client: string) => [join(client, 'src'), FOLDER].join(':');

export const howToGet = (framework: Framework) =>
  `its package: python3 -m pip install --target ${FOLDER} ${FRAMEWORKS[framework]}`;

export function hasFramework(python: string, framework: Framework): boolean {
  const env = { ...process.env, PYTHONPATH: FOLDER };
  const args = ['-c', `import ${framework}`];
  return spawnSync(python, args, { env, stdio: 'ignore', timeout: 60_000 }).status === 0;
}

/** Installs the missing frameworks; where no registry answers none, and their tests say so. */
export function installFrameworks(python: string): void {
  // trust: the keys of this very object
  for (const framework of Object.keys(FRAMEWORKS) as Framework[]) {
    if (hasFramework(python, framework)) continue;
    const quiet = ['-q', '--disable-pip-version-check', '--no-compile', '--no-input'];
    const where = ['--retries', '1', '--timeout', '20', '--target', FOLDER];
    const args = ['-m', 'pip', 'install', ...quiet, ...where, FRAMEWORKS[framework]];
    const { status } = spawnSync(python, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    if (status === 0) continue;
    console.error(`Not tested without ${framework}: that needs ${howToGet(framework)}`);
  }
}
