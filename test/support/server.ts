/** The real program in a separate process, on a free port, with its own directory. */
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilReady } from './ready.ts';
import { until } from './until.ts';

const ROOT = join(import.meta.dirname, '../..');
const KEPT_LOG_LINES = 5_000;
/** Several may start at once, on a busy machine; a wait that ends in time costs nothing. */
const PATIENCE_MS = 60_000;

interface LogLine {
  readonly event: string;
  readonly [field: string]: unknown;
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Runs its `after` when the test has ended: a `TestContext`, or a simulation's own list. */
export interface Scope {
  after(run: () => void | Promise<void>): void;
}

export type Environment = Readonly<Record<string, string>>;

type Command = readonly [program: string, ...args: string[]];

/** As `npm start` does, without npm. */
const STRIPPED = ['--import', './pack/useStripped.mjs'];
/** As `npm start` does. */
const QUIETLY = '--disable-warning=ExperimentalWarning';
const DIRECTLY: Command = [process.execPath, QUIETLY, ...STRIPPED, 'src/server/main.ts'];

const temporary: string[] = [];

process.once('exit', () => {
  // A thread that a busy machine has not stopped in time may still write there.
  const removal = { recursive: true, force: true, maxRetries: 5 };
  for (const directory of temporary) rmSync(directory, removal);
});

/** An empty directory. Removed when the test process ends: what used it stops before that. */
export function temporaryDirectory(_scope?: Scope): string {
  const directory = mkdtempSync(join(tmpdir(), 'upcurve-'));
  temporary.push(directory);
  return directory;
}

/** Writes a feed beside the data; answers its path. */
export function feedFile(directory: string, name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

export class Program {
  readonly log: LogLine[] = [];
  /** Standard error, and the lines of standard output that are not log lines. */
  text = '';
  exit: Exit | null = null;
  readonly #child: ChildProcessWithoutNullStreams;
  #rest = '';

  /** `command` starts the program in another way than directly. */
  constructor(args: readonly string[], env: Environment, command = DIRECTLY) {
    // Without a chain unless a test asks for one.
    const quiet = { PORT: '0', NETWORK: 'none' };
    const environment = { PATH: process.env.PATH ?? '', ...quiet, ...env };
    const [program, ...before] = command;
    this.#child = spawn(program, [...before, ...args], {
      cwd: ROOT,
      env: environment,
    });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => this.#hear(text));
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.text += text;
    });
    this.#child.on('close', (code, signal) => {
      this.exit = { code, signal };
    });
    this.#child.stdin.on('error', () => {});
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  events(name: string): LogLine[] {
    return this.log.filter(({ event }) => event === name);
  }

  get stdin(): NodeJS.WritableStream {
    return this.#child.stdin;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async ended(limitMs = PATIENCE_MS): Promise<Exit> {
    await until(
      () => `the program ends; it said ${this.text}${JSON.stringify(this.log.slice(-5))}`,
      () => this.exit !== null,
      limitMs,
    );
    assert(this.exit !== null);
    return this.exit;
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended();
  }

  #hear(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('{')) {
        this.text += `${line}\n`;
        continue;
      }
      // trust: our own logger writes one object a line
      this.log.push(JSON.parse(line) as LogLine);
    }
    if (this.log.length > KEPT_LOG_LINES) this.log.splice(0, this.log.length - KEPT_LOG_LINES);
  }
}

/** Runs the program to its end. */
export async function runProgram(
  args: readonly string[],
  env: Environment,
  limitMs = PATIENCE_MS,
): Promise<{ exit: Exit; program: Program }> {
  const program = new Program(args, env);
  return { exit: await program.ended(limitMs), program };
}

export class Server {
  readonly program: Program;
  readonly port: number;

  constructor(program: Program, port: number) {
    this.program = program;
    this.port = port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, { headers });
  }

  /** The replay of the command line has come to its end. */
  async fed(limitMs = PATIENCE_MS): Promise<LogLine> {
    const { program } = this;
    const done = () => program.events('replayFinished').at(-1);
    await until('the feed is read', () => done() !== undefined || program.exit !== null, limitMs);
    const last = done();
    assert(last !== undefined, `the program ended: ${program.text}`);
    return last;
  }

  /** SIGTERM, and the orderly end. */
  async stop(): Promise<Exit> {
    this.program.signal('SIGTERM');
    return await this.program.ended();
  }
}

/**
 * Starts the program and waits until it can be asked, or, where it needs other servers, until it
 * listens; killed after the test where it still runs.
 */
export async function startServer(
  scope: Scope,
  args: readonly string[],
  env: Environment,
): Promise<Server> {
  const program = new Program(args, env);
  scope.after(() => program.kill());
  const listening = () => program.events('listening').find(({ what }) => what === 'market');
  await until(
    () => `the program listens; it said ${program.text}`,
    () => listening() !== undefined || program.exit !== null,
    PATIENCE_MS,
  );
  const found = listening();
  assert(found !== undefined, `the program ended: ${JSON.stringify(program.exit)} ${program.text}`);
  const server = new Server(program, Number(found.port));
  if (env.NATS_URL === undefined && env.OGMIOS_URL === undefined) await untilReady(server.url);
  return server;
}
