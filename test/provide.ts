/**
 * Before the tests: what they need that npm does not bring. A program that is on the PATH is taken
 * as it is; otherwise Debian's, where apt may install it; otherwise it says what to do.
 */
import { spawnSync } from 'node:child_process';

interface Needed {
  readonly program: string;
  /** Of Debian and Ubuntu. */
  readonly debian: string;
  readonly what: string;
  readonly elsewhere: string;
}

const NEEDED: readonly Needed[] = [
  {
    program: 'nats-server',
    debian: 'nats-server',
    what: 'nats-server (2.9 or later)',
    elsewhere: 'https://nats.io/download',
  },
  {
    program: 'chromium',
    debian: 'chromium',
    what: 'Chromium, under the name chromium,',
    elsewhere: 'https://www.chromium.org/getting-involved/download-chromium',
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

const missing = () => NEEDED.filter(({ program }) => !runs(program, ['--version']));

const before = missing();
if (before.length > 0) install(before.map(({ debian }) => debian));

for (const { what, debian, elsewhere } of before.length === 0 ? [] : missing()) {
  console.error(
    `The tests need ${what} on the PATH. On Debian or Ubuntu: ` +
      `sudo apt-get install ${debian}; elsewhere: ${elsewhere}`,
  );
  process.exitCode = 1;
}
