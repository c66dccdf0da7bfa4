/** A thread of the load: its share of the sockets and of the requests. */
import type { Clock, Timer } from '../../../client/platform.ts';
import { systemPlatform } from '../../../client/platform.ts';
import { decoderOf } from '../../../client/socket/frame.ts';
import { serveThread } from '../../../engine/runtime/thread.ts';
import type { CountsPart } from './counts.ts';
import { HttpLoad, type Route } from './httpLoad.ts';
import { LoadSocket, type LoadSocketDeps } from './loadSocket.ts';
import { type SocketGroup, type Tokens, withTokens } from './scenario.ts';
import { ThreadCounts } from './threadCounts.ts';

/** The share of one thread. */
export interface Share extends Pick<LoadSocketDeps, 'url' | 'key' | 'staleMs' | 'skewMs'> {
  /** With the numbers of its sockets: which tokens each one follows. */
  readonly groups: readonly { readonly group: SocketGroup; readonly numbers: readonly number[] }[];
  readonly routes: readonly Route[];
  readonly tokens: Tokens;
  readonly rampMs: number;
  readonly seconds: number;
}

export interface LoadCalls {
  take(): CountsPart;
  stop(): Promise<void>;
}

/** How often sockets that are due are opened. */
const OPEN_EVERY_MS = 20;
const MS_PER_S = 1000;

await serveThread<Share, LoadCalls>(async (share) => {
  const counts = new ThreadCounts();
  const { clock, chance, fetch } = systemPlatform;
  const decode = { json: await decoderOf('json'), msgpack: await decoderOf('msgpack') };
  const { url, key, staleMs, skewMs, tokens, seconds } = share;
  const deps = { url, key, staleMs, skewMs, clock, chance, fetch, decode, counts };
  const groups = share.groups.map(({ group, numbers }) => ({
    group,
    sockets: numbers.map((number) => {
      // trust: a scenario is parsed YAML, which is JSON
      const topics = withTokens(group.topics as never, tokens, number);
      return new LoadSocket({ ...group, topics }, deps);
    }),
  }));
  const http = new HttpLoad();
  const timers = [
    openInTurn(
      groups.map(({ sockets }) => sockets),
      share.rampMs,
      clock,
    ),
    ...groups.flatMap(({ group, sockets }) => {
      const { reconnectEverySeconds: every } = group;
      if (every === undefined) return [];
      const cutAll = () => {
        for (const socket of sockets) socket.cut();
      };
      return [repeat(clock, every * MS_PER_S, cutAll)];
    }),
  ];
  if (share.routes.length > 0) {
    const start = () => http.start(share.routes, { url, key, seconds, tokens }, counts);
    timers.push(clock.after(share.rampMs, start));
  }
  return {
    take: () => counts.take(),
    stop: async () => {
      for (const timer of timers) timer.cancel();
      for (const { sockets } of groups) for (const socket of sockets) socket.close();
      await http.stop();
    },
  };
});

/** Sockets of all groups, mixed, evenly over the ramp. */
function openInTurn(
  groups: readonly (readonly LoadSocket[])[],
  rampMs: number,
  clock: Clock,
): Timer {
  const waiting = groups
    .flatMap((sockets) => sockets.map((socket, at) => ({ socket, at: at / sockets.length })))
    .sort((one, other) => one.at - other.at);
  const startMs = clock.monotonicMs();
  let next = 0;
  return repeat(clock, OPEN_EVERY_MS, () => {
    const passed = rampMs === 0 ? 1 : (clock.monotonicMs() - startMs) / rampMs;
    for (; next < waiting.length && next < passed * waiting.length; next += 1) {
      waiting[next]?.socket.open();
    }
  });
}

function repeat(clock: Clock, everyMs: number, run: () => void): Timer {
  let timer = clock.after(everyMs, again);
  function again(): void {
    run();
    timer = clock.after(everyMs, again);
  }
  return { cancel: () => timer.cancel() };
}
