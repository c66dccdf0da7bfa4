/**
 * Writers of the state file. Serving nodes hand batches to a thread, so that a commit never holds
 * the loop; a rebuild writes inline, because it serves no requests.
 *
 * Guarantees: a batch is written whole or not at all; `write` rejects when it was not, and the rows
 * may be handed over again in another batch. One batch at a time. A copy is of what was committed
 * before it.
 */
import { Worker } from 'node:worker_threads';
import { type Batch, batchWriter, memoryOf } from './batch.ts';
import { openDatabase } from './database.ts';
import { boundWal, copyWithSums, isWalLong } from './pageSums.ts';

export interface StateWriter {
  /** Takes the memory of the batch. */
  write(batch: Batch): Promise<void>;
  /** Of the file, page by page, with its sums. Rejects when the disk refuses: part may be there. */
  copy(to: string): Promise<void>;
  close(): Promise<void>;
}

/** `threadWriter` or `inlineWriter`; a simulation hands in a slow or a failing one. */
export type OpenWriter = (options: WriterOptions) => StateWriter;

export interface WriterOptions {
  readonly file: string;
  readonly maxMb: number;
}

/** Questions to the thread: to write a batch, to copy the file, or null to close. */
export type WriterQuestion = Batch | { readonly copyTo: string } | null;

/** Its answer: what went wrong, or null. */
export type WriterReply = { readonly message: string; readonly code: string } | null;

/** Commits after which what is in the write-ahead log is moved into the file. */
const COMMITS_PER_CHECKPOINT = 16;
/** A commit changes pages all over the file: what does not fit is written more than once. */
const CACHE_MB = 64;

export function inlineWriter({ file, maxMb }: WriterOptions): StateWriter {
  const database = openDatabase(file, { synchronous: 'NORMAL', maxMb, cacheMb: CACHE_MB });
  const write = batchWriter(database);
  let commits = 0;
  /** Pages of a copy that is being made must not change. */
  let copied: Promise<unknown> = Promise.resolve();
  return {
    async write(batch) {
      await copied;
      // Before the batch: where it fails, nothing of the batch is written, so it may come again.
      if (commits >= COMMITS_PER_CHECKPOINT || isWalLong(file)) {
        boundWal(database);
        commits = 0;
      }
      write(batch);
      commits += 1;
    },
    async copy(to) {
      await copied;
      const copying = copyWithSums(database, to);
      // Its caller learns of a failure.
      copied = copying.catch(() => null);
      await copying;
    },
    async close() {
      await copied;
      database.close();
    },
  };
}

/** A thread that died is replaced at the next batch: what it had in hand was rejected. */
export function threadWriter(options: WriterOptions): StateWriter {
  let thread: WriterThread | null = null;
  let closed = false;
  const living = () => {
    if (closed) throw writeError('the state file is closed', 'WRITER_CLOSED');
    thread = thread === null || thread.isDead ? new WriterThread(options) : thread;
    return thread;
  };
  return {
    async write(batch) {
      await living().ask(batch, memoryOf(batch));
    },
    async copy(copyTo) {
      await living().ask({ copyTo });
    },
    async close() {
      if (closed) return;
      closed = true;
      await thread?.end();
    },
  };
}

/** It keeps nothing: more room for young objects costs memory and saves nothing. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 16 };

class WriterThread {
  isDead = false;
  readonly #worker: Worker;
  /** The thread answers in order. */
  readonly #waiting: ((reply: WriterReply) => void)[] = [];

  constructor(options: WriterOptions) {
    const script = new URL('./writerThread.ts', import.meta.url);
    this.#worker = new Worker(script, { workerData: options, resourceLimits: RESOURCE_LIMITS });
    // The thread keeps the process alive only while it has something to write.
    this.#worker.unref();
    this.#worker.on('message', (reply: WriterReply) => {
      if (this.#waiting.length === 1) this.#worker.unref();
      this.#waiting.shift()?.(reply);
    });
    this.#worker.on('error', (error) => this.#died(String(error)));
    this.#worker.on('exit', (code) => this.#died(`the state's thread ended with code ${code}`));
  }

  #died(message: string): void {
    this.isDead = true;
    for (const answer of this.#waiting.splice(0)) answer({ message, code: 'WRITER_DIED' });
  }

  ask(message: WriterQuestion, given: readonly ArrayBuffer[] = []): Promise<void> {
    if (this.isDead) return Promise.reject(writeError('the writer ended', 'WRITER_DIED'));
    return new Promise((resolve, reject) => {
      this.#waiting.push((reply) => {
        if (reply === null) resolve();
        else reject(writeError(reply.message, reply.code));
      });
      this.#worker.ref();
      this.#worker.postMessage(message, given);
    });
  }

  async end(): Promise<void> {
    if (!this.isDead) await this.ask(null);
    await this.#worker.terminate();
  }
}

/** What SQLite said in the thread, with its code (`SQLITE_FULL`). */
function writeError(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
