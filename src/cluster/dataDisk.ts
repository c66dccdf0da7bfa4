/**
 * Whether the disk under DATA_DIR takes what is written. A write that was refused is reported here;
 * from then on a small file is written again and again, until the disk takes it.
 *
 * Never: more than one probe file, or one while nothing was refused.
 */
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../engine/runtime/clock.ts';
import type { Service } from '../engine/runtime/service.ts';
import { Task } from '../engine/runtime/task.ts';

const PROBE_BYTES = 256 * 1024;
const EVERY_MS = 2_000;

export class DataDisk implements Service {
  readonly name = 'disk';
  readonly #path: string;
  readonly #everyMs: number;
  readonly #probing: Task;
  #refusal: string | null = null;

  constructor(directory: string, clock: Clock, everyMs = EVERY_MS) {
    this.#path = join(directory, 'disk-probe');
    this.#probing = new Task({ clock });
    this.#everyMs = everyMs;
  }

  /** What was refused last; null: nothing, or the disk takes it again. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** A write to a file in the directory was refused. */
  refused(message: string): void {
    this.#refusal = message;
    this.#probing.wake();
  }

  start(): void {
    this.#probing.start(() => this.#run());
  }

  stop(): Promise<void> {
    return this.#probing.stop();
  }

  async #run(): Promise<void> {
    while (await this.#probing.untilWoken()) {
      while (this.#refusal !== null && (await this.#probing.pause(this.#everyMs))) {
        await this.#probe();
      }
    }
  }

  async #probe(): Promise<void> {
    try {
      const file = await open(this.#path, 'w');
      try {
        await file.writeFile(Buffer.alloc(PROBE_BYTES));
        await file.sync();
      } finally {
        await file.close();
      }
      this.#refusal = null;
    } catch (error) {
      this.refused(String(error));
    } finally {
      await rm(this.#path, { force: true }).catch(() => {});
    }
  }
}
