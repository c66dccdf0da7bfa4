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
import { type Clock, sleepUnless } from '../../engine/runtime/clock.ts';
import type { Environment } from '../settings/settings.ts';

export interface ProcessPlan {
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

export class KeptProcess {
  readonly #plan: ProcessPlan;
  readonly #clock: Clock;
  readonly #stopAsked = Promise.withResolvers<void>();
  #stopping = false;
  #child: Child | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(plan: ProcessPlan, clock: Clock) {
    this.#plan = plan;
    this.#clock = clock;
  }

  start(): void {
    this.#running = this.#keep();
  }

  /** Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#stopAsked.resolve();
    this.#child?.kill('SIGTERM');
    const timer = this.#clock.after(this.#plan.stopLimitMs, () => this.#child?.kill('SIGKILL'));
    await this.#running;
    timer.cancel();
  }

  async #keep(): Promise<void> {
    while (!this.#stopping) {
      const how = await this.#run();
      if (this.#stopping || !this.#plan.died(how)) return;
      await sleepUnless(this.#clock, AGAIN_MS, this.#stopAsked.promise);
    }
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
