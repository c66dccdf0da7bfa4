/**
 * The program: environment and command line in, exit code out. The only file that knows the
 * process; signals are handled here and nowhere else.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { isFault } from '../engine/runtime/assert.ts';
import { systemClock } from '../engine/runtime/clock.ts';
import { createLogger, type LoggerOptions } from '../engine/runtime/events.ts';
import { systemRng } from '../engine/runtime/rng.ts';
import { textLog } from '../engine/runtime/textLog.ts';
import type { World } from './app.ts';
import {
  type BookCommand,
  type ClusterCommand,
  type Command,
  type DeployCommand,
  type DevnetCommand,
  parseCommand,
  type RefundCommand,
  type ServeCommand,
  type TextCommand,
  type WatchCommand,
} from './cli/commands.ts';
import { completionScript } from './cli/completion.ts';
import type { ConformCommand } from './cli/conform/command.ts';
import type { ExportCommand } from './cli/dump/command.ts';
import { helpOf, USAGE } from './cli/help.ts';
import type { LoadCommand } from './cli/load/command.ts';
import type { NodeCommandDeps } from './cli/nodeAccess.ts';
import { ProcessOutput } from './cli/processOutput.ts';
import type { RotateCommand } from './cli/rotateArguments.ts';
import type { Terminal } from './cli/serve.ts';
import type { McpCommand, WalletCommand } from './cli/walletArguments.ts';
import { runWalletCommand } from './cli/walletCommands.ts';
import { settingsHelp } from './settings/help.ts';
import { KEYS_HELP, keyFiles, NO_SECRETS } from './settings/keyFiles.ts';
import { BadSettings, readSettings } from './settings/settings.ts';
import { isPublicNetwork, type Settings } from './settings/table.ts';

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

const command = parseCommand(process.argv.slice(2));

const isCluster = typeof command === 'object' && command.name === 'cluster';

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
      if (count > IGNORED_SIGNALS && !isCluster) process.exit(FAILED);
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, asked);
  }),
};

const say = (line: string): void => {
  write(`${line}\n`);
};

process.exitCode = await run(command);

async function run(command: Command | string): Promise<number> {
  if (typeof command === 'string') return misuse(`${command}\nSee npm start -- help\n`);
  if (command.name === 'help' || command.name === 'version' || command.name === 'completion') {
    process.stdout.write(textOf(command));
    return 0;
  }
  if (command.name === 'wallet command') return walletCommand(command);
  if (command.name === 'mcp') return mcp(command);
  if (command.name === 'watch' || command.name === 'book') return watch(command);
  if (command.name === 'export') return exportDump(command);
  if (command.name === 'load') return load(command);
  if (command.name === 'conform') return conform(command);
  if (command.name === 'deploy check') return deployCheck(command.file);
  const settings = settingsFor(command);
  if (settings instanceof BadSettings) return misuse(settings.message);
  const hasKeys = isPublicNetwork(settings) && settings.ROLE !== 'reader';
  const secrets = hasKeys ? keyFiles(process.env) : NO_SECRETS;
  if (secrets instanceof BadSettings) return misuse(secrets.message);
  const clock = systemClock;
  const logger = createLogger({ level: settings.LOG_LEVEL, clock, ...logTo(settings) });
  const stopping = new AbortController();
  terminal.stopAsked.then(() => stopping.abort());
  const { signal } = stopping;
  const given = { settings, secrets, clock, rng: systemRng, logger };
  const world: World = { signal, ...given, version: readVersion(), ...reloading(settings) };
  try {
    if (command.name === 'cluster') return await cluster(command, settings);
    if (command.name === 'deploy' || command.name === 'refund' || command.name === 'rotate') {
      return await onChain(command, { ...given, signal, say, terminal });
    }
    if (command.name === 'reset') {
      const { runReset } = await import('./cli/reset.ts');
      return await runReset({ settings, environment: process.env, clock, signal, say });
    }
    if (command.name === 'devnet') return await devnet(command, world);
    // Loaded when needed: most commands do without most of the program.
    if (command.name === 'verify') {
      const { verify } = await import('./cli/verify.ts');
      return await verify(world, terminal);
    }
    const { importDump, replay, serve } = await import('./cli/serve.ts');
    if (command.name === 'replay') return await replay(command, world, terminal);
    if (command.name === 'import') return await importDump(command, world, terminal);
    // A new command that nothing above runs must not start a server: it does not compile.
    command satisfies ServeCommand;
    return await serve(world, terminal);
  } catch (error) {
    const isAsked = isFault(error, 'interrupted');
    const isRefused = isFault(error, 'startRefused', 'otherMarket');
    if (!isAsked) terminal.print(`upcurve cannot continue: ${explain(error)}\n`);
    // Started parts may still hold threads and connections open.
    process.exit(isAsked ? 0 : isRefused ? MISUSED : FAILED);
  }
}

function textOf(command: TextCommand): string {
  if (command.name === 'version') return `${readVersion()}\n`;
  if (command.name === 'completion') return completionScript(command.shell, process.cwd());
  if (command.of !== null) return helpOf(command.of);
  return `${USAGE}\n${settingsHelp()}\n${KEYS_HELP}`;
}

async function devnet(command: DevnetCommand, { settings, version }: World): Promise<number> {
  const { runDevnet } = await import('./cli/devnet.ts');
  const { launchpadFromSettings } = await import('./wiring/devnet.ts');
  const { DATA_DIR: dataDirectory, BLOCK_EVERY_MS: blockEveryMs, HOST: host } = settings;
  const { stopAsked } = terminal;
  const launchpad = () => launchpadFromSettings(settings, systemRng);
  const place = { dataDirectory, blockEveryMs, host, version, stopAsked, say, launchpad };
  return await runDevnet(command, { ...place, clock: systemClock, rng: systemRng });
}

async function deployCheck(file: string): Promise<number> {
  const { checkDeployment } = await import('./cli/deploy.ts');
  try {
    return await checkDeployment(file, say);
  } catch (error) {
    terminal.print(`upcurve cannot continue: ${explain(error)}\n`);
    return FAILED;
  }
}

/** Wallet commands need no setting of a server. */
function walletCommand(command: WalletCommand): Promise<number> {
  const { stdin, stdout } = process;
  const confirm = stdin.isTTY && stdout.isTTY ? askYesOrNo : null;
  return runWalletCommand(command, { ...clientDeps(), confirm });
}

