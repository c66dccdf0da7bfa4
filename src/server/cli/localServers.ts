/**
 * The servers that `cluster` starts beside its nodes, for a trial on one machine: a nats-server
 * from the PATH with config/nats.conf, and a devnet. Each is a process on free ports.
 *
 * Never: lets two nats-servers use one directory. An error names a server that an earlier run left.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, sleepUnless } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { Environment } from '../settings/settings.ts';
import { type ProcessOptions, SupervisedProcess } from './supervisedProcess.ts';

interface LocalServer {
  /** Resolves when it serves; false, after `giveUp`, if it cannot run at all. */
  start(giveUp: (why: string) => void): Promise<boolean>;
  stop(): Promise<void>;
}

export interface LocalNats extends LocalServer {
  readonly url: string;
}

export interface LocalChain {
  readonly ogmiosUrl: string;
  readonly kupoUrl: string;
}

interface LocalDevnet extends LocalServer {
  readonly chain: LocalChain;
}

interface LocalNatsDeps {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly rng: Rng;
  say(line: string): void;
}

interface LocalDevnetDeps extends LocalNatsDeps {
  /** How this program is started: Node, its options, the main file. */
  readonly program: readonly [command: string, ...args: string[]];
  readonly fetch: typeof fetch;
}

const COMMAND = 'nats-server';
const PID_FILE = 'nats.pid';
const CONFIG = fileURLToPath(new URL('../../../config/nats.conf', import.meta.url));
const HOST = '127.0.0.1';
/** Below the ports that systems give to outgoing connections. */
const [FIRST_PORT, PORTS] = [15_000, 17_000];
const MAX_TRIED_PORTS = 1_000;
const NATS_STOP_LIMIT_MS = 5_000;
const DEVNET_STOP_LIMIT_MS = 7_000;
const POLL_EVERY_MS = 50;
const HEALTH_LIMIT_MS = 2_000;
/** nats-server also logs its normal operation. */
const PROBLEM = /\[(WRN|ERR|FTL)\]|^nats-server:/;

const INSTALL = [
  `${COMMAND} (2.9 or later) is not on the PATH. Install it:`,
  `  Debian, Ubuntu   sudo apt-get install ${COMMAND}`,
  `  macOS            brew install ${COMMAND}`,
  '  elsewhere        https://nats.io/download',
].join('\n');

/** The server is not started yet. */
export async function localNats(
  directory: string,
  { environment, clock, rng, say }: LocalNatsDeps,
  command = COMMAND,
): Promise<LocalNats | Failure> {
  const withPath = { ...environment, PATH: searchPath(environment) };
  if (spawnSync(command, ['--version'], { env: withPath }).status !== 0) {
    return new Failure('NOT_READY', INSTALL);
  }
  mkdirSync(directory, { recursive: true });
  const running = runningNats(directory, environment);
  if (running !== null) {
    const advice = `stop it first: kill ${running}`;
    return new Failure('NOT_READY', `an earlier ${COMMAND} still runs on ${directory}; ${advice}`);
  }
  const [port = 0] = await freePorts(1, rng);
  const args = ['-c', CONFIG, '-a', HOST, '-p', String(port)];
  const options = {
    name: COMMAND,
    command,
    args: [...args, '-sd', directory, '-P', join(directory, PID_FILE)],
    environment: withPath,
    stopLimitMs: NATS_STOP_LIMIT_MS,
    onLine(line: string) {
      if (PROBLEM.test(line)) say(`nats   | ${line}`);
    },
  };
  return {
    url: `nats://${HOST}:${port}`,
    ...serverOf(options, () => sendsGreeting(port), clock, say),
  };
}

