/**
 * Processes of a bench, each on a separate core if `taskset` exists: the server on the first core,
 * the client or receiver on the second. A process that needs every core runs on `any`.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Offers, Question, Reply } from './offers.ts';

export type Core = 'server' | 'client' | 'any';

const CORES: Readonly<Record<Exclude<Core, 'any'>, string>> = { server: '0', client: '1' };
/** Ticks a second of the CPU times in /proc/<pid>/stat on Linux. */
const TICKS_PER_SECOND = 100;
const DIRECTORY = join(import.meta.dirname, '../processes');

export const pinned = cpus().length > 1 && isOnPath('taskset');

export function isOnPath(program: string): boolean {
  return spawnSync('which', [program]).status === 0;
}

/** A command line that runs on its core. */
export function onCore(core: Core, command: readonly string[]): [string, string[]] {
  const isFree = core === 'any' || !pinned;
  const all = isFree ? command : ['taskset', '-c', CORES[core], ...command];
  const [program = '', ...args] = all;
  return [program, args];
}

/** Microseconds that all threads of a process took so far. */
export function cpuUsOf(pid: number | string | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  return ((user + system) / TICKS_PER_SECOND) * 1e6;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(reason: Error): void;
}

export interface How {
  /** Options of Node. */
  readonly options?: readonly string[];
}

/** The flags that `npm start` gives to Node. */
export const AS_STARTED = [
  '--max-semi-space-size=8',
  '--import',
  join(import.meta.dirname, '../../pack/useStripped.mjs'),
];

/**
 * The outside of a process that `offer`s; `Offered` is the type of the functions that it offers.
 */
export class Process<Offered extends Offers> {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ready: Promise<void>;
  #asked = 0;

  private constructor(file: string, core: Core, args: readonly string[], how: How) {
    const options = [...profiling(file), ...(how.options ?? []), '--expose-gc'];
    const command = [process.execPath, ...options, join(DIRECTORY, file), ...args];
    const [program, all] = onCore(core, command);
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
    this.#child = spawn(program, all, { stdio: [...stdio], serialization: 'advanced' });
    this.#ready = new Promise((resolve, reject) => this.#waiting.set(0, { resolve, reject }));
    // trust: `offer` sends nothing else
    this.#child.on('message', (message) => this.#hear(message as Reply));
    this.#child.on('error', (error) => this.#fail(error));
    this.#child.on('exit', (code) => this.#fail(new Error(`${file} ended with code ${code}`)));
  }

  static async start<Offered extends Offers>(
    file: string,
    core: Core,
    args: readonly string[] = [],
    how: How = {},
  ) {
    const started = new Process<Offered>(file, core, args, how);
    await started.#ready;
    return started;
  }

  /** CPU of all its threads so far. */
  cpuUs(): number {
    return cpuUsOf(this.#child.pid);
  }

  ask<Name extends keyof Offered & string>(
    name: Name,
    ...[input]: Parameters<Offered[Name]>
  ): Promise<Awaited<ReturnType<Offered[Name]>>> {
    this.#asked += 1;
    const question: Question = { number: this.#asked, name, input };
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(question.number, { resolve, reject });
    });
    this.#child.send(question);
    // trust: the other side runs the function of this name and sends its result
    return answer as Promise<Awaited<ReturnType<Offered[Name]>>>;
  }

  async end(): Promise<void> {
    const over = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#child.exitCode !== null) return;
    this.#child.disconnect();
    await over;
  }

  #hear(reply: Reply): void {
    const number = reply.kind === 'ready' ? 0 : reply.number;
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (reply.kind === 'failure') waiting?.reject(new Error(reply.reason));
    else waiting?.resolve(reply.kind === 'answer' ? reply.value : undefined);
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/** `BENCH_PROFILE=market.ts npm run bench fanOut` leaves CPU profiles of that process there. */
function profiling(file: string): string[] {
  if (process.env.BENCH_PROFILE !== file) return [];
  return ['--cpu-prof', `--cpu-prof-dir=${join(tmpdir(), 'upcurve-profiles')}`];
}
