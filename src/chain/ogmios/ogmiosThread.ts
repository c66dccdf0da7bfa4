/** The thread that talks to the node, as the main thread sees it. */
import { type Caller, type StopLimit, Thread } from '../../engine/runtime/thread.ts';
import type { OgmiosCalls, OgmiosNews, WorkerOptions } from './messages.ts';

export interface OgmiosThread extends Caller<OgmiosCalls> {
  stop(limit: StopLimit): Promise<void>;
}

/** `onNews` and `onEnd` as in `ThreadOptions`. */
export type StartOgmiosThread = (
  options: WorkerOptions,
  listener: {
    readonly onNews: (news: OgmiosNews) => void;
    readonly onEnd: (error: Error | null) => void;
  },
) => OgmiosThread;

export const startOgmiosThread: StartOgmiosThread = (data, listener) => {
  return new Thread<OgmiosCalls, OgmiosNews>({
    script: new URL('./worker.ts', import.meta.url),
    data,
    name: 'the thread that follows the node',
    keepsAlive: true,
    ...listener,
  });
};
