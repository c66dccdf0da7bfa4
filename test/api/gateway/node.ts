/** A gateway on a free port over the tiny market, and what tests need to talk to it. */
import assert from 'node:assert/strict';
import { ApiKeys } from '../../../src/api/gateway/apiKeys.ts';
import { createGateway, type Gateway } from '../../../src/api/gateway/gateway.ts';
import type { Observer } from '../../../src/api/gateway/observer.ts';
import type { GatewayOptions } from '../../../src/api/gateway/options.ts';
import type { Route } from '../../../src/api/gateway/port.ts';
import { createServer } from '../../../src/api/gateway/server.ts';
import { createHub } from '../../../src/api/topics/hub.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import type { HandClock } from '../../support/handClock.ts';
import { silentObserver } from '../silentObserver.ts';
import { Market } from './market.ts';

export interface TestNode {
  readonly market: Market;
  readonly gateway: Gateway;
  readonly port: number;
  readonly url: string;
  readonly faults: unknown[];
  readonly closes: number[];
  /** Sockets open, as a gauge would say. */
  readonly sockets: { open: number };
  readonly resyncs: string[];
  /** Buffered bytes of each socket that fell behind. */
  readonly behind: number[];
}

/** Ends soon, but not before clients that a busy machine delays. */
const QUICK = { shutdownGraceMs: 20, stopMs: 100, silenceMs: 600_000, behindMs: 600_000 };

export async function startNode(
  test: { after(run: () => Promise<void>): void },
  more: {
    options?: Partial<GatewayOptions>;
    routes?: readonly Route[];
    clock?: HandClock;
    apiKeys?: ApiKeys;
  } = {},
): Promise<TestNode> {
  const market = new Market();
  const faults: unknown[] = [];
  const closes: number[] = [];
  const resyncs: string[] = [];
  const behind: number[] = [];
  const sockets = { open: 0 };
  const observer: Observer = {
    ...silentObserver,
    handlerFailed: (_where, error) => void faults.push(error),
    socketOpened: () => {
      sockets.open += 1;
    },
    socketClosed: (code) => {
      sockets.open -= 1;
      closes.push(code);
    },
    resync: (reason) => void resyncs.push(reason),
    socketBehind: (bytes) => void behind.push(bytes),
  };
  const server = createServer(observer);
  const clock = more.clock ?? systemClock;
  const streams = createHub({ nodeView: market, clock, observer, publish: server.publish });
  market.hub = streams;
  const gateway = createGateway({
    server,
    streams,
    routes: more.routes ?? [],
    topics: market.topics(),
    nodeView: market,
    clock,
    rng: systemRng,
    observer,
    apiKeys: more.apiKeys ?? new ApiKeys(),
    options: { ...QUICK, ...more.options },
  });
  const port = await gateway.start('127.0.0.1', 0);
  assert(typeof port === 'number');
  test.after(() => {
    more.clock?.letGo();
    return gateway.stop();
  });
  const url = `http://127.0.0.1:${port}`;
  return { market, gateway, port, url, faults, closes, sockets, resyncs, behind };
}
