/**
 * Before the tests: what they need that npm does not bring. A nats-server that is on the PATH is
 * taken as it is; otherwise Debian's, where apt may install it; otherwise it says what to do.
 */
import { spawnSync } from 'node:child_process';

const NATS_PACKAGE = 'nats-server';

function runs(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

function install(): boolean {
  if (process.getuid?.() !== 0 || !runs('apt-get', ['--version'])) return false;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: string[]) =>
    spawnSync('apt-get', ['-q', ...args], { stdio: ['ignore', 'ignore', 'inherit'], env }).status;
  // Lists that are fresh enough save the update.
  const found = apt('install', '-y', '--no-install-recommends', NATS_PACKAGE) === 0;
  return (
    found ||
    (apt('update') === 0 && apt('install', '-y', '--no-install-recommends', NATS_PACKAGE) === 0)
  );
}

const isThere = () => runs('nats-server', ['--version']);

if (!isThere() && !(install() && isThere())) {
  console.error(
    'The tests need nats-server (2.9 or later) on the PATH. On Debian or Ubuntu: ' +
      `sudo apt-get install ${NATS_PACKAGE}; elsewhere: https://nats.io/download`,
  );
  process.exitCode = 1;
}
