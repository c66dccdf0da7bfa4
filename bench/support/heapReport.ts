/** Loaded into a program before it starts: it answers messages with the size of its heap. */
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.on('message', () => {
    globalThis.gc?.();
    process.send?.(process.memoryUsage().heapUsed);
  });
  // Being asked keeps no program alive.
  process.channel?.unref();
}
