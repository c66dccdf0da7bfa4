/** The thread that talks to the node, as the main thread sees it. */
import { type Caller, type StopLimit, Thread } from '../../engine/runtime/thread.ts';
import type { ReaderCalls, ReaderNews, WorkerOptions } from './messages.ts';

export interface ReaderThread extends Caller<ReaderCalls> {
  stop(limit: StopLimit): Promise<void>;
}

/** `onNews` and `onEnd` as in `ThreadOptions`. */
export type StartNodeReader = (
  options: WorkerOptions,
  listener: {
    readonly onNews: (news: ReaderNews) => void;
    readonly onEnd: (error: Error | null) => void;
  },
) => ReaderThread;

export const startReaderThread: StartNodeReader = (data, listener) => {
  return new Thread<ReaderCalls, ReaderNews>({
    script: new URL('./worker.ts', import.meta.url),
    data,
    name: 'the thread that follows the node',
    keepsAlive: true,
    ...listener,
  });
};
