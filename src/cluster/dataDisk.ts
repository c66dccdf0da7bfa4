/**
 * Whether the disk under DATA_DIR takes what is written. A write that was refused is reported here;
 * from then on a small file is written again and again, until the disk takes it.
 *
 * Never: more than one probe file, or one while nothing was refused.
 */
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Timer } from '../engine/runtime/clock.ts';
import type { Service } from '../engine/runtime/service.ts';

const PROBE_BYTES = 256 * 1024;
const EVERY_MS = 2_000;

export class DataDisk implements Service {
  readonly name = 'disk';
  readonly #path: string;
  readonly #clock: Clock;
  readonly #everyMs: number;
  #refusal: string | null = null;
  #timer: Timer | null = null;
  #probing: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(directory: string, clock: Clock, everyMs = EVERY_MS) {
    this.#path = join(directory, 'disk-probe');
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** What was refused last; null: nothing, or the disk takes it again. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** A write to a file in the directory was refused. */
  refused(message: string): void {
    this.#refusal = message;
    this.#plan();
  }

  start(): void {}

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#probing;
  }

  #plan(): void {
    if (this.#stopped) return;
    this.#timer?.cancel();
    this.#timer = this.#clock.after(this.#everyMs, () => {
      this.#probing = this.#probing.then(() => this.#probe());
    });
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
