/** The thread of the simulated traders. */
import { systemClock } from '../engine/runtime/clock.ts';
import { serveThread } from '../engine/runtime/thread.ts';
import { lowerPriority } from '../engine/runtime/threadPriority.ts';
import { Crowd } from './crowd.ts';
import type { CrowdCalls, Report, ThreadOptions } from './messages.ts';

await serveThread<ThreadOptions, CrowdCalls, Report>((options, report) => {
  lowerPriority();
  const crowd = new Crowd({ ...options, clock: systemClock, fetch, report });
  crowd.start();
  return { stop: () => crowd.stop() };
});
