/**
 * The program: environment and command line in, exit code out. The only file that knows the
 * process; signals are handled here and nowhere else.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { isFault } from '../engine/runtime/assert.ts';
import { systemClock } from '../engine/runtime/clock.ts';
import { createLogger, type LoggerOptions } from '../engine/runtime/events.ts';
import { systemRng } from '../engine/runtime/rng.ts';
import { textLog } from '../engine/runtime/textLog.ts';
import { logFormatOf, type Shell, type Terminal } from './cli/command.ts';
import { parseCommand } from './cli/commands.ts';
import { ProcessOutput } from './cli/processOutput.ts';
import { keyFiles, NO_SECRETS } from './settings/keyFiles.ts';
import { BadSettings, type Environment, readSettings } from './settings/settings.ts';
import { isPublicNetwork, type Settings } from './settings/table.ts';
import type { AppDeps } from './wiring/appDeps.ts';

/**
 * `npm start` sets this option for the main thread, which exists already. It would override the
 * limits of other threads (`maxYoungGenerationSizeMb`).
 */
setFlagsFromString('--max-semi-space-size=0');

const FAILED = 1;
const MISUSED = 2;
/**
 * One Ctrl+C reaches this process twice, from the terminal and from npm, and must not cut the stop
 * short. A third signal ends a stop that takes too long.
 */
const IGNORED_SIGNALS = 2;

const call = parseCommand(process.argv.slice(2));

const stopsInOrder = typeof call === 'object' && call.stopsInOrder;

const output = new ProcessOutput(process.stdout, process.stderr);

const write = (text: string): void => output.write(text);

const { draw } = output;

const terminal: Terminal = {
  print: (text) => output.print(text),
  ...(draw === undefined ? {} : { draw }),
  ...(process.stdout.isTTY ? { greet: write } : {}),
  input: process.stdin,
  stopAsked: new Promise((resolve) => {
    let count = 0;
    const asked = (signal: string) => {
      count += 1;
      resolve(signal);
      if (count > IGNORED_SIGNALS && !stopsInOrder) process.exit(FAILED);
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, asked);
    if (!stopsInOrder) return;
    process.on('SIGHUP', asked);
    process.stdout.on('error', () => resolve('standard output is closed'));
  }),
};

const stopping = new AbortController();
terminal.stopAsked.then(() => stopping.abort());

const shell: Shell = {
  clock: systemClock,
  rng: systemRng,
  fetch,
  version: readVersion(),
  environment: process.env,
  directory: process.cwd(),
  program: [process.execPath, ...process.execArgv, fileURLToPath(import.meta.url)],
  input: process.stdin,
  output: process.stdout,
  terminal,
  signal: stopping.signal,
  write,
  say: (line) => write(`${line}\n`),
  complain: (line) => output.print(`${line}\n`),
  appDeps: worldFor,
};

process.exitCode = await run();

async function run(): Promise<number> {
  if (typeof call === 'string') return misuse(`${call}\nSee npm start -- help\n`);
  try {
    return await call.run(shell);
  } catch (error) {
    if (error instanceof BadSettings) return misuse(error.message);
    const isAsked = isFault(error, 'interrupted');
    const isRefused = isFault(error, 'startRefused', 'otherMarket');
    if (!isAsked) terminal.print(`upcurve cannot continue: ${explain(error)}\n`);
    // Started parts may still hold threads and connections open.
    process.exit(isAsked ? 0 : isRefused ? MISUSED : FAILED);
  }
}

/** Keys are read for the networks whose transactions cost money. */
function worldFor(overrides: Environment = {}): ReturnType<Shell['appDeps']> {
  const settings = readSettings({ ...process.env, ...overrides });
  if (settings instanceof BadSettings) throw settings;
  const hasKeys = isPublicNetwork(settings) && settings.ROLE !== 'reader';
  const secrets = hasKeys ? keyFiles(process.env) : NO_SECRETS;
  if (secrets instanceof BadSettings) throw secrets;
  const { clock, rng, version, signal } = shell;
  const logger = createLogger({ level: settings.LOG_LEVEL, clock, ...logTo(settings) });
  return { settings, secrets, clock, rng, logger, version, signal, ...reloading(settings) };
}

/** At a terminal, without a file to read again, the signal ends the process: it is closed. */
function reloading({ API_KEYS_FILE }: Settings): Pick<AppDeps, 'onReload'> {
  if (API_KEYS_FILE === undefined && process.stdin.isTTY) return {};
  const reloads: (() => void)[] = [];
  process.on('SIGHUP', () => {
    for (const reload of reloads) reload();
  });
  return { onReload: (reload) => void reloads.push(reload) };
}

/** A terminal's lines go through `output`, which takes a drawn bar away before them. */
function logTo(settings: Settings): Pick<LoggerOptions, 'destination'> {
  if (logFormatOf(settings, process.stdout) === 'text') return { destination: textLog(write) };
  return process.stdout.isTTY ? { destination: { write } } : {};
}

function misuse(message: string): number {
  terminal.print(message);
  return MISUSED;
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${explain(error.cause)}`;
}

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const found: unknown = JSON.parse(text);
  const named = typeof found === 'object' && found !== null && 'version' in found;
  return named ? String(found.version) : 'unknown';
}
