/** The thread of a `OgmiosClient`. */
import { systemClock } from '../../engine/runtime/clock.ts';
import { serveThread } from '../../engine/runtime/thread.ts';
import type { OgmiosCalls, OgmiosNews, WorkerOptions } from './messages.ts';
import { OgmiosClient } from './ogmiosClient.ts';

await serveThread<WorkerOptions, OgmiosCalls, OgmiosNews>((options, report) => {
  const client = new OgmiosClient(options, { clock: systemClock, report });
  // It may be stopped before it has reached the node. An error ends the thread.
  void client.start();
  return client.calls;
});
