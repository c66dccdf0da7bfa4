/** The thread of `thread.ts`: one devnet, until it is stopped. */
import { systemClock } from '../engine/runtime/clock.ts';
import { serveThread } from '../engine/runtime/thread.ts';
import { Devnet } from './devnet.ts';
import type { DevnetCalls, DevnetThreadOptions, Stalled } from './thread.ts';

await serveThread<DevnetThreadOptions, DevnetCalls, Stalled>(async (options, report) => {
  const stalled = (message: string | null) => report({ message });
  const devnet = await Devnet.open({ ...options, clock: systemClock, stalled });
  return {
    urls: () => {
      // After the answer, because it takes a while.
      systemClock.soon(() => devnet.warmUp());
      const { ogmiosUrl, kupoUrl, devnetUrl, liveSinceMs } = devnet;
      return { ogmiosUrl, kupoUrl, devnetUrl, liveSinceMs };
    },
    stop: () => devnet.stop(),
  };
});
