/** The thread of a `NodeReader`. */
import { systemClock } from '../../engine/runtime/clock.ts';
import { serveThread } from '../../engine/runtime/thread.ts';
import type { ReaderCalls, ReaderNews, WorkerOptions } from './messages.ts';
import { NodeReader } from './nodeReader.ts';

await serveThread<WorkerOptions, ReaderCalls, ReaderNews>((options, report) => {
  const reader = new NodeReader(options, { clock: systemClock, report });
  // It may be stopped before it has reached the node. An error ends the thread.
  void reader.start();
  return reader.calls;
});
