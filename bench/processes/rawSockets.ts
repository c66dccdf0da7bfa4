/**
 * The library alone: every socket subscribed to one topic, and frames given beforehand published
 * to it at the pace of our flush scheduler.
 */
import { App, us_socket_local_port } from 'uWebSockets.js';
import { offer, usageOffers } from '../support/offers.ts';

export type RawSockets = typeof offers;

const CADENCE_MS = 5;
const LARGEST_SHARE = 0.75;

const app = App();
let frames: readonly Uint8Array[] = [];
let flushing = false;

app.ws('/*', {
  maxBackpressure: 1_048_576,
  open: (socket) => {
    socket.subscribe('all');
  },
});

/** As src/api/topics/flush.ts: no sooner than the cadence, at most three quarters of the loop. */
function flush(): void {
  if (!flushing) return;
  const startMs = performance.now();
  for (const frame of frames) app.publish('all', frame, false);
  setImmediate(() => {
    const nowMs = performance.now();
    const dueMs = startMs + Math.max(CADENCE_MS, (nowMs - startMs) / LARGEST_SHARE);
    if (dueMs <= nowMs) setImmediate(flush);
    else setTimeout(flush, dueMs - nowMs);
  });
}

const offers = {
  ...usageOffers(),
  port: () => port,
  feed(options: { readonly frames: readonly Uint8Array[] }): void {
    frames = options.frames;
    flushing = true;
    flush();
  },
  rest(): void {
    flushing = false;
  },
};

const port = await new Promise<number>((resolve, reject) => {
  app.listen('127.0.0.1', 0, (socket) => {
    if (socket === false) reject(new Error('cannot listen'));
    else resolve(us_socket_local_port(socket));
  });
});

offer(offers);
