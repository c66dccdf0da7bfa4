/**
 * Who writes the state file. Serving nodes hand batches to a thread, so that a commit never holds
 * the loop; a rebuild, which serves nobody, writes inline.
 *
 * Guarantees: a batch is written whole or not at all; `write` rejects when it was not, and the same
 * batch may be handed over again. One batch at a time.
 */
import { Worker } from 'node:worker_threads';
import { type Batch, batchWriter } from './batch.ts';
import { openDatabase } from './database.ts';

export interface StateWriter {
  write(batch: Batch): Promise<void>;
  close(): Promise<void>;
}

export interface WriterOptions {
  readonly file: string;
  readonly maxMb: number;
}

/** Messages to the thread: a batch, or null to close. */
export type WriterMessage = Batch | null;

/** Its answer: what went wrong, or null. */
export type WriterReply = { readonly message: string; readonly code: string } | null;

/** Commits after which what is in the write-ahead log is moved into the file. */
export const COMMITS_PER_CHECKPOINT = 16;

export function inlineWriter({ file, maxMb }: WriterOptions): StateWriter {
  const database = openDatabase(file, { synchronous: 'NORMAL', maxMb });
  const write = batchWriter(database);
  let commits = 0;
  return {
    async write(batch) {
      write(batch);
      commits += 1;
      if (commits % COMMITS_PER_CHECKPOINT === 0) database.pragma('wal_checkpoint(PASSIVE)');
    },
    async close() {
      database.close();
    },
  };
}

export function threadWriter(options: WriterOptions): StateWriter {
  const worker = new Worker(new URL('./writerThread.ts', import.meta.url), { workerData: options });
  worker.unref();
  let settle: (reply: WriterReply) => void = () => {};
  let death: StateWriteError | null = null;
  worker.on('message', (reply: WriterReply) => settle(reply));
  worker.on('error', (error) => {
    death = new StateWriteError(String(error), 'WRITER_DIED');
    settle(death);
  });
  const ask = (message: WriterMessage) =>
    new Promise<void>((resolve, reject) => {
      if (death !== null) throw death;
      // The thread keeps the process alive only while it has something to write.
      worker.ref();
      settle = (reply) => {
        worker.unref();
        if (reply === null) resolve();
        else reject(new StateWriteError(reply.message, reply.code));
      };
      worker.postMessage(message);
    });
  return {
    write: (batch) => ask(batch),
    async close() {
      if (death === null) await ask(null);
      await worker.terminate();
    },
  };
}

/** What SQLite said in the thread, with its code (`SQLITE_FULL`). */
export class StateWriteError extends Error {
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}
