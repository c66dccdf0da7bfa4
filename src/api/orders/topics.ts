/**
 * Orders, live: of a token, of a key, of both; and the book of open ones. The fold remembers the
 * changes after a position, so any node answers `since` with exactly these.
 */
import { hash } from 'node:crypto';
import { keyAddressProblem, parseAddress } from '../../cardano/codec/address.ts';
import { ordersOfTag, ordersTag, poolTag } from '../../engine/fold/streamTags.ts';
import { invalid } from '../../engine/runtime/errors.ts';
import { type Topic, topic } from '../topics/port.ts';
import type { Books } from './book.ts';
import { BookSource, SentBooks } from './bookSource.ts';
import { OrderSource } from './changes.ts';
import type { OrderNode } from './orderLookup.ts';
import {
  HistoryByAssetInput,
  HistoryInput,
  OrderBookInput,
  OrderBookOutput,
  OrderChanges,
  OrderFeedInput,
  OrdersRevised,
} from './schema.ts';

const CADENCE_MS = 5;
const BOOK_CADENCE_MS = 200;
/** Settings shared by the topics that send changes of a list of orders. */
const CHANGING = {
  otherEvents: { OrdersRevised },
  cadenceMs: CADENCE_MS,
  update: OrderChanges,
} as const;

export function orderTopics(node: OrderNode, books: Books): Topic[] {
  return [feedTopic(node), historyTopic(node), historyByAssetTopic(node), bookTopic(node, books)];
}

function feedTopic(node: OrderNode): Topic {
  const summary = 'Orders of a token: every change of status, those of the mempool included.';
  const name = 'LiveOrdersFeed';
  return topic({
    ...CHANGING,
    name,
    summary,
    data: OrderFeedInput,
    open({ asset, pkhFilter, pkhs }) {
      const token = asset.toLowerCase();
      const keys = [...new Set((pkhFilter ?? pkhs ?? []).map((key) => key.toLowerCase()))].sort();
      const filter = { token, pkhs: keys.length === 0 ? null : keys };
      // A thousand keys would make a long name.
      const of = filter.pkhs === null ? 'all' : hash('sha256', keys.join(','), 'hex');
      return new OrderSource(node, filter, ordersTag(token), name, `${name}:${token}:${of}`);
    },
  });
}

function historyTopic(node: OrderNode): Topic {
  const name = 'UserHistoryByAddress';
  return topic({
    ...CHANGING,
    name,
    summary: "Orders of an address' payment key, over all tokens.",
    data: HistoryInput,
    open({ address }) {
      const pkh = keyOf(address);
      if (pkh === null) return invalid('data.address', keyAddressProblem(address, null));
      const filter = { token: null, pkhs: [pkh] };
      return new OrderSource(node, filter, ordersOfTag(pkh), name, `${name}:${pkh}`);
    },
  });
}

function historyByAssetTopic(node: OrderNode): Topic {
  const name = 'UserHistoryByAddressAndAsset';
  return topic({
    ...CHANGING,
    name,
    summary: "Orders of an address' payment key for one token.",
    data: HistoryByAssetInput,
    open({ address, asset }) {
      const [pkh, token] = [keyOf(address), asset.toLowerCase()];
      if (pkh === null) return invalid('data.address', keyAddressProblem(address, null));
      const filter = { token, pkhs: [pkh] };
      return new OrderSource(node, filter, ordersOfTag(pkh), name, `${name}:${pkh}:${token}`);
    },
  });
}

function bookTopic(node: OrderNode, books: Books): Topic {
  const sent = new SentBooks();
  return topic({
    name: 'OrderBook',
    summary:
      'Amounts that the pool of a token trades on a grid of prices, at most 100 levels a side, ' +
      'and the open orders beside them. Whole each time, or a whole book and then changes.',
    cadenceMs: BOOK_CADENCE_MS,
    data: OrderBookInput,
    update: OrderBookOutput,
    open({ asset, digits = 3, mode = 'snapshot' }) {
      const token = asset.toLowerCase();
      const tags = [ordersTag(token), poolTag(token)];
      return new BookSource(node, { books, sent }, { token, digits, mode }, tags);
    },
  });
}

function keyOf(address: string): string | null {
  const parsed = parseAddress(address);
  return parsed?.payment.kind === 'key' && !parsed.pointer ? parsed.payment.hash : null;
}
