/**
 * A nats-server for a look: from the PATH, on a free port of this machine, with config/nats.conf.
 *
 * Never: lets two servers work on one directory. One that an earlier run left behind is named.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../config/settings.ts';
import type { Clock } from '../runtime/clock.ts';
import { Failure } from '../runtime/errors.ts';
import { KeptProcess } from './keptProcess.ts';

export interface LocalNats {
  readonly url: string;
  /** `giveUp` when it cannot run at all. */
  begin(giveUp: (why: string) => void): void;
  stop(): Promise<void>;
}

export interface NatsPlace {
  readonly environment: Environment;
  readonly clock: Clock;
  say(line: string): void;
}

const COMMAND = 'nats-server';
const CONFIG = fileURLToPath(new URL('../../config/nats.conf', import.meta.url));
const STOP_LIMIT_MS = 5_000;
/** It says much that is not about a look. */
const WORTH_SAYING = /\[(WRN|ERR|FTL)\]|^nats-server:/;

const INSTALL = [
  `${COMMAND} (2.9 or later) is not on the PATH. Install it:`,
  `  Debian, Ubuntu   sudo apt-get install ${COMMAND}`,
  `  macOS            brew install ${COMMAND}`,
  '  elsewhere        https://nats.io/download',
].join('\n');

export async function localNats(
  directory: string,
  { environment, clock, say }: NatsPlace,
): Promise<LocalNats | Failure> {
  const within = { ...environment, PATH: searchPath(environment) };
  if (spawnSync(COMMAND, ['--version'], { env: within }).status !== 0) {
    return new Failure('NOT_READY', INSTALL);
  }
  mkdirSync(directory, { recursive: true });
  const pidFile = join(directory, 'nats.pid');
  const left = leftBehind(pidFile, directory, environment);
  if (left !== null) {
    const advice = `stop it first: kill ${left}`;
    return new Failure('NOT_READY', `an earlier ${COMMAND} still runs on ${directory}; ${advice}`);
  }
  const [port = 0] = await freePorts(1);
  const args = ['-c', CONFIG, '-a', '127.0.0.1', '-p', String(port)];
  let giveUp: (why: string) => void = () => {};
  const startMs = clock.monotonicMs();
  const process = new KeptProcess(
    {
      name: COMMAND,
      command: COMMAND,
      args: [...args, '-sd', directory, '-P', pidFile],
      environment: within,
      stopLimitMs: STOP_LIMIT_MS,
      heard(line) {
        if (WORTH_SAYING.test(line)) say(`nats   | ${line}`);
      },
      died(how) {
        const isUsable = clock.monotonicMs() - startMs > STOP_LIMIT_MS;
        if (isUsable) say(`cluster: ${COMMAND} has died (${how}); it is started again in a second`);
        else giveUp(`${COMMAND} did not start (${how})`);
        return isUsable;
      },
    },
    clock,
  );
  return {
    url: `nats://127.0.0.1:${port}`,
    begin(why) {
      giveUp = why;
      process.start();
    },
    stop: () => process.stop(),
  };
}

/** Ports of this machine that were free a moment ago, each another one. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  const ports = servers.map(async (server) => {
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
  const found = await Promise.all(ports);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return found;
}

/** Debian puts it where only root looks. */
function searchPath({ PATH }: Environment): string {
  return [PATH ?? '', '/usr/local/sbin', '/usr/sbin'].filter((part) => part !== '').join(':');
}

/** Process id of a server that works on `directory`, or null. */
function leftBehind(pidFile: string, directory: string, env: Environment): string | null {
  const pid = textOf(pidFile).trim();
  if (!/^\d+$/.test(pid)) return null;
  const options = { env, encoding: 'utf8' } as const;
  // Where there is no `ps` nothing is known.
  const shown = spawnSync('ps', ['-o', 'args=', '-p', pid], options).stdout ?? '';
  return shown.includes(COMMAND) && shown.includes(directory) ? pid : null;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Not there: the first run.
    return '';
  }
}