/** True for `y` or `yes`; false for any other answer and for the end of the input. */
async function askYesOrNo(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await new Promise((resolve) => {
      lines.once('close', () => resolve(false));
      lines.question(`${question} [y/N] `, (answer) => resolve(/^y(es)?$/i.test(answer.trim())));
    });
  } finally {
    lines.close();
  }
}

async function mcp(command: McpCommand): Promise<number> {
  const { runMcp } = await import('./cli/mcp.ts');
  const { stdin: input, stdout: output } = process;
  return runMcp(command, { ...clientDeps(), input, output, version: readVersion() });
}

async function exportDump(command: ExportCommand): Promise<number> {
  const { runExport } = await import('./cli/dump/export.ts');
  return runExport(command, { ...clientDeps(), terminal });
}

async function load(command: LoadCommand): Promise<number> {
  const { runLoad } = await import('./cli/load/run.ts');
  return runLoad(command, { ...clientDeps(), write, isTerminal: process.stdout.isTTY === true });
}

async function conform(command: ConformCommand): Promise<number> {
  const { runConform } = await import('./cli/conform/run.ts');
  return runConform(command, clientDeps());
}

function clientDeps() {
  const stopping = new AbortController();
  terminal.stopAsked.then(() => stopping.abort());
  const complain = (line: string) => terminal.print(`${line}\n`);
  return { clock: systemClock, fetch, signal: stopping.signal, say, complain };
}

