/** The market's API on a real port, over a log that follows a chain. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { createGateway } from '../../src/api/gateway/gateway.ts';
import type { GatewayOptions } from '../../src/api/gateway/options.ts';
import type { NodeView } from '../../src/api/gateway/port.ts';
import { createServer } from '../../src/api/gateway/server.ts';
import { Books } from '../../src/api/orders/book.ts';
import { createHub } from '../../src/api/topics/hub.ts';
import { DEFAULT_FEES } from '../../src/engine/market/fees.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { systemRng } from '../../src/engine/runtime/rng.ts';
import { marketRoutes, marketTopics } from '../../src/server/wiring/services.ts';
import { appendBlock, passTo, rollBackTo } from '../chain/foldChain.ts';
import { type Action, BlockMaker } from '../chain/foldMarket.ts';
import type { ModelPool } from '../chain/foldState.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { type Scope, temporaryDirectory } from '../support/server.ts';
import type { Frame } from '../support/subscription.ts';
import { until } from '../support/until.ts';
import { STATUS } from './docs/sample.ts';
import { silentObserver } from './silentObserver.ts';

export interface MarketApi {
  readonly world: FoldWorld;
  readonly maker: BlockMaker;
  readonly url: string;
  readonly port: number;
  readonly faults: unknown[];
  /** Frames that were rendered for all sockets of a channel at once, as text. */
  readonly published: string[];
  block(actions: readonly Action[], afterMs?: number): Promise<void>;
  back(blocks: number): Promise<void>;
  pass(forMs: number): Promise<void>;
  pool(index?: number): ModelPool;
  get(path: string, query: Record<string, string | number>): Promise<Response>;
  json(path: string, query: Record<string, string | number>): Promise<unknown>;
}

export async function openMarketApi(
  scope: Scope,
  options: Partial<GatewayOptions> = {},
): Promise<MarketApi> {
  const world = await FoldWorld.open(scope, join(temporaryDirectory(), 'data'));
  const maker = new BlockMaker();
  const { node } = world;
  const faults: unknown[] = [];
  const observer = {
    ...silentObserver,
    handlerFailed: (_where: string, error: unknown) => void faults.push(error),
  };
  const nodeView: NodeView = {
    applied: () => node.applied(),
    synced: () => node.synced(),
    tip: () => ({ slot: null, hash: null, lagMs: null }),
    onApplied: (listener) => node.onApplied(listener),
  };
  const clock = systemClock;
  const server = createServer(observer);
  const published: string[] = [];
  const publish: typeof server.publish = (channel, bytes, isBinary) => {
    published.push(Buffer.from(bytes).toString());
    server.publish(channel, bytes, isBinary);
  };
  const streams = createHub({ nodeView, clock, observer, publish });
  // The world keeps the tags of a batch; it notifies listeners right after it.
  node.onApplied(() => {
    const tags = [...world.said.tags];
    world.said.tags.clear();
    streams.applied(tags);
  });
  const books = new Books(node, DEFAULT_FEES);
  const gateway = createGateway({
    server,
    streams,
    routes: marketRoutes(node, books, null, clock, null),
    topics: marketTopics(node, books, STATUS),
    nodeView,
    clock,
    rng: systemRng,
    observer,
    options: { shutdownGraceMs: 5, stopMs: 100, ...options },
  });
  const port = await gateway.start('127.0.0.1', 0);
  assert(typeof port === 'number');
  scope.after(() => gateway.stop());
  const url = `http://127.0.0.1:${port}`;
  const get: MarketApi['get'] = (path, query) => {
    const text = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    return fetch(`${url}${path}?${text}`);
  };
  return {
    world,
    maker,
    url,
    port,
    faults,
    published,
    block: (actions, afterMs = 20_000) => appendBlock(world, maker.block(actions, afterMs)),
    back: (blocks) => rollBackTo(world, maker.back(blocks)),
    pass: (forMs) => passTo(world, world.fold.marketMs + forMs),
    pool(index = 0) {
      const pool = [...maker.state.pools.values()][index];
      assert(pool !== undefined, `pool ${index} was launched`);
      return pool;
    },
    get,
    async json(path, query) {
      const response = await get(path, query);
      const body = await response.text();
      assert.equal(response.status, 200, `${path}: ${body}`);
      return JSON.parse(body);
    },
  };
}

export const PONG = JSON.stringify({ messageType: 'pong', requestId: null });

/** One subscription on its own socket, with its frames in the order in which they arrived. */
export class Listener {
  readonly frames: Frame[] = [];
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (text: Buffer) => {
      const frame = JSON.parse(text.toString()) as Frame; // trust: compared field by field
      // Unanswered, pings end the socket: on a busy machine in the middle of a test.
      if (frame.event === 'Ping') socket.send(PONG);
      else this.frames.push(frame);
    });
  }

  /** Resolves once the subscription is answered. */
  static async open(
    scope: Scope,
    api: Pick<MarketApi, 'port'>,
    topic: string,
    data: object,
    more: object = {},
  ): Promise<Listener> {
    const socket = new WebSocket(`ws://127.0.0.1:${api.port}/ws`);
    scope.after(() => socket.terminate());
    const listener = new Listener(socket);
    await until('the socket opens', () => socket.readyState === WebSocket.OPEN);
    socket.send(JSON.stringify({ messageType: 'subscribe', requestId: 'r', topic, data, ...more }));
    await until('the subscription is answered', () => listener.frames.length > 0);
    return listener;
  }

  get last(): Frame | undefined {
    return this.frames.at(-1);
  }

  /** Data of the next `count` frames after the first `seen`. */
  async after(seen: number, count: number): Promise<unknown[]> {
    await until(
      () => `${count} frames after ${seen}: ${JSON.stringify(this.frames.slice(seen))}`,
      () => this.frames.length >= seen + count,
    );
    return this.frames.slice(seen).map(({ data }) => data);
  }

  close(): void {
    this.#socket.terminate();
  }
}
