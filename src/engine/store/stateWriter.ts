/**
 * Writers of the state file. Serving nodes hand batches to a thread, so that a commit never holds
 * the loop; a rebuild writes inline, because it serves no requests.
 *
 * Guarantees: a batch is written whole or not at all; `write` rejects when it was not, and the rows
 * may be handed over again in another batch. One batch at a time. A copy contains every commit
 * before it.
 */
import { RestartedThread } from '../runtime/thread.ts';
import { type Batch, batchWriter, memoryOf } from './batch.ts';
import { openDatabase } from './database.ts';
import { boundWal, copyWithChecksums, isWalLong } from './pageChecksums.ts';

export interface StateWriter {
  /** Takes the memory of the batch. */
  write(batch: Batch): Promise<void>;
  /**
   * Copies the file, page by page, with its sums. Rejects when the disk refuses: part may be there.
   */
  copy(to: string): Promise<void>;
  close(): Promise<void>;
}

/** `threadWriter` or `inlineWriter`; a simulation hands in a slow or a failing one. */
export type OpenWriter = (options: WriterOptions) => StateWriter;

export interface WriterOptions {
  readonly file: string;
  readonly maxMb: number;
}

export interface WriterCalls extends Pick<StateWriter, 'write' | 'copy'> {
  stop(): Promise<void>;
}

/** Commits after which the write-ahead log is moved into the file. */
const COMMITS_PER_CHECKPOINT = 16;
/** A commit changes pages all over the file: pages that do not fit are written more than once. */
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
      // Before the batch: if it fails, no row of the batch is written, so the batch may come again.
      if (commits >= COMMITS_PER_CHECKPOINT || isWalLong(file)) {
        boundWal(database);
        commits = 0;
      }
      write(batch);
      commits += 1;
    },
    async copy(to) {
      await copied;
      const copying = copyWithChecksums(database, to);
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

/** A thread that died is replaced at the next batch: its unfinished call was rejected. */
export function threadWriter(data: WriterOptions): StateWriter {
  const script = new URL('./writerThread.ts', import.meta.url);
  const thread = new RestartedThread<WriterCalls>({ script, data, name: "the state's thread" });
  return {
    write: (batch) => thread.call('write', [batch], memoryOf(batch)),
    copy: (to) => thread.call('copy', [to]),
    close: () => thread.stop(),
  };
}