async function watch(command: WatchCommand | BookCommand): Promise<number> {
  const { stdout } = process;
  const gone = new Promise((resolve) => stdout.on('error', resolve));
  const { runWatch } = await import('./cli/watch.ts');
  return runWatch(command, {
    clock: systemClock,
    write: (text) => {
      stdout.write(text);
    },
    complain: (line) => terminal.print(`${line}\n`),
    size: () => (stdout.isTTY ? { columns: stdout.columns, rows: stdout.rows } : null),
    isColoured: stdout.isTTY && !process.env.NO_COLOR,
    stopAsked: Promise.race([terminal.stopAsked, gone, quitPressed()]),
  });
}

const CTRL_C = '\x03';

/** `q` or Ctrl+C on a terminal, which hands over each key as it is pressed. */
function quitPressed(): Promise<unknown> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) return new Promise(() => {});
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  const pressed = new Promise((resolve) => {
    stdin.on('data', (key: string) => {
      if (key === 'q' || key === 'Q' || key === CTRL_C) resolve(key);
    });
  });
  // Input that is read keeps the process alive.
  stdin.unref();
  process.on('exit', () => stdin.setRawMode(false));
  return pressed;
}

/** Its processes always stop in order: a second signal must not prevent that. */
async function cluster(command: ClusterCommand, settings: Settings): Promise<number> {
  const stopAsked = new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, resolve);
    process.stdout.on('error', resolve);
  });
  const { runCluster } = await import('./cli/cluster.ts');
  return runCluster(command, {
    settings,
    // Its nodes write to a pipe, whose lines this process passes on.
    environment: { ...environmentFor(command), LOG_FORMAT: logFormat(settings) },
    program: [process.execPath, ...process.execArgv, fileURLToPath(import.meta.url)],
    clock: systemClock,
    rng: systemRng,
    fetch,
    stopAsked,
    say,
  });
}

/** A command that works on a chain without a server. */
async function onChain(
  command: DeployCommand | RefundCommand | RotateCommand,
  deps: NodeCommandDeps,
): Promise<number> {
  if (command.name === 'deploy') {
    const { runDeploy } = await import('./cli/deploy.ts');
    return runDeploy(command, deps);
  }
  if (command.name === 'refund') {
    const { runRefund } = await import('./cli/refund.ts');
    return runRefund(command, deps);
  }
  const { runRotate } = await import('./cli/rotate.ts');
  return runRotate(command, deps);
}

/** At a terminal, without a file to read again, the signal ends the process: it is closed. */
function reloading({ API_KEYS_FILE }: Settings): Pick<World, 'onReload'> {
  if (API_KEYS_FILE === undefined && process.stdin.isTTY) return {};
  const readers: (() => void)[] = [];
  process.on('SIGHUP', () => {
    for (const read of readers) read();
  });
  return { onReload: (read) => void readers.push(read) };
}

/** A terminal's lines go through `output`, which takes a drawn bar away before them. */
function logTo(settings: Settings): Pick<LoggerOptions, 'destination'> {
  if (logFormat(settings) === 'text') return { destination: textLog(write) };
  return process.stdout.isTTY ? { destination: { write } } : {};
}

function logFormat({ LOG_FORMAT }: Settings): 'json' | 'text' {
  if (LOG_FORMAT !== 'auto') return LOG_FORMAT;
  return process.stdout.isTTY ? 'text' : 'json';
}

/** Options of the command line override the environment. */
function environmentFor(command: Command) {
  const pace = 'tradersPace' in command ? command.tradersPace : null;
  const from = command.name === 'serve' ? command.from : null;
  return {
    ...process.env,
    ...(pace === null ? {} : { TRADERS_PACE: String(pace) }),
    ...(from === null ? {} : { START_POINT: from }),
    ...('network' in command ? { NETWORK: command.network } : {}),
  };
}

function settingsFor(command: Command) {
  return readSettings(environmentFor(command));
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
