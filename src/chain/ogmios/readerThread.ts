/** The thread that talks to the node, as the main thread sees it. */
import { Worker } from 'node:worker_threads';
import type { FromWorker, Request, WorkerOptions } from './messages.ts';

export interface ReaderThread {
  send(request: Request): void;
  /** Ends the thread at once; pending calls get no answer. */
  terminate(): void;
  /** Resolves when the thread has ended. */
  readonly exited: Promise<unknown>;
}

interface ReaderListener {
  take(message: FromWorker): void;
  /** An error ended it, or it exited; the first call says why. */
  ended(error: Error): void;
}

export type StartNodeReader = (options: WorkerOptions, listener: ReaderListener) => ReaderThread;

export const startReaderThread: StartNodeReader = (workerData, { take, ended }) => {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: 16 },
  });
  const { promise: exited, resolve } = Promise.withResolvers<void>();
  worker.on('message', take);
  worker.on('error', (error: unknown) => {
    ended(error instanceof Error ? error : new Error(String(error)));
  });
  worker.on('exit', (code) => {
    ended(new Error(`its thread ended, code ${code}`));
    resolve();
  });
  return {
    send: (request) => worker.postMessage(request),
    terminate: () => void worker.terminate(),
    exited,
  };
};