/** The devnet that the nodes of `cluster` follow. It is not started yet. */
export async function localDevnet(
  { directory, keysFile }: { readonly directory: string; readonly keysFile: string },
  { program: [command, ...args], environment, clock, rng, fetch: ask, say }: LocalDevnetDeps,
): Promise<LocalDevnet> {
  const [ogmiosPort = 0, kupoPort = 0] = await freePorts(2, rng);
  const ports = ['--ogmios-port', String(ogmiosPort), '--kupo-port', String(kupoPort)];
  const DATA_DIR = join(directory, 'devnet');
  const options = {
    name: 'the devnet',
    command,
    args: [...args, 'devnet', '--launchpad', ...ports],
    environment: { ...environment, HOST, DATA_DIR, KEYS_FILE: keysFile },
    stopLimitMs: DEVNET_STOP_LIMIT_MS,
    onLine: (line: string) => say(`devnet | ${line}`),
  };
  const kupoUrl = `http://${HOST}:${kupoPort}`;
  return {
    chain: { ogmiosUrl: `ws://${HOST}:${ogmiosPort}`, kupoUrl },
    ...serverOf(options, () => answers(`${kupoUrl}/health`, ask), clock, say),
  };
}

/** A process that is restarted when it dies after it has served once. */
function serverOf(
  { name, ...options }: Omit<ProcessOptions, 'onExit'> & { readonly name: string },
  isServing: () => Promise<boolean>,
  clock: Clock,
  say: (line: string) => void,
): LocalServer {
  const failed = Promise.withResolvers<void>();
  let giveUp: (why: string) => void = () => {};
  let hasServed = false;
  const died = (how: string) => {
    if (hasServed) say(`cluster: ${name} has died (${how}); it is started again in a second`);
    else {
      failed.resolve();
      giveUp(`${name} did not start (${how})`);
    }
    return hasServed;
  };
  const process = new SupervisedProcess({ ...options, onExit: died }, clock);
  return {
    async start(why) {
      giveUp = why;
      process.start();
      hasServed = await pollUntil(isServing, clock, failed.promise);
      return hasServed;
    },
    stop: () => process.stop(),
  };
}

/** false: `failed` resolved first. */
async function pollUntil(
  isServing: () => Promise<boolean>,
  clock: Clock,
  failed: Promise<void>,
): Promise<boolean> {
  const hasFailed = failed.then(() => 'failed' as const);
  for (;;) {
    const outcome = await Promise.race([isServing(), hasFailed]);
    if (outcome === 'failed') return false;
    if (outcome) return true;
    await sleepUnless(clock, POLL_EVERY_MS, failed);
  }
}

/**
 * Different free ports of this machine. The system gives none of them to an outgoing connection, so
 * they stay free until their servers listen, and while one of these is away.
 */
export async function freePorts(count: number, rng: Rng): Promise<readonly number[]> {
  const found = new Set<number>();
  for (let tried = 0; found.size < count; tried += 1) {
    if (tried === MAX_TRIED_PORTS) {
      throw new Error(
        `of ${tried} ports from ${FIRST_PORT} on too few are free: stop some servers`,
      );
    }
    const port = FIRST_PORT + Math.floor(rng.unit() * PORTS);
    if (await isFree(port)) found.add(port);
  }
  return [...found];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    // It is in use, or may not be used: another one is tried.
    server.once('error', () => resolve(false));
    server.listen(port, HOST, () => server.close(() => resolve(true)));
  });
}

/** A nats-server that is ready sends the first message. */
function sendsGreeting(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: HOST });
    const end = (isReady: boolean) => {
      socket.destroy();
      resolve(isReady);
    };
    socket.once('data', () => end(true));
    // It does not listen yet.
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
  });
}

async function answers(url: string, ask: typeof fetch): Promise<boolean> {
  try {
    return (await ask(url, { signal: AbortSignal.timeout(HEALTH_LIMIT_MS) })).ok;
  } catch {
    // It does not listen yet.
    return false;
  }
}

/** Debian installs nats-server where only root's PATH leads. */
function searchPath({ PATH }: Environment): string {
  return [PATH ?? '', '/usr/local/sbin', '/usr/sbin'].filter((part) => part !== '').join(':');
}

/** Process id of a nats-server that uses `directory`; null: none does. */
export function runningNats(directory: string, env: Environment): string | null {
  const pid = textOf(join(directory, PID_FILE)).trim();
  if (!/^\d+$/.test(pid)) return null;
  const options = { env, encoding: 'utf8' } as const;
  // Without a `ps` we cannot know.
  const shown = spawnSync('ps', ['-o', 'args=', '-p', pid], options).stdout ?? '';
  return shown.includes(COMMAND) && shown.includes(directory) ? pid : null;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The first run: there is no such file yet.
    return '';
  }
}
