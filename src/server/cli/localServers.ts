/**
 * A nats-server for a look: from the PATH, on a free port of this machine, with config/nats.conf.
 *
 * Never: lets two servers work on one directory. One that an earlier run left behind is named.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, sleepUnless } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Environment } from '../settings/settings.ts';
import { SupervisedProcess } from './supervisedProcess.ts';

export interface LocalNats {
  readonly url: string;
  /** Resolves once it listens; false, and `giveUp`, when it cannot run at all. */
  begin(giveUp: (why: string) => void): Promise<boolean>;
  stop(): Promise<void>;
}

export interface LocalNatsDeps {
  readonly environment: Environment;
  readonly clock: Clock;
  say(line: string): void;
}

const COMMAND = 'nats-server';
const PID_FILE = 'nats.pid';
const CONFIG = fileURLToPath(new URL('../../../config/nats.conf', import.meta.url));
const STOP_LIMIT_MS = 5_000;
const LOOK_EVERY_MS = 50;
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
  { environment, clock, say }: LocalNatsDeps,
  command = COMMAND,
): Promise<LocalNats | Failure> {
  const within = { ...environment, PATH: searchPath(environment) };
  if (spawnSync(command, ['--version'], { env: within }).status !== 0) {
    return new Failure('NOT_READY', INSTALL);
  }
  mkdirSync(directory, { recursive: true });
  const left = runningNats(directory, environment);
  if (left !== null) {
    const advice = `stop it first: kill ${left}`;
    return new Failure('NOT_READY', `an earlier ${COMMAND} still runs on ${directory}; ${advice}`);
  }
  const [port = 0] = await freePorts(1);
  const args = ['-c', CONFIG, '-a', '127.0.0.1', '-p', String(port)];
  let giveUp: (why: string) => void = () => {};
  let hasListened = false;
  const process = new SupervisedProcess(
    {
      command,
      args: [...args, '-sd', directory, '-P', join(directory, PID_FILE)],
      environment: within,
      stopLimitMs: STOP_LIMIT_MS,
      heard(line) {
        if (WORTH_SAYING.test(line)) say(`nats   | ${line}`);
      },
      died(how) {
        if (hasListened)
          say(`cluster: ${COMMAND} has died (${how}); it is started again in a second`);
        else giveUp(`${COMMAND} did not start (${how})`);
        return hasListened;
      },
    },
    clock,
  );
  return {
    url: `nats://127.0.0.1:${port}`,
    async begin(why) {
      const isLost = Promise.withResolvers<void>();
      giveUp = (reason) => {
        isLost.resolve();
        why(reason);
      };
      process.start();
      hasListened = await untilListens(port, clock, isLost.promise);
      return hasListened;
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

async function untilListens(port: number, clock: Clock, lost: Promise<void>): Promise<boolean> {
  const isLost = lost.then(() => 'lost' as const);
  for (;;) {
    const outcome = await Promise.race([greets(port), isLost]);
    if (outcome === 'lost') return false;
    if (outcome) return true;
    await sleepUnless(clock, LOOK_EVERY_MS, lost);
  }
}

/** A server that is ready to serve speaks first. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    const end = (yes: boolean) => {
      socket.destroy();
      resolve(yes);
    };
    socket.once('data', () => end(true));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
  });
}

/** Debian puts it where only root looks. */
function searchPath({ PATH }: Environment): string {
  return [PATH ?? '', '/usr/local/sbin', '/usr/sbin'].filter((part) => part !== '').join(':');
}

/** Process id of a server that works on `directory`, or null. */
export function runningNats(directory: string, env: Environment): string | null {
  const pid = textOf(join(directory, PID_FILE)).trim();
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
