/**
 * A process that is kept running: what it says is passed on line by line, and when it dies it is
 * started again after a second, until it is stopped.
 *
 * It has a process group of its own, so that Ctrl-C in a terminal reaches it through us only, and
 * in our order. A parent that is killed hard leaves it behind.
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
  /** Past it a process that was asked to stop is killed. */
  readonly stopLimitMs: number;
  heard(line: string): void;
  /** It ended, and nobody asked for it; true: start it again. */
  died(how: string): boolean;
}

const AGAIN_MS = 1_000;

type Child = ChildProcessByStdio<null, Readable, Readable>;

export class SupervisedProcess {
  readonly #plan: ProcessOptions;
  readonly #clock: Clock;
  readonly #task: Task;
  #child: Child | null = null;

  constructor(plan: ProcessOptions, clock: Clock) {
    this.#plan = plan;
    this.#clock = clock;
    this.#task = new Task({ clock });
  }

  start(): void {
    this.#task.start(() => this.#keep());
  }

  /** Resolves when it has ended. */
  async stop(): Promise<void> {
    const ended = this.#task.stop();
    this.#child?.kill('SIGTERM');
    const timer = this.#clock.after(this.#plan.stopLimitMs, () => this.#child?.kill('SIGKILL'));
    await ended;
    timer.cancel();
  }

  async #keep(): Promise<void> {
    do {
      const how = await this.#run();
      if (this.#task.isStopping || !this.#plan.died(how)) return;
    } while (await this.#task.pause(AGAIN_MS));
  }

  /** Resolves with how it ended, and once all that it said is passed on. */
  #run(): Promise<string> {
    const { command, args, environment, heard } = this.#plan;
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
