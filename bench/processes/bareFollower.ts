/** The least that following takes: messages received, and each given to `JSON.parse`. */
import { WebSocket } from 'ws';
import { machineMs } from '../support/machineClock.ts';
import { offer, usageOffers } from '../support/offers.ts';

export type BareFollower = typeof offers;

/** As many requests ahead as our own follower sends. */
const IN_FLIGHT = 64;

const usage = usageOffers();

const offers = {
  /** Follows up to a height; the measurement begins at `fromHeight`. */
  async follow(range: {
    readonly url: string;
    readonly fromHeight: number;
    readonly toHeight: number;
  }): Promise<{ readonly seconds: number; readonly cpuUs: number }> {
    const socket = new WebSocket(range.url, { perMessageDeflate: false });
    const ask = (method: string, params?: object) =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
    await new Promise((resolve) => socket.once('open', resolve));
    ask('findIntersection', { points: ['origin'] });
    for (let at = 0; at < IN_FLIGHT; at += 1) ask('nextBlock');
    let startMs = 0;
    await new Promise<void>((resolve) => {
      socket.on('message', (data) => {
        const height = JSON.parse(String(data)).result.block?.height;
        ask('nextBlock');
        if (height === range.fromHeight) {
          startMs = machineMs();
          usage.begin();
        }
        if (height === range.toHeight) resolve();
      });
    });
    const seconds = (machineMs() - startMs) / 1000;
    const { cpuUs } = usage.end();
    socket.terminate();
    return { seconds, cpuUs };
  },
};

offer(offers);
