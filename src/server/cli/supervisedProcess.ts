/**
 * A child process that is restarted a second after it dies, until it is stopped. Its output is
 * passed on line by line.
 *
 * It has its own process group: Ctrl-C in a terminal then reaches only the parent, which stops its
 * children in order. A parent that is killed with SIGKILL leaves the child running.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Task } from '../../engine/runtime/task.ts';
import type { Environment } from '../settings/settings.ts';

export interface ProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Environment;
  /** After it a process that was asked to stop is killed. */
  readonly stopLimitMs: number;
  onLine(line: string): void;
  /** It ended unasked; true: start it again. */
  onExit(how: string): boolean;
}

const RESTART_AFTER_MS = 1_000;

type Child = ChildProcessByStdio<null, Readable, Readable>;

export class SupervisedProcess {
  readonly #options: ProcessOptions;
  readonly #clock: Clock;
  readonly #task: Task;
  #child: Child | null = null;

  constructor(options: ProcessOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.#task = new Task({ clock });
  }

  start(): void {
    this.#task.start(() => this.#restartUntilStopped());
  }

  /** Resolves when it has ended. */
  async stop(): Promise<void> {
    const ended = this.#task.stop();
    this.#child?.kill('SIGTERM');
    const timer = this.#clock.after(this.#options.stopLimitMs, () => this.#child?.kill('SIGKILL'));
    await ended;
    timer.cancel();
  }

  async #restartUntilStopped(): Promise<void> {
    do {
      const how = await this.#run();
      if (this.#task.isStopping || !this.#options.onExit(how)) return;
    } while (await this.#task.pause(RESTART_AFTER_MS));
  }

  /** Resolves with how the process ended, after all its output is passed on. */
  #run(): Promise<string> {
    const { command, args, environment, onLine: heard } = this.#options;
    const child = spawn(command, args, {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }).on('line', heard);
    }
    return new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, signal) => {
        resolve(signal === null ? `exit code ${code}` : `killed by ${signal}`);
      });
    });
  }
}
