/**
 * Whether the disk under DATA_DIR accepts writes. After a refused write it writes a small file
 * every few seconds, until the disk accepts that.
 *
 * Never: writes more than one probe file, or one while no write was refused.
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
  readonly #task: Task;
  #refusal: string | null = null;

  constructor(directory: string, clock: Clock, everyMs = EVERY_MS) {
    this.#path = join(directory, 'disk-probe');
    this.#task = new Task({ clock });
    this.#everyMs = everyMs;
  }

  /** Why the last write was refused; null: the disk accepts writes. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** Report a refused write to a file in the directory. */
  refused(message: string): void {
    this.#refusal = message;
    this.#task.wake();
  }

  start(): void {
    this.#task.start(() => this.#run());
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async #run(): Promise<void> {
    while (await this.#task.untilWoken()) {
      while (this.#refusal !== null && (await this.#task.pause(this.#everyMs))) {
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
