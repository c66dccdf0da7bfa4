/** Order and trade routes and topics of a node, asked without a port. */

import assert from 'node:assert/strict';
import { Books } from '../../../src/api/orders/book.ts';
import { orderFeedRoutes } from '../../../src/api/orders/routes.ts';
import { orderTopics } from '../../../src/api/orders/topics.ts';
import { SlicedReads } from '../../../src/api/schemas/slicedReads.ts';
import type { Source } from '../../../src/api/topics/port.ts';
import { tradeRoutes } from '../../../src/api/trades/routes.ts';
import { tradeTopics } from '../../../src/api/trades/topics.ts';
import { formatAddress } from '../../../src/cardano/codec/address.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import type { Node } from '../../../src/engine/node/node.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { askRoute } from '../../support/askRoute.ts';
import { openSource } from '../topics/openSource.ts';

export type Asked = Readonly<Record<string, string | number>>;

export interface Offer {
  /** null: refused. */
  ask(path: string, query: Asked, body?: unknown): unknown;
  open(topic: string, data: unknown): Source;
}

export const FEED = '/v1/orders-feed/initial/state';
export const HISTORY = '/v1/user-history-feed/initial/state';

/** Kept as long as the node runs, caches with it. */
export function offerOf(node: Node): Offer {
  const routes = [...orderFeedRoutes(node, new SlicedReads(node)), ...tradeRoutes(node)];
  const topics = [...orderTopics(node, new Books(node, DEFAULT_FEES)), ...tradeTopics(node)];
  return {
    ask(path, query, body) {
      const route = routes.find((each) => each.path === path);
      assert(route !== undefined, path);
      const answer = askRoute(route, query, body);
      assert(!(answer instanceof Promise), path);
      if (answer instanceof Failure) return null;
      return JSON.parse(Buffer.from(answer.body).toString());
    },
    open: (name, data) =>
      openSource(
        topics.find((each) => each.name === name),
        data,
      ),
  };
}

export function keyAddress(hash: string): string {
  const payment = { kind: 'key', hash } as const;
  return formatAddress({ network: 'testnet', payment, stake: null, pointer: false });
}
